// SPDX-License-Identifier: Apache-2.0
// The JSON documents of the simulated database's admin API.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>

/// A process of the database, as reported in the status.
struct RingProcess {
  std::string id;             ///< The id of its process group: "dc1-storage-1".
  std::string address;        ///< "10.0.0.7:4501"
  std::string process_class;  ///< "storage", "log" or "stateless".
  std::string dc;             ///< The namespace of its Pod.
  std::string version;
  std::string command_line;
  double uptime_seconds = 0;
  bool excluded = false;  ///< Excluded by its address or its locality.
  /// Its roles: "coordinator", and its class until it is excluded and all data is moved away.
  std::vector<std::string> roles;
};
EVENKEEL_FIELDS(RingProcess, id, address, process_class, dc, version, command_line, uptime_seconds, excluded,
                roles)

/// The response to GET /status.
struct RingStatus {
  std::int64_t generation = 0;  ///< Grows by 2 with each recovery.
  std::string recovery_state;   ///< "recovering" or "fully_recovered".
  bool available = false;  ///< A majority of the coordinators is live, and all processes have one protocol.
  double seconds_since_recovery = 0;
  std::vector<std::string> coordinators;  ///< Addresses; empty until the database was configured.
  std::vector<std::string> exclusions;    ///< "10.0.0.7:4501" or "locality_instance_id:dc1-storage-1".
  std::vector<RingProcess> processes;     ///< The running ones, in the order of their ids.
};
EVENKEEL_FIELDS(RingStatus, generation, recovery_state, available, seconds_since_recovery, coordinators,
                exclusions, processes)

/// The body of POST /exclude, /include (addresses or localities), /kill and /coordinators (addresses).
struct RingOrder {
  std::vector<std::string> targets;
  /// The epoch of the claim; the database refuses a command with a smaller epoch than an earlier one of the
  /// same action. 0: no claim.
  std::string action;
  std::int64_t epoch = 0;
};
EVENKEEL_FIELDS(RingOrder, targets, action, epoch)

/// An entry of GET /journal: a call that was answered, or an event of the database itself (caller
/// "database").
struct RingJournalEntry {
  double at_seconds = 0;  ///< Since the program started.
  std::string caller;     ///< The door of the caller.
  std::string call;       ///< "exclude", "include", "kill", "coordinators"; "configure", "process lost".
  std::vector<std::string> targets;
  std::vector<std::string> groups;  ///< The affected process groups, in the order of their ids.
  std::int64_t epoch = 0;
  std::string refused;          ///< Why the call was refused; empty: it was executed.
  std::int64_t generation = 0;  ///< After the call.
  bool recovery = false;        ///< True if the call caused a recovery.
};
EVENKEEL_FIELDS(RingJournalEntry, at_seconds, caller, call, targets, groups, epoch, refused, generation,
                recovery)

struct RingJournal {
  double started_at = 0;   ///< Unix time of the program's start.
  double now_seconds = 0;  ///< Seconds since then.
  std::vector<RingJournalEntry> entries;
};
EVENKEEL_FIELDS(RingJournal, started_at, now_seconds, entries)

/// The body of POST /faults: the behaviour of a door from now on.
struct RingFault {
  std::string door;         ///< "dc1"
  std::string kind;         ///< "open", "cut", "hang", "slow", "refuse" or "lose".
  double seconds = 0;       ///< Delay of a slow response.
  std::int64_t count = -1;  ///< Number of affected calls until the door is open again; -1: all.
};
EVENKEEL_FIELDS(RingFault, door, kind, seconds, count)
