// SPDX-License-Identifier: Apache-2.0
// The invariants of a simulation that hold at each moment, checked against the history of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

#include "testing/explore/end_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// An object that a cache holds.
struct CachedState {
  std::string key = {};  ///< "default/web"
  std::string uid = {};
  std::string version = {};
};

/// A write that has arrived at the server.
struct ArrivedWrite {
  std::string process = {};
  std::string text = {};     ///< "create pods default/web"
  std::string request = {};  ///< Method, path and body, to recognize it again.
  bool creates = false;
  bool applied = false;  ///< It changed something.
  bool answer_lost = false;
  std::uint64_t runs = 0;    ///< Number of reconciles that the process had begun when it left.
  bool needs_lease = false;  ///< It is one of controllers that run on the leader.
  std::string lease = {};    ///< Key of the Lease.
};

/// Checks each event of a run. Times are those of the simulation.
/// Driver:
///  1. calls on_change() for each event of each resource at the server, before it reaches any client;
///  2. calls on_write() for each write of a replica, after the changes that it made;
///  3. calls on_cached() and on_dropped() for each event of a cache of a replica;
///  4. calls on_run() and on_run_end() for each reconcile, and on_leaders() after each step;
///  5. calls on_process_end() when a process has ended.
/// Thread safety: one thread at a time.
class SimulationAudit {
 public:
  void on_change(const std::string& resource, std::string_view type, Json object, Duration now);
  void on_write(const ArrivedWrite& write, Duration now);
  void on_cached(const std::string& process, const std::string& cache, const std::string& resource,
                 const CachedState& state, Duration now);
  /// `exact`: the version is that of the deletion, or of the last state.
  void on_dropped(const std::string& process, const std::string& cache, const std::string& resource,
                  const CachedState& state, bool exact, Duration now);
  /// A process that reconciles a key over and over is a problem: each run has undone another one, or nothing
  /// slows down what fails.
  void on_run(const std::string& process, const std::string& controller, const std::string& key,
              Duration now);
  void on_run_end(const std::string& process, const std::string& controller, const std::string& key);
  void on_leaders(const std::vector<std::string>& leaders, Duration now);
  void on_process_end(const std::string& process);

  /// Compares all caches with the server, once everything has settled.
  void check_caches(Duration now);
  void add_problem(const std::string& text, Duration now);

  const std::vector<std::string>& problems() const { return problems_; }
  /// Returns the number of changes of objects other than Leases and Events.
  std::uint64_t changes() const { return changes_; }
  /// Returns the time of the last of them.
  Duration changed_at() const { return changed_at_; }
  std::string holder(const std::string& lease) const;
  /// Returns the objects of these resources as they are now.
  std::vector<Listed> listed(const std::set<std::string>& resources) const;

 private:
  struct History {
    std::set<std::pair<std::string, std::string>> states = {};  // uid and version
    Json current = {};
  };
  struct Seen {
    std::string resource = {};
    std::map<std::string, CachedState> live = {};
    std::map<std::string, std::uint64_t> newest = {};  // version by key
  };
  const History* find(const std::string& resource, const std::string& key) const;
  void check_version(Seen& seen, const std::string& who, const CachedState& state, Duration now);
  Seen& seen_by(const std::string& process, const std::string& cache, const std::string& resource);

  std::map<std::string, std::map<std::string, History>> objects_;              // by resource and key
  std::map<std::string, std::map<std::string, Seen>> caches_;                  // by process and cache
  std::map<std::string, std::set<std::string>> running_;                       // by process
  std::map<std::string, std::map<std::string, std::deque<Duration>>> recent_;  // begins of runs, likewise
  struct Creation {
    bool answer_lost = false;
    std::uint64_t runs = 0;
  };
  std::map<std::string, std::map<std::string, Creation>> creations_;  // by process and request
  std::uint64_t changes_ = 0;
  Duration changed_at_{};
  bool two_leaders_ = false;
  std::vector<std::string> problems_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
