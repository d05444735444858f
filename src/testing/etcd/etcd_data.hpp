// SPDX-License-Identifier: Apache-2.0
// The data of the stand-in for etcd: keys with their versions, in memory.
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

/// A range from `begin` up to, but excluding `end`. An empty `end`: the key `begin` alone; a zero byte: up to
/// the last key.
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
  std::uint64_t version = 0;   ///< Number of puts since the key was created.
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
  /// Returns the oldest revision that can be read.
  std::uint64_t compacted() const { return compacted_; }

  /// Returns the keys at `revision`, sorted; valid until the next change. revision() + 1 includes the writes
  /// since the last commit().
  std::vector<Found> find(const EtcdKeys& keys, std::uint64_t revision) const;

  void put(const std::string& key, std::string bytes);
  /// Returns the number of deleted keys.
  std::size_t erase(const EtcdKeys& keys);
  /// Ends a transaction: the writes since the last one become the next revision. Returns the changes.
  std::vector<EtcdChange> commit();

  /// Returns the changes from `revision` on, in order.
  std::vector<EtcdChange> changes_since(std::uint64_t revision) const;
  /// Requires a revision of at most revision().
  void compact(std::uint64_t revision);

 private:
  using Map = std::map<std::string, std::vector<EtcdValue>, std::less<>>;

  void write(const std::string& key, EtcdValue value);

  Map keys_;
  std::vector<EtcdChange> log_;  // since the compaction
  std::size_t committed_ = 0;    // index into log_
  std::uint64_t revision_ = 1;   // as in a new etcd
  std::uint64_t compacted_ = 0;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
