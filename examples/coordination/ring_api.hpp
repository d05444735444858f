// SPDX-License-Identifier: Apache-2.0
// What the simulated database and its clients say to each other: documents of the admin API.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>

/// One process of the database, as the status shows it.
struct RingProcess {
  std::string id;             ///< Of its process group: "dc1-storage-1".
  std::string address;        ///< "10.0.0.7:4501"
  std::string process_class;  ///< "storage", "log" or "stateless".
  std::string dc;             ///< The namespace of its pod.
  std::string version;
  std::string command_line;
  double uptime_seconds = 0;
  bool excluded = false;  ///< By its address or its locality.
  /// What it does: "coordinator", and its class until it is excluded and everything is moved away.
  std::vector<std::string> roles;
};
EVENKEEL_FIELDS(RingProcess, id, address, process_class, dc, version, command_line, uptime_seconds, excluded,
                roles)

/// GET /status
struct RingStatus {
  std::int64_t generation = 0;  ///< Grows by 2 with each recovery.
  std::string recovery_state;   ///< "recovering" or "fully_recovered".
  bool available = false;       ///< A majority of the coordinators lives, and all speak one protocol.
  double seconds_since_recovery = 0;
  std::vector<std::string> coordinators;  ///< Addresses; empty until the database was configured.
  std::vector<std::string> exclusions;    ///< "10.0.0.7:4501" or "locality_instance_id:dc1-storage-1".
  std::vector<RingProcess> processes;     ///< Those that run, in the order of their ids.
};
EVENKEEL_FIELDS(RingStatus, generation, recovery_state, available, seconds_since_recovery, coordinators,
                exclusions, processes)

/// POST /exclude, /include (addresses or localities), /kill and /coordinators (addresses)
struct RingOrder {
  std::vector<std::string> targets;
  /// The claim that it rests upon: an order with a smaller epoch than an earlier one of the same action is
  /// refused. 0: no claim.
  std::string action;
  std::int64_t epoch = 0;
};
EVENKEEL_FIELDS(RingOrder, targets, action, epoch)

/// GET /journal: one for each call that was answered, and for what happened by itself (caller "database").
struct RingJournalEntry {
  double at_seconds = 0;  ///< Since the program started.
  std::string caller;     ///< The door that it came through.
  std::string call;       ///< "exclude", "include", "kill", "coordinators"; "configure", "process lost".
  std::vector<std::string> targets;
  std::vector<std::string> groups;  ///< The process groups that it hit, in the order of their ids.
  std::int64_t epoch = 0;
  std::string refused;          ///< Why nothing was done; empty: it was done.
  std::int64_t generation = 0;  ///< After the call.
  bool recovery = false;        ///< It caused one.
};
EVENKEEL_FIELDS(RingJournalEntry, at_seconds, caller, call, targets, groups, epoch, refused, generation,
                recovery)

struct RingJournal {
  double started_at = 0;   ///< Unix time of the program's start.
  double now_seconds = 0;  ///< Since then.
  std::vector<RingJournalEntry> entries;
};
EVENKEEL_FIELDS(RingJournal, started_at, now_seconds, entries)

/// POST /faults: what a door does from now on.
struct RingFault {
  std::string door;         ///< "dc1"
  std::string kind;         ///< "open", "cut", "hang", "slow", "refuse" or "lose".
  double seconds = 0;       ///< Of a slow answer.
  std::int64_t count = -1;  ///< How many calls are hit before the door is open again; -1: all.
};
EVENKEEL_FIELDS(RingFault, door, kind, seconds, count)
