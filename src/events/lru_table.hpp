// SPDX-License-Identifier: Apache-2.0
// A table of bounded size, which forgets what was used least recently.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Values by key. Thread safety: one thread at a time.
template <class Value>
class LruTable {
 public:
  explicit LruTable(std::size_t capacity) : capacity_(capacity < 1 ? 1 : capacity) {}

  std::size_t size() const { return items_.size(); }
  /// Returns the value of a key, which counts as used; null if there is none.
  Value* find(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    items_.splice(items_.begin(), items_, found->second);
    return &found->second->second;
  }
  /// Returns the value of a key, made by default if there was none.
  Value& at(const std::string& key) {
    return at(key, [](const Value&) {});
  }
  /// Passes the value that is forgotten for a new one to `forgotten`, which must not use the table.
  template <class Forgotten>
  Value& at(const std::string& key, Forgotten forgotten) {
    if (Value* const found = find(key)) return *found;
    items_.emplace_front(key, Value());
    index_.emplace(items_.front().first, items_.begin());
    if (items_.size() > capacity_) {
      forgotten(items_.back().second);
      index_.erase(items_.back().first);
      items_.pop_back();
    }
    return items_.front().second;
  }
  void erase(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    const auto item = found->second;
    index_.erase(found);  // its key is a view of the item
    items_.erase(item);
  }
  template <class Condition>
  void erase_if(Condition condition) {
    for (auto item = items_.begin(); item != items_.end();) {
      const auto next = std::next(item);
      if (condition(item->second)) {
        index_.erase(item->first);
        items_.erase(item);
      }
      item = next;
    }
  }
  template <class Use>
  void for_each(Use use) {
    for (auto& item : items_) use(item.second);
  }

 private:
  using Items = std::list<std::pair<const std::string, Value>>;

  const std::size_t capacity_;
  Items items_;  // the most recently used first
  std::unordered_map<std::string_view, typename Items::iterator> index_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
