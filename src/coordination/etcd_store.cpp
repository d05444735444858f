// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/etcd_store.hpp>

#include "coordination/etcd_client.hpp"
#include "coordination/etcd_watch.hpp"
#include "coordination/etcd_wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using detail::EtcdAnswer;
using detail::EtcdClient;
using detail::EtcdRangeAnswer;
using detail::EtcdTxn;
using detail::EtcdVerdict;

EtcdRangeAnswer decoded(const EtcdAnswer& answer) {
  try {
    return detail::range_answer(answer.body);
  } catch (const DecodeError& error) {
    throw StoreUnavailable(detail::strange_answer(answer, error));
  }
}

/// Checks that the keys ascend within `range`: callers cut them by the length of its prefix, and continue
/// behind the last one. Throws StoreUnavailable.
void check_keys(const std::vector<Entry>& entries, const KeyRange& range) {
  std::string_view above;
  for (const Entry& entry : entries) {
    if (!range.contains(entry.key) || (&entry != &entries.front() && entry.key <= above))
      throw StoreUnavailable("etcd: the response to a read of " + range.begin + " contains the key " +
                             entry.key + ", which is not in the range or not in order");
    above = entry.key;
  }
}

class EtcdSnapshot final : public StoreSnapshot {
 public:
  EtcdSnapshot(std::shared_ptr<EtcdClient> client, std::stop_token stop)
      : client_(std::move(client)),
        stop_(std::move(stop)),
        version_(ask(detail::get_request(client_->options().revision_key, 0)).revision) {}

  Version version() const override { return version_; }

  std::optional<Entry> get(std::string_view key) override {
    if (key.empty()) return std::nullopt;
    EtcdRangeAnswer answer = ask(detail::get_request(key, version_));
    if (answer.entries.empty()) return std::nullopt;
    check_keys(answer.entries, {.begin = std::string(key), .end = std::string(key) + '\0'});
    return std::move(answer.entries.front());
  }

  ScanPage scan(const KeyRange& range, std::size_t limit) override {
    if (!range.end.empty() && range.begin >= range.end) return {};
    const std::size_t wanted = limit != 0 ? limit : client_->options().page_entries;
    EtcdRangeAnswer answer =
        ask(detail::range_request({.range = range, .revision = version_, .limit = wanted}));
    check_keys(answer.entries, range);
    ScanPage page{.entries = std::move(answer.entries), .next = {}};
    if (answer.more) page.next = page.entries.back().key + '\0';
    return page;
  }

 private:
  EtcdRangeAnswer ask(const std::string& request) {
    return decoded(client_->read(detail::etcd_range_path, request, stop_));
  }

  const std::shared_ptr<EtcdClient> client_;
  const std::stop_token stop_;
  const Version version_;
};

CommitResult result_of(const EtcdTxn& txn, EtcdAnswer answer, std::size_t max_request_bytes) {
  switch (answer.verdict) {
    case EtcdVerdict::ok:
      try {
        return detail::txn_answer(txn, answer.body);
      } catch (const DecodeError& error) {
        return Unknown{detail::strange_answer(answer, error)};
      }
    case EtcdVerdict::too_large:
      return TooLarge{"commit_bytes", max_request_bytes, txn.bytes};
    case EtcdVerdict::unknown:
      return Unknown{std::move(answer.why)};
    default:
      return Unavailable{std::move(answer.why)};
  }
}

}  // namespace

class EtcdStore::Impl {
 public:
  explicit Impl(EtcdStoreOptions options) : client(std::make_shared<EtcdClient>(std::move(options))) {}

  detail::EtcdTxnOptions txn_options() const {
    const EtcdStoreOptions& options = client->options();
    return {.max_txn_ops = options.max_txn_ops, .max_request_bytes = options.max_request_bytes};
  }

  const std::shared_ptr<EtcdClient> client;
};

EtcdStore::EtcdStore(EtcdStoreOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
EtcdStore::~EtcdStore() = default;

std::string EtcdStore::name() const {
  std::string text = "etcd";
  for (const std::string& endpoint : impl_->client->options().endpoints) text += " " + endpoint;
  return text;
}

Capabilities EtcdStore::capabilities() const {
  return {};
}

Limits EtcdStore::limits() const {
  return detail::txn_limits(impl_->txn_options());
}

std::unique_ptr<StoreSnapshot> EtcdStore::snapshot(std::stop_token stop) {
  return std::make_unique<EtcdSnapshot>(impl_->client, std::move(stop));
}

CommitResult EtcdStore::commit(const Commit& commit, std::stop_token stop) {
  const Commit normal = normalise(commit);
  const EtcdStoreOptions& options = impl_->client->options();
  if (const std::optional<TooLarge> problem = broken_limit(limits(), normal)) return *problem;
  const EtcdTxn txn = detail::make_txn(normal);
  if (txn.bytes > options.max_request_bytes)
    return TooLarge{"commit_bytes", options.max_request_bytes, txn.bytes};
  EtcdAnswer answer =
      impl_->client->write(detail::etcd_txn_path, detail::txn_request(txn, options.max_txn_ops), stop);
  return result_of(txn, std::move(answer), options.max_request_bytes);
}

std::unique_ptr<StoreWatch> EtcdStore::watch(const KeyRange& range, std::function<void()> hint) {
  return std::make_unique<detail::EtcdWatch>(impl_->client, range, std::move(hint));
}

// --- URLs ---

EtcdStoreOptions etcd_options(std::string_view url) {
  const auto wrong = [] {
    return std::invalid_argument("expected etcd://host:port or etcds://user:password@host:port,host:port");
  };
  const bool tls = url.starts_with("etcds://");
  if (!tls && !url.starts_with("etcd://")) throw wrong();
  url.remove_prefix(url.find("//") + 2);
  EtcdStoreOptions options{.endpoints = {}};
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = url.substr(0, at);
    const std::size_t colon = login.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == login.size()) throw wrong();
    options.user = http::percent_decode(login.substr(0, colon));
    options.password = http::percent_decode(login.substr(colon + 1));
    url.remove_prefix(at + 1);
  }
  while (true) {
    const std::size_t comma = url.find(',');
    const std::string_view host = url.substr(0, comma);
    if (host.empty() || host.find_first_of("/?# ") != std::string_view::npos) throw wrong();
    options.endpoints.push_back((tls ? "https://" : "http://") + std::string(host));
    if (comma == std::string_view::npos) return options;
    url.remove_prefix(comma + 1);
  }
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
