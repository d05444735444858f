// SPDX-License-Identifier: Apache-2.0
// Restricts the cache of a manager to the share of its replica, in a ring that divides by ranges.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/sharding/shards.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;

namespace detail {

/// Returns true if the server supports shardSelector (KEP-5866). Lists of custom objects do not reveal this,
/// so at most one Lease is listed, which members of a ring may do. Throws as Client::raw() does.
bool selects_shards(const Client& client, const std::string& namespace_);

/// Restricts the cache to the ranges from Shards::on_needed(), by label if ShardOptions::label is set,
/// otherwise by hash if the server supports it. If neither is possible, the cache holds everything.
/// Thread safety: all members may be called concurrently. Lifetime: the ring must not run any more when
/// it is destroyed.
class CacheDivider {
 public:
  /// `client` asks the server, and `shards` is the ring, which it observes.
  CacheDivider(Cache& cache, Client client, const ShardOptions& ring, Shards& shards, Log log);

  /// Without a label, asks the server until it answers; starts the cache. Returns false if `stop` is
  /// triggered before. Must return before the ring runs.
  bool start_cache(const std::stop_token& stop);
  void collect(MetricSink& sink) const;

 private:
  std::optional<bool> ask(const std::stop_token& stop);
  void begin(bool selects);

  Cache& cache_;
  const Client client_;
  const std::string ring_;
  const std::string label_;
  const std::string namespace_;
  const Log log_;
  std::atomic<bool> selects_ = false;
  Mutex mutex_;
  CondVar changed_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
