// SPDX-License-Identifier: Apache-2.0
// An ordered map whose copies share what did not change: the state of several servers that began from one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// An ordered map in leaves of at most `Width` entries. freeze() takes constant time; a map that begins from
/// a frozen one copies a leaf when it first changes it, and the list of leaves with the first of them.
/// A node is changed in place only by the map that made it, and by that one only until it is frozen: the mark
/// in the node says so, no count of references is read.
/// Thread safety: one thread at a time for a map; any number of threads may read and begin from one frozen
/// map.
template <class Key, class Value, std::size_t Width = 32>
class SharedMap {
 public:
  using Entry = std::pair<Key, Value>;

 private:
  using Mark = std::shared_ptr<const char>;
  struct Leaf {
    Mark mark = {};
    std::vector<Entry> entries = {};  ///< Never empty.
  };
  struct Root {
    Mark mark = {};
    std::vector<std::shared_ptr<Leaf>> leaves = {};
  };

 public:
  /// The entries of a map at one time, immutable.
  class Frozen {
   public:
    Frozen() = default;

   private:
    friend class SharedMap;
    std::shared_ptr<Root> root_;
    std::size_t size_ = 0;
  };

  /// Invalidated by each change of the map.
  class const_iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    const_iterator() = default;
    reference operator*() const { return root_->leaves[leaf_]->entries[at_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++at_ == root_->leaves[leaf_]->entries.size()) {
        ++leaf_;
        at_ = 0;
      }
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    const_iterator& operator--() {
      if (at_ == 0) at_ = root_->leaves[--leaf_]->entries.size();
      --at_;
      return *this;
    }
    const_iterator operator--(int) {
      const const_iterator before = *this;
      --*this;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    friend class SharedMap;
    const_iterator(const Root* root, std::size_t leaf, std::size_t at) : root_(root), leaf_(leaf), at_(at) {}
    const Root* root_ = nullptr;
    std::size_t leaf_ = 0;
    std::size_t at_ = 0;
  };

  SharedMap() = default;
  explicit SharedMap(const Frozen& from) : root_(from.root_), size_(from.size_) {}
  SharedMap(SharedMap&&) noexcept = default;
  SharedMap& operator=(SharedMap&&) noexcept = default;
  SharedMap(const SharedMap&) = delete;
  SharedMap& operator=(const SharedMap&) = delete;
  ~SharedMap() = default;

  /// Returns the present entries; later changes copy what they touch.
  Frozen freeze() {
    mark_.reset();
    Frozen out;
    out.root_ = root_;
    out.size_ = size_;
    return out;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const { return {root_.get(), 0, 0}; }
  const_iterator end() const { return {root_.get(), root_ ? root_->leaves.size() : 0, 0}; }
  const Entry& front() const { return *begin(); }

  /// Returns the first entry whose key is not less than `key`.
  template <class K>
  const_iterator lower_bound(const K& key) const {
    return bound(key, [](const Key& one, const K& other) { return Less()(one, other); });
  }
  /// Returns the first entry whose key is greater than `key`.
  template <class K>
  const_iterator upper_bound(const K& key) const {
    return bound(key, [](const Key& one, const K& other) { return !Less()(other, one); });
  }
  template <class K>
  const_iterator find(const K& key) const {
    const const_iterator at = lower_bound(key);
    return at == end() || Less()(key, at->first) ? end() : at;
  }
  template <class K>
  bool contains(const K& key) const {
    return find(key) != end();
  }

  /// Sets the value of a key; returns the former one, a default one if there was none.
  Value exchange(Key key, Value value) {
    const const_iterator at = lower_bound(key);
    if (at == end() || Less()(key, at->first)) {
      insert(at, {std::move(key), std::move(value)});
      return {};
    }
    return std::exchange(own_leaf(at.leaf_).entries[at.at_].second, std::move(value));
  }

  /// Removes an entry; returns its value, std::nullopt if there was none.
  template <class K>
  std::optional<Value> extract(const K& key) {
    const const_iterator at = find(key);
    if (at == end()) return std::nullopt;
    std::vector<Entry>& entries = own_leaf(at.leaf_).entries;
    std::optional<Value> out(std::move(entries[at.at_].second));
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at.at_));
    --size_;
    if (entries.size() < Width / 4) join(at.leaf_);
    return out;
  }

  /// Returns the number of leaves that this map has in common with `other`, for tests.
  std::size_t leaves_shared_with(const SharedMap& other) const {
    if (!root_ || !other.root_) return 0;
    const auto& others = other.root_->leaves;
    return static_cast<std::size_t>(
        std::count_if(root_->leaves.begin(), root_->leaves.end(), [&others](const auto& leaf) {
          return std::find(others.begin(), others.end(), leaf) != others.end();
        }));
  }
  std::size_t leaf_count() const { return root_ ? root_->leaves.size() : 0; }

 private:
  using Less = std::less<>;
  using Leaves = std::vector<std::shared_ptr<Leaf>>;

  // `before` says that an entry is before the searched place.
  template <class K, class Before>
  const_iterator bound(const K& key, Before before) const {
    if (!root_) return end();
    const Leaves& leaves = root_->leaves;
    const auto leaf = std::partition_point(leaves.begin(), leaves.end(), [&](const auto& each) {
      return before(each->entries.back().first, key);
    });
    if (leaf == leaves.end()) return end();
    const std::vector<Entry>& entries = (*leaf)->entries;
    const auto at = std::partition_point(entries.begin(), entries.end(),
                                         [&](const Entry& each) { return before(each.first, key); });
    return {root_.get(), static_cast<std::size_t>(leaf - leaves.begin()),
            static_cast<std::size_t>(at - entries.begin())};
  }

  Leaves& own_leaves() {
    if (!mark_) mark_ = std::make_shared<const char>();
    if (!root_)
      root_ = std::make_shared<Root>(Root{.mark = mark_});
    else if (root_->mark != mark_)
      root_ = std::make_shared<Root>(Root{.mark = mark_, .leaves = root_->leaves});
    return root_->leaves;
  }

  Leaf& own_leaf(std::size_t number) {
    std::shared_ptr<Leaf>& leaf = own_leaves()[number];
    if (leaf->mark != mark_) leaf = std::make_shared<Leaf>(Leaf{.mark = mark_, .entries = leaf->entries});
    return *leaf;
  }

  void add_leaf(std::size_t number, std::vector<Entry> entries) {
    Leaves& leaves = own_leaves();
    leaves.insert(leaves.begin() + static_cast<std::ptrdiff_t>(number),
                  std::make_shared<Leaf>(Leaf{.mark = mark_, .entries = std::move(entries)}));
  }

  void insert(const const_iterator& before, Entry entry) {
    std::size_t number = before.leaf_;
    std::size_t at = before.at_;
    ++size_;
    const bool last = before == end();
    if (last && (number == 0 || root_->leaves[number - 1]->entries.size() == Width)) {
      // Keys that only grow fill their leaves.
      std::vector<Entry> entries;
      entries.push_back(std::move(entry));
      return add_leaf(number, std::move(entries));
    }
    if (last) at = root_->leaves[--number]->entries.size();
    if (root_->leaves[number]->entries.size() == Width) {
      split(number);
      if (at > Width / 2) {
        ++number;
        at -= Width / 2;
      }
    }
    std::vector<Entry>& entries = own_leaf(number).entries;
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(at), std::move(entry));
  }

  void split(std::size_t number) {
    std::vector<Entry>& entries = own_leaf(number).entries;
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(Width / 2);
    std::vector<Entry> upper(std::make_move_iterator(middle), std::make_move_iterator(entries.end()));
    entries.erase(middle, entries.end());
    add_leaf(number + 1, std::move(upper));
  }

  // Removes an empty leaf, and joins a small one with its successor if both are small. The map owns the leaf.
  void join(std::size_t number) {
    Leaves& leaves = own_leaves();
    std::vector<Entry>& entries = leaves[number]->entries;
    std::size_t gone = number;
    if (!entries.empty()) {
      gone = number + 1;
      if (gone == leaves.size() || entries.size() + leaves[gone]->entries.size() > Width / 2) return;
      const std::vector<Entry>& next = leaves[gone]->entries;
      entries.insert(entries.end(), next.begin(), next.end());
    }
    leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(gone));
  }

  Mark mark_;  // null: all nodes may be shared
  std::shared_ptr<Root> root_;
  std::size_t size_ = 0;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
