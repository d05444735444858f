// SPDX-License-Identifier: Apache-2.0
// The core of the stand-in for etcd: requests of its JSON API in, responses out. No clock, thread or socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/testing/etcd_server.hpp>

#include "apiserver/shell/core_host.hpp"
#include "testing/etcd/etcd_data.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Driver: see ApiServerCore.
/// Thread safety: one thread at a time.
class EtcdCore final : public apiserver::detail::Backend {
 public:
  explicit EtcdCore(EtcdServerOptions options) : options_(std::move(options)) {}

  apiserver::Answer handle(const http::Request& request, WallTime now, const apiserver::Caller& caller,
                           const apiserver::CacheLag& lag) override;
  apiserver::WatchOutput read_watch(apiserver::WatchId id) override;
  std::vector<apiserver::WatchId> ready_watches() override;
  void catch_up(apiserver::WatchId) override {}
  void close_watch(apiserver::WatchId id) override { watches_.erase(id); }
  void on_timeout(WallTime) override {}
  std::optional<WallTime> next_due() const override { return std::nullopt; }

  std::uint64_t revision() const { return data_.revision(); }
  /// Throws EtcdRefusal for a compacted or future revision.
  void compact(std::uint64_t revision);
  void forget_tokens() { tokens_.clear(); }

 private:
  struct Watch {
    EtcdKeys keys = {};
    std::string unread = {};
    bool over = false;
  };
  /// One transaction, including nested ones, while it is applied.
  struct Running {
    std::vector<bool> branches = {};  ///< Branch taken by each transaction of the tree, in traversal order.
    std::size_t next = 0;             ///< Index into branches.
  };

  apiserver::Answer answer(const http::Request& request);
  Json reply(std::string_view path, const Json& request);
  void authorise(const http::Request& request) const;

  Json range(const Json& request, std::uint64_t at) const;
  Json put(const Json& request);
  Json erase(const Json& request);
  Json txn(const Json& request);
  Json compaction(const Json& request);
  Json login(const Json& request);
  apiserver::Answer watch(const Json& request);

  Json header() const;
  void check_size(const Json& request) const;
  void check_revision(const Json& range) const;
  void check_revisions(const Json& txn) const;
  bool holds(const Json& compare) const;
  /// Decides all branches before anything is written.
  void decide(const Json& txn, Running& running) const;
  Json apply(const Json& txn, Running& running);
  Json apply_operation(const Json& operation, Running& running);
  /// Commits and notifies the watches.
  void finish();

  const EtcdServerOptions options_;
  EtcdData data_;
  std::set<std::string> tokens_;
  std::uint64_t tokens_made_ = 0;
  std::map<apiserver::WatchId, Watch> watches_;
  std::set<apiserver::WatchId> ready_;
  std::uint64_t last_watch_ = 0;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
