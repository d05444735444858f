// SPDX-License-Identifier: Apache-2.0
// What the stand-in for etcd holds: keys with their versions, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// From `begin` to before `end`. An empty `end`: the key `begin` alone; a zero byte: to the last key.
struct EtcdKeys {
  std::string begin = {};
  std::string end = {};

  bool open() const { return end == std::string_view("\0", 1); }
  bool contains(std::string_view key) const {
    if (end.empty()) return key == begin;
    return key >= begin && (open() || key < end);
  }
};

struct EtcdValue {
  std::uint64_t modified = 0;  ///< Revision.
  std::uint64_t created = 0;   ///< Revision; 0: the key was erased at `modified`.
  std::uint64_t version = 0;   ///< How often it was put since it was created.
  std::string bytes = {};
};

struct EtcdChange {
  std::string key = {};
  EtcdValue value = {};
};

/// All versions of all keys since the last compaction.
/// Source: etcd's server/storage/mvcc.
class EtcdData {
 public:
  struct Found {
    std::string_view key;
    const EtcdValue* value = nullptr;
  };

  std::uint64_t revision() const { return revision_; }
  /// Reads before this revision are not possible any more.
  std::uint64_t compacted() const { return compacted_; }

  /// What there is at `revision`, in the order of keys; valid until the next change. revision() + 1 is what
  /// was written since the last commit().
  std::vector<Found> find(const EtcdKeys& keys, std::uint64_t revision) const;

  void put(const std::string& key, std::string bytes);
  /// Returns how many there were.
  std::size_t erase(const EtcdKeys& keys);
  /// Ends a transaction: what was written since the last one is the next revision. Returns the changes.
  std::vector<EtcdChange> commit();

  /// From `revision` on, in order.
  std::vector<EtcdChange> changes_since(std::uint64_t revision) const;
  /// At most revision().
  void compact(std::uint64_t revision);

 private:
  using Map = std::map<std::string, std::vector<EtcdValue>, std::less<>>;

  void write(const std::string& key, EtcdValue value);

  Map keys_;
  std::vector<EtcdChange> log_;  // since the compaction
  std::size_t committed_ = 0;    // of log_
  std::uint64_t revision_ = 1;   // a new etcd begins with it
  std::uint64_t compacted_ = 0;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
