// SPDX-License-Identifier: Apache-2.0
// Number of failures of each key. Only a failure creates an entry; lookups do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>  // brings std::hash, for a third of what <functional> costs
#include <utility>

#include <evenkeel/base/hash_table.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

template <class Key>
class FailureCounts {
 public:
  FailureCounts() = default;
  FailureCounts(const FailureCounts& other) : FailureCounts() {
    other.entries_.for_each(
        [this](const Entry& entry) { insert(entry.key, entry.table_hash(), entry.count); });
  }
  FailureCounts(FailureCounts&& other) noexcept : entries_(std::exchange(other.entries_, {})) {}
  FailureCounts& operator=(FailureCounts other) noexcept {
    std::swap(entries_, other.entries_);
    return *this;
  }
  ~FailureCounts() {
    entries_.clear([](Entry& entry) { delete &entry; });
  }

  /// Counts a failure; returns the number of earlier ones.
  std::uint64_t add(const Key& key) {
    const std::size_t hash = std::hash<Key>{}(key);
    if (Entry* entry = find(key, hash)) return entry->count++;
    insert(key, hash, 1);
    return 0;
  }

  std::uint64_t of(const Key& key) const {
    if (entries_.size() == 0) return 0;
    const Entry* entry = find(key, std::hash<Key>{}(key));
    return entry == nullptr ? 0 : entry->count;
  }

  void forget(const Key& key) noexcept {
    if (entries_.size() == 0) return;  // most keys never failed: skip the hash
    Entry* entry = find(key, std::hash<Key>{}(key));
    if (entry == nullptr) return;
    entries_.erase(*entry);
    delete entry;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry : TableLink<Entry> {
    Entry(const Key& its_key, std::uint64_t failures) : key(its_key), count(failures) {}
    Key key;
    std::uint64_t count;
  };

  Entry* find(const Key& key, std::size_t hash) const {
    return entries_.find(hash, [&](const Entry& entry) { return entry.key == key; });
  }

  void insert(const Key& key, std::size_t hash, std::uint64_t count) {
    Entry* entry = new Entry(key, count);
    try {
      entries_.insert(*entry, hash);
    } catch (...) {
      delete entry;
      throw;
    }
  }

  HashTable<Entry> entries_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
