// SPDX-License-Identifier: Apache-2.0
// The server's objects, their changes, and their states at earlier versions: the counterpart of etcd and the
// watch cache of a real server.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

#include "apiserver/store/shared_map.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The form in which the body of an object is stored.
struct StoredForm {
  std::uint64_t shape = 0;   ///< ResourceType::shape when it was stored; 0: unknown.
  std::string version = {};  ///< The version of a custom kind; empty: the resource has one form for all.
};

/// One version of an object; immutable. Shared by the store, the history, all watches, and the worlds that
/// begin from one server. apiVersion and kind are not part of it: they are those of the resource through
/// which it is read. It is kept as text, which takes a tenth of the memory of the parsed document.
class Stored {
 public:
  Stored(const Json& body, std::uint64_t version, StoredForm form = {});

  /// Returns the document without apiVersion and kind, parsed; see also ParsedBodies.
  Json document() const;
  /// Returns a copy of the value at a path of members, "metadata.labels"; null if there is none. Parses
  /// nothing else.
  Json part(std::string_view path) const;
  /// Returns a copy of the label; null if it is absent.
  Json label(std::string_view name) const;
  /// Returns metadata.ownerReferences, and the same as text, empty if there are none.
  Json owners() const;
  std::string_view owners_text() const { return view(owners_); }
  /// Returns true if metadata.deletionTimestamp is set.
  bool is_deleting() const { return deleting_; }
  /// Returns the members as text, without the braces: `"metadata":{...},"spec":{...}`.
  const std::string& text() const { return text_; }
  std::uint64_t version() const { return version_; }
  const StoredForm& form() const { return form_; }
  const std::string& name() const { return name_; }
  const std::string& namespace_() const { return space_; }
  const std::string& uid() const { return uid_; }
  /// Returns the same document with another resourceVersion and `version`.
  std::shared_ptr<const Stored> with_version(std::uint64_t version) const;

 private:
  /// A part of the text.
  struct Part {
    std::uint32_t at = 0;
    std::uint32_t size = 0;
  };
  std::string_view view(const Part& part) const { return std::string_view(text_).substr(part.at, part.size); }
  void write_text(const Json& body);
  void write_metadata(const Json::Object& metadata);
  void begin_member(std::string_view name);

  const std::uint64_t version_;
  const StoredForm form_;
  std::string name_;
  std::string space_;
  std::string uid_;
  std::string text_;
  std::uint32_t rest_ = 0;  // of the members after metadata
  Part labels_;             // within their braces
  Part owners_;
  bool deleting_ = false;
};
using StoredPtr = std::shared_ptr<const Stored>;

/// The parsed documents that a store keeps beside its objects: those of the last `limit` bytes of text that
/// were parsed.
/// Thread safety: one thread at a time.
class ParsedBodies {
 public:
  explicit ParsedBodies(std::size_t limit) : limit_(limit) {}

  /// Returns the document of an object, parsed unless it was of late. The reference is valid until trim().
  const Json& body(const StoredPtr& object);
  /// Adds an object that was made from `body`.
  void add(StoredPtr object, Json body);
  bool contains(const StoredPtr& object) const { return bodies_.contains(object); }
  /// Frees the oldest documents above the limit, and thereby invalidates references into them.
  void trim();

 private:
  const std::size_t limit_;
  std::size_t bytes_ = 0;
  std::unordered_map<StoredPtr, Json> bodies_;
  std::deque<StoredPtr> order_;
};

/// The names of a resource in all its versions.
struct CollectionName {
  std::string group = {};
  std::string plural = {};
  auto operator<=>(const CollectionName&) const = default;
};

/// The number of a collection in its store, and in every store that begins from a state of this one.
struct CollectionId {
  std::uint32_t value = 0;
  auto operator<=>(const CollectionId&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

using ObjectMap = SharedMap<std::string, StoredPtr>;

/// The objects of one resource in all its versions, by "namespace/name" (or "name"), in the order of etcd's
/// keys.
struct Collection {
  CollectionId id = {};
  std::shared_ptr<const CollectionName> names = {};
  bool namespaced = true;
  ObjectMap objects = {};
  std::uint64_t changed = 0;  ///< Version of the last change.

  const std::string& group() const { return names->group; }
  const std::string& plural() const { return names->plural; }
  std::string key_of(std::string_view namespace_, std::string_view name) const;
};

/// One change, with its version; immutable, except for a memo. `before` is null for creations, `after` for
/// deletions.
class Change {
 public:
  std::uint64_t version = 0;
  WallTime at = {};
  CollectionId collection = {};
  std::string key = {};
  StoredPtr before = {};
  StoredPtr after = {};

  Change() = default;
  ~Change() { delete departed_.load(std::memory_order_acquire); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  /// Returns `before` with this change's version, as in DELETED events. Created once; several threads may ask
  /// for it.
  const StoredPtr& departed() const;

 private:
  mutable std::atomic<const StoredPtr*> departed_ = nullptr;
};
using ChangePtr = std::shared_ptr<const Change>;

/// Leaves are large, as all changes are at the end.
using History = SharedMap<std::uint64_t, ChangePtr, 64>;

/// The content of a store at one time; immutable.
struct FrozenStore {
  /// Like Collection.
  struct Part {
    std::shared_ptr<const CollectionName> names = {};
    bool namespaced = true;
    ObjectMap::Frozen objects = {};
    std::uint64_t changed = 0;
  };
  std::size_t limit = 0;
  std::uint64_t version = 0;
  std::uint64_t oldest = 0;
  WallTime now = {};
  std::vector<Part> collections = {};  ///< By id.
  SharedMap<CollectionName, CollectionId>::Frozen ids = {};
  History::Frozen history = {};
};

/// Thread safety: one thread at a time. Stores that began from one another may be on different threads.
class Store {
 public:
  /// Called after each change.
  using Listener = std::function<void(const ChangePtr&)>;

  Store(std::size_t history, std::uint64_t first_version)
      : limit_(history), version_(first_version), oldest_(first_version) {}
  /// Begins with a content, in time proportional to the number of collections. There are no listeners.
  explicit Store(const FrozenStore& from);

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// Returns the present content, in time proportional to the number of collections.
  FrozenStore freeze();
  /// Returns the collection of a resource, created on first use. The reference stays valid.
  Collection& collection(std::string_view group, std::string_view plural, bool namespaced);
  Collection& at(CollectionId id) { return collections_[id.value]; }
  const Collection& at(CollectionId id) const { return collections_[id.value]; }
  /// Returns every existing collection, by group and plural.
  std::vector<CollectionId> collections() const;

  /// Returns the object, or null.
  StoredPtr find(const Collection& collection, std::string_view key) const;
  /// Returns the object's document without apiVersion and kind; parsed unless it was of late. References are
  /// valid until shrink().
  const Json& body(const StoredPtr& object) { return parsed_.body(object); }
  const Json& metadata(const StoredPtr& object) { return body(object)["metadata"]; }
  /// Creates or replaces an object; sets metadata.resourceVersion. `form` becomes Stored::form().
  StoredPtr put(Collection& collection, Json body, StoredForm form = {});
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
  /// Frees parsed documents. Must not be called while references into one are in use.
  void shrink() { parsed_.trim(); }

 private:
  void record(Collection& collection, const std::shared_ptr<Change>& change);

  const std::size_t limit_;
  std::uint64_t version_;
  std::uint64_t oldest_;
  WallTime now_ = {};
  std::deque<Collection> collections_;  // by id
  SharedMap<CollectionName, CollectionId> ids_;
  History history_;  // by version
  /// 256 KiB of text are about 2 MiB of documents.
  ParsedBodies parsed_{std::size_t{256} << 10};
  std::vector<Listener> listeners_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
