// SPDX-License-Identifier: Apache-2.0
// The server's objects, their changes, and their states at earlier versions: the counterpart of etcd and the
// watch cache of a real server.
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

/// One version of an object; immutable. Shared by the store, the history and all watches. apiVersion and kind
/// are not part of it: they are those of the resource through which it is read.
class Stored {
 public:
  Stored(Json body, std::uint64_t version, std::uint64_t shape = 0);

  /// Returns the document without apiVersion and kind.
  const Json& body() const;
  const Json& metadata() const { return body()["metadata"]; }
  /// Returns a copy of the document; parses it without caching the result if necessary.
  Json copy() const;
  /// Returns the members as text, without the braces: `"metadata":{...},"spec":{...}`. Formatted once.
  const std::string& text() const;
  std::uint64_t version() const { return version_; }
  /// Returns the shape that the body had when it was stored (ResourceType::shape); 0: unknown.
  std::uint64_t shape() const { return shape_; }
  const std::string& name() const { return name_; }
  const std::string& namespace_() const { return space_; }
  const std::string& uid() const { return uid_; }

  /// Keeps only the text, which takes a tenth of the memory; body() parses it again. Invalidates references
  /// from body().
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

/// The objects of one resource in all its versions, by "namespace/name" (or "name"), in the order of etcd's
/// keys.
struct Collection {
  std::string group = {};
  std::string plural = {};
  bool namespaced = true;
  std::map<std::string, StoredPtr, std::less<>> objects = {};
  std::uint64_t changed = 0;  ///< Version of the last change.

  std::string key_of(std::string_view namespace_, std::string_view name) const;
};

/// One change, with its version. `before` is null for creations, `after` for deletions.
struct Change {
  std::uint64_t version = 0;
  WallTime at = {};
  Collection* collection = nullptr;
  std::string key = {};
  StoredPtr before = {};
  StoredPtr after = {};

  /// Returns `before` with this change's version, as in DELETED events. Created once.
  const StoredPtr& departed() const;

  mutable StoredPtr departed_once = {};
};
using ChangePtr = std::shared_ptr<const Change>;

/// Thread safety: one thread at a time.
class Store {
 public:
  /// Called after each change.
  using Listener = std::function<void(const ChangePtr&)>;

  Store(std::size_t history, std::uint64_t first_version) : limit_(history), version_(first_version) {}

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// Returns the collection of a resource, created on first use. The reference stays valid.
  Collection& collection(std::string_view group, std::string_view plural, bool namespaced);
  /// Returns every existing collection, by group and plural.
  const std::map<std::pair<std::string, std::string>, Collection>& collections() const {
    return collections_;
  }

  /// Returns the object, or null.
  StoredPtr find(const Collection& collection, std::string_view key) const;
  /// Creates or replaces an object; sets metadata.resourceVersion. `shape` becomes Stored::shape().
  StoredPtr put(Collection& collection, Json body, std::uint64_t shape = 0);
  /// Removes and returns an object; null if it does not exist.
  StoredPtr erase(Collection& collection, std::string_view key);
  std::uint64_t version() const { return version_; }
  /// Sets the time of subsequent changes.
  void set_time(WallTime now) { now_ = now; }
  /// Returns the version that was current at `time`; oldest_version() if that is no longer known.
  std::uint64_t version_at(WallTime time) const;

  /// Returns the oldest version in the history: a watch or list from an older one has expired.
  std::uint64_t oldest_version() const { return oldest_; }
  /// Returns the changes after `version`, in order. `version` must not be before oldest_version().
  std::vector<ChangePtr> changes_since(std::uint64_t version) const;
  /// Returns the objects whose keys start with `prefix`, as they were at `version` (not before
  /// oldest_version()).
  std::vector<StoredPtr> snapshot(const Collection& collection, std::string_view prefix,
                                  std::uint64_t version) const;
  /// Frees the parsed documents of replaced versions. Must not be called while references into one are in
  /// use.
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
