// SPDX-License-Identifier: Apache-2.0
// The objects of the embedded server, what became of them, and how they were at an earlier version: what etcd
// and the watch cache are for a real one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// One version of an object. Shared by the store, the history and all watches; never changes.
/// apiVersion and kind are not part of it: they are those of the resource that it is read through.
class Stored {
 public:
  Stored(Json body, std::uint64_t version, std::uint64_t shape = 0);

  /// The document without apiVersion and kind.
  const Json& body() const;
  const Json& metadata() const { return body()["metadata"]; }
  /// A copy of it; reads it again without keeping what it read.
  Json copy() const;
  /// Its members as text, without the braces: `"metadata":{...},"spec":{...}`. Written once.
  const std::string& text() const;
  std::uint64_t version() const { return version_; }
  /// Which shape the body was known to have when it was stored (ResourceType::shape); 0: none.
  std::uint64_t shape() const { return shape_; }
  const std::string& name() const { return name_; }
  const std::string& namespace_() const { return space_; }
  const std::string& uid() const { return uid_; }

  /// Keeps the text only, a tenth of the memory; body() reads it again. References from body() end.
  void shrink() const;

 private:
  std::uint64_t version_;
  std::uint64_t shape_;
  std::string name_;
  std::string space_;
  std::string uid_;
  mutable std::optional<Json> body_;
  mutable std::string text_;
};
using StoredPtr = std::shared_ptr<const Stored>;

/// Objects of one resource in all its versions, by "namespace/name" (or "name"), in the order of etcd's keys.
struct Collection {
  std::string group = {};
  std::string plural = {};
  bool namespaced = true;
  std::map<std::string, StoredPtr, std::less<>> objects = {};
  std::uint64_t changed = 0;  ///< Version of its last change.

  std::string key_of(std::string_view namespace_, std::string_view name) const;
};

/// What happened at one version. `before` is null for creations, `after` for deletions.
struct Change {
  std::uint64_t version = 0;
  WallTime at = {};
  Collection* collection = nullptr;
  std::string key = {};
  StoredPtr before = {};
  StoredPtr after = {};

  /// `before` with this change's version: what DELETED events carry. Made once.
  const StoredPtr& departed() const;

  mutable StoredPtr departed_once = {};
};
using ChangePtr = std::shared_ptr<const Change>;

/// Thread safety: one thread at a time.
class Store {
 public:
  /// Called for each change after it is made.
  using Listener = std::function<void(const ChangePtr&)>;

  Store(std::size_t history, std::uint64_t first_version) : limit_(history), version_(first_version) {}

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// The collection of a resource, made when first asked for. The reference stays valid.
  Collection& collection(std::string_view group, std::string_view plural, bool namespaced);
  /// Every collection there is, by group and plural.
  const std::map<std::pair<std::string, std::string>, Collection>& collections() const {
    return collections_;
  }

  /// The object, or null.
  StoredPtr find(const Collection& collection, std::string_view key) const;
  /// Creates or replaces; sets metadata.resourceVersion. `shape` is what Stored::shape() will tell.
  StoredPtr put(Collection& collection, Json body, std::uint64_t shape = 0);
  /// Removes and returns what was there; null if nothing was.
  StoredPtr erase(Collection& collection, std::string_view key);
  std::uint64_t version() const { return version_; }
  /// The time of the changes to come.
  void set_time(WallTime now) { now_ = now; }
  /// The version that was current at `time`; oldest_version() if that is forgotten.
  std::uint64_t version_at(WallTime time) const;

  /// Versions before this are forgotten: a watch or list from them has expired.
  std::uint64_t oldest_version() const { return oldest_; }
  /// Changes after `version`, in order. `version` must not be before oldest_version().
  std::vector<ChangePtr> changes_since(std::uint64_t version) const;
  /// Objects whose key starts with `prefix`, as they were at `version` (not before oldest_version()).
  std::vector<StoredPtr> snapshot(const Collection& collection, std::string_view prefix,
                                  std::uint64_t version) const;
  /// Frees what replaced versions hold beside their text. Call while nobody holds a reference into one.
  void shrink();

 private:
  void record(Collection& collection, Change change);
  std::deque<ChangePtr>::const_iterator after(std::uint64_t version) const;

  const std::size_t limit_;
  std::uint64_t version_;
  std::uint64_t oldest_ = version_;
  WallTime now_ = {};
  std::map<std::pair<std::string, std::string>, Collection> collections_;
  std::deque<ChangePtr> history_;
  std::vector<StoredPtr> replaced_;
  std::vector<Listener> listeners_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
