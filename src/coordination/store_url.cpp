// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <utility>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/store_url.hpp>

#include "base/shown_url.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::shared_ptr<Store> open_etcd(std::string_view url, const StoreUrlOptions& options) {
  EtcdStoreOptions etcd = etcd_options(url);
  etcd.tls = options.tls;
  etcd.credentials_in_clear = options.credentials_in_clear;
  if (options.timeout) etcd.request_timeout = *options.timeout;
  return std::make_shared<EtcdStore>(std::move(etcd));
}

constexpr std::string_view kube_scheme = "kube://";

[[noreturn]] void refuse_kube(std::string_view url, const char* why) {
  throw std::invalid_argument(evenkeel::detail::shown_url(url) + ": " + why +
                              "; the form is kube://[CONTEXT/]NAMESPACE/NAME[?objects=one]");
}

/// The parts of "[CONTEXT/]NAMESPACE/NAME". A context may contain '/'.
struct KubeParts {
  std::string_view context;
  std::string_view space;
  std::string_view name;
};
KubeParts kube_parts(std::string_view url, std::string_view path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string_view::npos) refuse_kube(url, "a namespace or a name is missing");
  KubeParts parts{.context = {}, .space = path.substr(0, name), .name = path.substr(name + 1)};
  const std::size_t space = parts.space.rfind('/');
  if (space != std::string_view::npos) {
    parts.context = parts.space.substr(0, space);
    parts.space.remove_prefix(space + 1);
  }
  if (parts.space.empty() || parts.name.empty()) refuse_kube(url, "a namespace or a name is missing");
  return parts;
}

std::shared_ptr<Store> open_kube(std::string_view url, const StoreUrlOptions& options) {
  std::string_view path = url.substr(kube_scheme.size());
  KubernetesStoreOptions kube;
  const std::size_t query = path.find('?');
  if (query != std::string_view::npos) {
    if (path.substr(query) != "?objects=one") refuse_kube(url, "only ?objects=one may follow the name");
    kube.objects = KubernetesObjects::one;
    path = path.substr(0, query);
  }
  const KubeParts parts = kube_parts(url, path);
  if (options.root.empty()) refuse_kube(url, "the root of the keys must be set");
  kube.namespace_ = parts.space;
  kube.name = parts.name;
  kube.root = options.root;
  if (options.timeout) kube.timeout = *options.timeout;
  Client client(load_config({.kubeconfig = options.kubeconfig, .context = std::string(parts.context)}));
  return std::make_shared<KubernetesStore>(std::move(client), std::move(kube));
}

}  // namespace

std::shared_ptr<Store> open_store(std::string_view url, const StoreUrlOptions& options) {
  if (url.starts_with("etcd://") || url.starts_with("etcds://")) return open_etcd(url, options);
  if (url.starts_with(kube_scheme)) return open_kube(url, options);
  if (url == "memory:") return std::make_shared<MemoryStore>();
  for (const StoreScheme& scheme : options.schemes) {
    if (url.starts_with(scheme.prefix)) return scheme.open(url, options);
  }
  if (url.starts_with("fdb://")) {
    throw std::invalid_argument(
        "fdb:// needs evenkeel::foundationdb and the scheme of a FoundationDbNetwork");
  }
  // Without a scheme, the text before a colon may be a user.
  const std::size_t mark = url.find("://");
  const std::string scheme = mark == std::string_view::npos
                                 ? "no scheme"
                                 : "unknown scheme \"" + std::string(url.substr(0, mark)) + ":\"";
  throw std::invalid_argument(scheme +
                              "; supported are etcd://HOST:PORT, etcds://USER:PASSWORD@HOST:PORT, "
                              "kube://[CONTEXT/]NAMESPACE/NAME and memory:");
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
