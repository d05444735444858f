// SPDX-License-Identifier: Apache-2.0
// A transaction of the double, with the semantics of FoundationDB's client: it reads at one version, sees its
// own writes, and collects what it will send. Errors of calls without a result are returned by the next call
// with one.
// Thread safety: only on the network's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster.hpp"
#include "network.hpp"

namespace fdb_double {

using FuturePtr = std::shared_ptr<Future>;

struct RangeRead {
  Range range = {};
  std::size_t limit = 0;  ///< 0: none.
  bool snapshot = false;
};

class Transaction {
 public:
  explicit Transaction(std::shared_ptr<Cluster> cluster) : cluster_(std::move(cluster)) {}

  void access_system_keys() { last_key_ = "\xff\xff"; }
  void be_lock_aware() { submission_.lock_aware = true; }
  void set_read_version(std::int64_t version);
  void mutate(const Mutation& mutation);
  void add_conflict(const Range& range, bool write);
  /// Fails all present and future operations with `error`.
  void break_off(int error);
  /// Returns true if an operation has no answer yet.
  bool waits() const { return !waiting_.empty() || !watches_.empty(); }

  void get_read_version(const FuturePtr& future);
  void get(const std::string& key, bool snapshot, const FuturePtr& future);
  void get_range(const RangeRead& read, const FuturePtr& future);
  /// `future` is set when `key` changes after the read version, if this transaction is committed.
  void watch(const std::string& key, const FuturePtr& future);
  void commit(const FuturePtr& future);
  std::int64_t committed_version() const { return committed_; }

 private:
  struct Watch {
    std::string key;
    FuturePtr future;
  };

  void start_watches();
  bool begun(const FuturePtr& future, bool commits = false);
  bool legal(const Range& range);
  void defer(int error);
  std::optional<std::map<std::string, std::string>> merged(const Range& range) const;
  std::size_t size() const;

  const std::shared_ptr<Cluster> cluster_;
  std::string last_key_ = "\xff";
  Submission submission_;
  int deferred_ = 0;
  int broken_ = 0;
  bool committing_ = false;
  std::int64_t committed_ = -1;
  std::vector<FuturePtr> waiting_;
  std::vector<Watch> watches_;
};

}  // namespace fdb_double
