// SPDX-License-Identifier: Apache-2.0
// Finds and removes the entries that no instance owns any more, because their instance was removed or now
// works alone. They are reported by default, and removed only on request.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A scope that has keys in the store, and its owner.
struct ScopeReport {
  Instance instance = {};
  std::size_t entries = 0;  ///< Number of members of sets and facts.
  /// The scope has entries, and its instance is absent or silent. Orphans block nobody (see gate.hpp), but
  /// stay until they are removed.
  bool orphan = false;
  /// The destination, while the scope is being moved in several commits. If the instance is gone,
  /// ScopeMigrator::migrate() with any_owner completes or reverts the move.
  std::string moving_to = {};

  friend bool operator==(const ScopeReport&, const ScopeReport&) = default;
};

struct JanitorOptions {
  /// An instance that is silent for this long counts as gone. Must be longer than LivenessOptions::silence of
  /// the instances.
  Duration silence = std::chrono::minutes{10};
};

/// The result of a removal.
struct Swept {
  std::size_t entries = 0;  ///< Number of removed entries.
  bool removed = false;     ///< False: nothing was changed; see `why`.
  std::string why = {};
};

/// Reports scopes, and removes the entries of one on request.
/// Thread safety: all members may be called concurrently; transactions run one at a time. Blocks as Store
/// does. Lifetime: must not outlive the store.
class EVENKEEL_API Janitor {
 public:
  /// `writer` identifies the caller: an instance id, or "coordctl". `transact` as for LeaseLock.
  Janitor(Store& store, Layout layout, std::string writer, JanitorOptions options = {},
          TransactOptions transact = {});

  /// Returns all scopes, in order. Silence counts from the first report of this janitor. Throws
  /// StoreUnavailable; Cancelled.
  std::vector<ScopeReport> report(std::stop_token stop = {});
  /// Removes every entry and the record of `scope`, in one transaction, if it is an orphan by the definition
  /// of report() and neither the source nor the destination of a move in progress. Throws StoreUnavailable if
  /// the outcome is not known; Cancelled.
  Swept sweep(std::string_view scope, std::stop_token stop = {});
  /// Removes every entry of `scope`, whatever its owner, but not its record: for an instance that changes
  /// from global to local mode, and for people. A live instance that needs the entries publishes them again.
  /// Throws as sweep().
  Swept drain(std::string_view scope, std::stop_token stop = {});

 private:
  Swept remove(std::string_view scope, bool only_orphans, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  void observe(StoreSnapshot& snapshot) EVENKEEL_EXCLUDES(mutex_);

  Store& store_;
  const Layout layout_;
  const std::string writer_;
  const TransactOptions transact_;
  Mutex transacting_;  // one transaction at a time per token key
  mutable Mutex mutex_;
  Liveness liveness_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
