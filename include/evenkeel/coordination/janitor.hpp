// SPDX-License-Identifier: Apache-2.0
// What nobody owns any more: the entries of an instance that was removed, or that works alone now. They are
// listed for everybody to see, and go only when somebody says so.
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

/// A scope that has something in the store, and who owns it.
struct ScopeReport {
  Instance instance = {};
  std::size_t entries = 0;  ///< Members of sets, and facts.
  /// It has entries, and its instance is absent or silent: they hold up nobody (see gate.hpp), but stay.
  bool orphan = false;
  /// While it is being moved in pieces: where to. ScopeMigrator::migrate() with any_owner ends that for an
  /// instance that is gone, there or back.
  std::string moving_to = {};

  friend bool operator==(const ScopeReport&, const ScopeReport&) = default;
};

struct JanitorOptions {
  /// An instance that is silent for so long counts as gone. Longer than LivenessOptions::silence of the
  /// instances.
  Duration silence = std::chrono::minutes{10};
};

/// What came of a removal.
struct Swept {
  std::size_t entries = 0;
  bool removed = false;  ///< False: see `why`; nothing was changed.
  std::string why = {};
};

/// Watches scopes, and removes what is left of one on request.
/// Thread safety: all members may be called concurrently. Blocks as Store does. Lifetime: not longer than the
/// store.
class EVENKEEL_API Janitor {
 public:
  /// `writer` is who removes: an instance id, or "coordctl". `transact` as for LeaseLock.
  Janitor(Store& store, Layout layout, std::string writer, JanitorOptions options = {},
          TransactOptions transact = {});

  /// All scopes, in order. Silence counts from the first report of this janitor on. Throws StoreUnavailable;
  /// Cancelled.
  std::vector<ScopeReport> report(std::stop_token stop = {});
  /// Removes every entry of `scope` and its record, if it is an orphan as report() would say now, and is not
  /// being moved, from there or to there: half of a move is not to be removed. One transaction. Throws
  /// StoreUnavailable if it is not known to be done; Cancelled.
  Swept sweep(std::string_view scope, std::stop_token stop = {});
  /// Removes every entry of `scope`, whoever owns it, but not its record: for an instance that goes from
  /// global to local, which does it for itself, and for people who know better. An instance that still
  /// publishes puts them back. Throws as sweep().
  Swept drain(std::string_view scope, std::stop_token stop = {});

 private:
  Swept remove(std::string_view scope, bool only_orphans, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  void observe(StoreSnapshot& snapshot) EVENKEEL_EXCLUDES(mutex_);

  Store& store_;
  const Layout layout_;
  const std::string writer_;
  const TransactOptions transact_;
  mutable Mutex mutex_;
  Liveness liveness_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
