// SPDX-License-Identifier: Apache-2.0
// Deletes dependents after their owners. Source: kube-controller-manager's garbage collector.
#pragma once

#include <compare>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

class Registry;
struct Storage;

/// Updates an index of owners on every change, and processes it in run(). For objects without owner
/// references, the index costs only their uid.
class GarbageCollector {
 public:
  /// The index and the queue at one time; immutable.
  class Frozen;

  GarbageCollector() = default;
  explicit GarbageCollector(const Frozen& from);
  Frozen freeze();
  void observe(const Storage& storage, const Change& change);
  bool has_work() const { return !queue_.empty(); }
  /// Runs until no work is left.
  void run(Storage& storage, WallTime now);

 private:
  struct Place {
    CollectionId collection = {};
    std::string key = {};
    auto operator<=>(const Place&) const = default;
  };
  enum class Standing : std::uint8_t { absent, present, waits_for_dependents };

  /// Returns true if the scopes permit it: an owner is in the same namespace or in none.
  static bool may_own(const Store& store, const Place& owner, const Place& dependent);
  static std::string_view space_of(const Store& store, const Place& place);
  void link(const Place& place, const Stored& object);
  void unlink(const Place& place, const Stored& object);
  void enqueue_if_ownerless(const Store& store, const Place& place, const Json& owners);
  /// Enqueues a dependent whose reference gives the uid of an object with another kind or name.
  void enqueue_if_misnamed(const Registry& registry, const Place& place, const Json& owners);
  void enqueue(const Place& place);
  void enqueue_dependents(std::string_view uid);
  std::vector<Place> dependents(std::string_view uid) const;
  bool has_dependents(std::string_view uid) const;

  void visit(Storage& storage, const Place& place, WallTime now);
  void visit_deleting(Storage& storage, const Place& place, const StoredPtr& object, WallTime now);
  /// Returns true if a dependent of the object, which one of its owners waits for, waits for its own
  /// dependents: they may wait for each other. Source: garbagecollector.go attemptToDeleteItem.
  bool may_be_in_cycle(const Store& store, const Stored& object) const;
  void orphan_dependents(Storage& storage, const Stored& owner, WallTime now);
  static Standing standing(Storage& storage, const Json& reference, const Stored& dependent);

  /// A dependent, after the uid of its owner.
  using Dependence = std::pair<std::string, Place>;
  struct Nothing {};

  SharedMap<std::string, Place> by_uid_;
  SharedMap<Dependence, Nothing> dependents_;
  std::deque<Place> queue_;
  std::set<Place> queued_;
};

class GarbageCollector::Frozen {
  friend class GarbageCollector;
  SharedMap<std::string, Place>::Frozen by_uid_;
  SharedMap<Dependence, Nothing>::Frozen dependents_;
  std::deque<Place> queue_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
