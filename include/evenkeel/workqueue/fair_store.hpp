// SPDX-License-Identifier: Apache-2.0
// Fair sharing of workers among groups of keys, so that a busy namespace, tenant or cluster does not starve
// the others.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <evenkeel/workqueue/detail/fair_groups.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// Groups by namespace: the key's namespace_ or namespace_(), or the part of a string before the first '/'.
struct ByNamespace {
  template <class Key>
  std::string_view operator()(const Key& key) const {
    if constexpr (std::convertible_to<const Key&, std::string_view>) {
      const std::string_view text = key;
      const std::size_t slash = text.find('/');
      return slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
    } else if constexpr (requires { key.namespace_(); }) {
      return key.namespace_();
    } else {
      return key.namespace_;
    }
  }
};
inline ByNamespace by_namespace() {
  return {};
}

/// Groups by cluster, for controllers that serve several.
struct ByCluster {
  template <class Key>
  std::string_view operator()(const Key& key) const {
    return key.cluster();
  }
};
inline ByCluster by_cluster() {
  return {};
}

/// Type of the group names that `GroupOf` produces: std::string for anything that converts to
/// std::string_view, the type itself for anything else, which then needs std::hash and ==.
template <class Key, class GroupOf>
using GroupName = std::conditional_t<
    std::convertible_to<std::invoke_result_t<const GroupOf&, const Key&>, std::string_view>, std::string,
    std::remove_cvref_t<std::invoke_result_t<const GroupOf&, const Key&>>>;

/// Returns a function for FairStoreOptions::weight_of with these weights, and `otherwise` for all other
/// groups. Throws std::invalid_argument if a weight is 0.
inline std::function<std::uint32_t(const std::string&)> fixed_weights(
    std::map<std::string, std::uint32_t> weights, std::uint32_t otherwise = 1) {
  bool valid = otherwise != 0;
  for (const auto& [group, weight] : weights) valid = valid && weight != 0;
  if (!valid) throw std::invalid_argument("fixed_weights: a weight must be at least 1");
  return [weights = std::move(weights), otherwise](const std::string& group) {
    const auto found = weights.find(group);
    return found == weights.end() ? otherwise : found->second;
  };
}

/// Groups of keys take turns (deficit round robin, each key costing 1): on its turn a group hands out as many
/// keys as its weight, or all that it has, and moves behind the other groups. So with n groups of weight 1 a
/// key waits for at most n - 1 keys of other groups per key of its own group ahead of it, no matter how many
/// keys the other groups have. Within a group a PriorityStore decides. A cap limits how many keys of a group
/// workers hold at once, so that a group of slow keys does not occupy all workers.
///
/// `group_of(key)` returns the group. It is called under the queue's lock, must not throw, and must return
/// the same group for a key while the queue knows the key. Complexity: constant for a few priorities, see
/// PriorityStore; idle groups cost nothing. Does not allocate for groups and priorities seen before, if at
/// most 1,024 groups recur. Source: Shreedhar and Varghese, Efficient Fair Queuing using Deficit Round Robin,
/// 1995.
template <class Key, class GroupOf = ByNamespace>
requires std::invocable<const GroupOf&, const Key&>
class FairStore {
 public:
  using Group = GroupName<Key, GroupOf>;
  using Options = FairStoreOptions<Group>;
  static constexpr bool touch_needs_raise = true;

  explicit FairStore(GroupOf group_of = GroupOf(), Options options = {})
      : group_of_(std::move(group_of)),
        groups_(std::make_unique<detail::FairGroups<Group>>(std::move(options))) {}

  void push(QueueNode<Key>& node) { groups_->push(group_of_(node.key()), node); }
  QueueNode<Key>& pop() { return static_cast<QueueNode<Key>&>(groups_->pop()); }
  void unpop(QueueNode<Key>& node) { groups_->unpop(group_of_(node.key())); }
  void touch(QueueNode<Key>& node, std::uint64_t place) {
    groups_->touch(group_of_(node.key()), node, place);
  }
  void done(QueueNode<Key>& node) { groups_->done(group_of_(node.key())); }
  /// Returns false if every group that has keys is at its cap.
  bool can_pop() const { return groups_->can_pop(); }

  std::size_t size() const { return groups_->size(); }
  /// Returns the number of keys of one group in the store.
  std::size_t size_of(const Group& group) const { return groups_->size(group); }
  /// Number of groups that have keys in the store or, if there are caps, held by workers.
  std::size_t groups() const { return groups_->groups(); }
  /// Returns the group of a key; empty if groups are neither strings nor numbers.
  std::string lane(const QueueNode<Key>& node) const {
    if constexpr (std::is_same_v<Group, std::string>) {
      return std::string(std::string_view(group_of_(node.key())));
    } else if constexpr (std::is_arithmetic_v<Group>) {
      return std::to_string(group_of_(node.key()));
    } else {
      return {};
    }
  }

 private:
  GroupOf group_of_;
  std::unique_ptr<detail::FairGroups<Group>> groups_;  // makes the store movable
};

/// Returns a FairStore for keys of type Key with the groups of `group_of`.
template <class Key, class GroupOf>
FairStore<Key, GroupOf> fair_store(GroupOf group_of, FairStoreOptions<GroupName<Key, GroupOf>> options = {}) {
  return FairStore<Key, GroupOf>(std::move(group_of), std::move(options));
}

}  // namespace v0
}  // namespace evenkeel
