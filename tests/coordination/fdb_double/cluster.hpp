// SPDX-License-Identifier: Apache-2.0
// The database behind the double of FoundationDB's C API: versions, their contents, and conflicts between
// transactions, with the faults that a test can inject. Does not block and has no thread.
//
// Source: FoundationDB's developer guide and known limitations: a read version is that of the last commit or
// later; a commit is refused if something in its read conflict ranges was written after its read version;
// data older than five million versions (five seconds) cannot be read or committed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdb_double {

/// Errors of the C API that the double returns, with FoundationDB's names and codes.
enum Error : int {
  transaction_too_old = 1007,
  future_version = 1009,
  not_committed = 1020,
  commit_unknown_result = 1021,
  transaction_cancelled = 1025,
  transaction_timed_out = 1031,
  accessed_unreadable = 1036,
  database_locked = 1038,
  operation_cancelled = 1101,
  no_cluster_file_found = 1515,
  client_invalid_operation = 2000,
  key_outside_legal_range = 2004,
  inverted_range = 2005,
  invalid_option_value = 2006,
  network_not_setup = 2008,
  network_already_setup = 2009,
  read_version_already_set = 2010,
  version_invalid = 2011,
  used_during_commit = 2017,
  network_cannot_be_restarted = 2025,
  blocked_from_network_thread = 2026,
  transaction_too_large = 2101,
  key_too_large = 2102,
  value_too_large = 2103,
  connection_string_invalid = 2104,
  api_version_unset = 2200,
  api_version_already_set = 2201,
  api_version_invalid = 2202,
  api_version_not_supported = 2203
};

struct Range {
  std::string begin;
  std::string end;
};

struct Mutation {
  enum class Kind : std::uint8_t { set, set_stamped, clear };
  Kind kind = Kind::set;
  std::string begin = {};
  std::string end = {};    ///< The end of a cleared range.
  std::string value = {};  ///< Value; a stamped one ends with the four bytes of the offset of the stamp.
};

/// A client's commit request.
struct Submission {
  std::int64_t read_version = 0;
  bool lock_aware = false;
  std::vector<Range> reads = {};
  std::vector<Range> writes = {};
  std::vector<Mutation> mutations = {};
};

struct Outcome {
  int error = 0;  ///< 0: committed.
  std::int64_t version = -1;
};

/// The fate of a commit.
enum class CommitFault : std::uint8_t {
  none,
  conflict,         ///< Refused with not_committed, although there may be no conflict.
  unknown_applied,  ///< commit_unknown_result, after it was applied if it can be.
  unknown_lost,     ///< commit_unknown_result; never applied.
  held,             ///< No answer. deliver() applies it, if it still can be.
};

/// One cluster. Thread safety: all members may be called concurrently.
class Cluster {
 public:
  /// With an `error`, each request fails with it.
  explicit Cluster(bool reachable, int error = 0) : reachable_(reachable), error_(error) {}

  // Interface of clients.
  bool reachable() const { return reachable_; }
  /// Returns a version later than that of the last call, even if nothing was committed: versions follow the
  /// clock.
  std::int64_t read_version();
  /// Returns 0, transaction_too_old, future_version, database_locked, or the error of the cluster.
  int readable(std::int64_t version, bool lock_aware) const;
  std::map<std::string, std::string> read(const Range& range, std::int64_t version) const;
  /// Returns nullopt if there is no answer.
  std::optional<Outcome> commit(const Submission& submission);
  std::size_t size_limit() const;
  /// Calls `fire` once, when `key` has changed after `version`; at once if it has already.
  void watch(const std::string& key, std::int64_t version, std::function<void()> fire);

  // Interface of tests.
  /// Sets the fates of the next commits, one each.
  void script(std::vector<CommitFault> faults);
  /// Applies held commits in the order of their arrival. Returns how many were applied.
  std::size_t deliver();
  std::size_t held() const;
  /// Advances the version as if this many microseconds had passed.
  void advance(std::int64_t versions);
  void set_locked(bool locked);
  void set_size_limit(std::size_t bytes);

 private:
  struct Written {
    std::int64_t version;
    Range range;
  };
  struct Watcher {
    std::string key;
    std::function<void()> fire;
  };

  int refusal(const Submission& submission) const;
  Outcome apply(const Submission& submission);
  void fire_watchers(const Range& changed);

  const bool reachable_;
  const int error_;
  mutable std::mutex mutex_;
  std::int64_t version_ = 1'000'000'000;
  // The history of each key: version -> value; nullopt: absent.
  std::map<std::string, std::map<std::int64_t, std::optional<std::string>>> history_;
  std::vector<Written> written_;
  std::vector<Watcher> watchers_;
  std::deque<CommitFault> faults_;
  std::vector<Submission> held_;
  std::size_t size_limit_ = 10'000'000;
  bool locked_ = false;
};

/// Returns the cluster that `cluster_file` names: the same one for the same content. Its content is
/// "description:id@address"; port 1 is never answered. Returns null if the file cannot be read or is not a
/// cluster file.
std::shared_ptr<Cluster> cluster_of(const std::string& cluster_file);

}  // namespace fdb_double
