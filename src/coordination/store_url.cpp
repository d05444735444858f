// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/store_url.hpp>

namespace evenkeel::inline v0::coordination {
namespace {

std::shared_ptr<Store> open_etcd(std::string_view url, const StoreUrlOptions& options) {
  EtcdStoreOptions etcd = etcd_options(url);
  etcd.tls = options.tls;
  if (options.timeout) etcd.request_timeout = *options.timeout;
  return std::make_shared<EtcdStore>(std::move(etcd));
}

}  // namespace

std::shared_ptr<Store> open_store(std::string_view url, const StoreUrlOptions& options) {
  if (url.starts_with("etcd://") || url.starts_with("etcds://")) return open_etcd(url, options);
  if (url == "memory:") return std::make_shared<MemoryStore>();
  const std::string_view scheme = url.substr(0, url.find(':'));
  throw std::invalid_argument("no store has URLs that begin with \"" + std::string(scheme) +
                              ":\"; there are etcd://HOST:PORT, etcds://USER:PASSWORD@HOST:PORT, "
                              "kube://[CONTEXT/]NAMESPACE/NAME and memory:");
}

}  // namespace evenkeel::inline v0::coordination
