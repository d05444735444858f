// SPDX-License-Identifier: Apache-2.0
// The state of the simulated database: processes, exclusions, coordinators, recoveries. Time is an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "ring_api.hpp"

namespace ek = evenkeel;

struct RingDatabaseOptions {
  std::size_t processes = 1;     ///< Number of running processes at which the database is configured.
  std::size_t coordinators = 9;  ///< Number of coordinators, of which more than half must be live.
  ek::Duration recovery = std::chrono::milliseconds{100};  ///< Duration of a recovery.
  ek::Duration move = std::chrono::seconds{1};             ///< Time until an excluded process holds no data.
};

/// The properties of a process when it starts.
struct RingStart {
  std::string id;
  std::string address;
  std::string process_class;
  std::string dc;
  std::string version;
  std::string command_line;
};

/// The result of a call. A refused call changed nothing.
struct RingAnswer {
  bool done = true;
  std::string problem = {};
};

/// The database. Every exclusion, inclusion, kill and change of coordinators that has an effect interrupts
/// the clients once: it causes a recovery, and the generation grows by 2. So does a process of the
/// transaction system (log, stateless) that stops without being excluded.
/// Thread safety: one thread at a time.
class RingDatabase {
 public:
  RingDatabase(RingDatabaseOptions options, ek::TimePoint begun) : options_(options), begun_(begun) {}

  /// Starts a process; replaces one with the same id.
  void start(RingStart start, ek::TimePoint now);
  /// Sets the properties that the process will have after its next restart.
  void stage(std::string_view id, std::string command_line, std::string version);
  /// Removes the process for good. Unknown ids are ignored.
  void stop(std::string_view id, ek::TimePoint now);

  RingAnswer exclude(std::string_view caller, const RingOrder& order, ek::TimePoint now);
  RingAnswer include(std::string_view caller, const RingOrder& order, ek::TimePoint now);
  /// Restarts the processes at these addresses, all at once.
  RingAnswer kill(std::string_view caller, const RingOrder& order, ek::TimePoint now);
  /// Refused if one of them is not running or is excluded.
  RingAnswer set_coordinators(std::string_view caller, const RingOrder& order, ek::TimePoint now);

  /// Refuses commands of the action with a lower epoch from now on. Refused itself if its epoch is lower than
  /// that of an earlier call.
  RingAnswer raise_fence(const RingOrder& fence);

  RingStatus status(ek::TimePoint now) const;
  const std::vector<RingJournalEntry>& journal() const noexcept { return journal_; }
  double seconds(ek::TimePoint now) const { return std::chrono::duration<double>(now - begun_).count(); }

 private:
  struct Process {
    RingStart current;
    std::string next_version;
    std::string next_command_line;
    ek::TimePoint since;
  };

  void configure(ek::TimePoint now);
  std::string outdated(const RingOrder& order) const;
  std::string objection(const RingOrder& order) const;
  RingAnswer accept(std::string_view caller, std::string_view call, const RingOrder& order,
                    std::vector<std::string> groups, bool disturbs, ek::TimePoint now);
  RingAnswer refuse(std::string_view caller, std::string_view call, const RingOrder& order,
                    std::string problem, ek::TimePoint now);
  const ek::TimePoint* excluded_since(const RingStart& process) const;
  bool is_needed(const RingStart& process, ek::TimePoint now) const;
  bool has_quorum() const;
  bool one_protocol() const;
  Process* find_address(std::string_view address);
  const Process* find_address(std::string_view address) const;
  std::vector<std::string> groups_of(const std::vector<std::string>& targets) const;

  RingDatabaseOptions options_;
  ek::TimePoint begun_;
  std::map<std::string, Process, std::less<>> processes_;         // by id
  std::map<std::string, ek::TimePoint, std::less<>> exclusions_;  // target -> time of the exclusion
  std::vector<std::string> coordinators_;                         // addresses
  std::map<std::string, std::int64_t, std::less<>> epochs_;       // the highest epoch of each action
  std::int64_t generation_ = 0;
  ek::TimePoint recovered_ = begun_;
  std::vector<RingJournalEntry> journal_;
};
