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

class Stored;

/// The parsed documents that stored objects keep beside their text: those of the last `limit` bytes of text
/// that were parsed.
/// Thread safety: none; shared by a store and its objects.
class ParsedBodies {
 public:
  explicit ParsedBodies(std::size_t limit) : limit_(limit) {}

  /// Adds an object that has just parsed its text, or was made from a document.
  void add(const Stored& object);
  /// Frees the oldest documents above the limit, and thereby invalidates references into them.
  void trim();

 private:
  struct Entry {
    std::weak_ptr<const Stored> object;
    std::size_t bytes;
  };

  const std::size_t limit_;
  std::size_t bytes_ = 0;
  std::deque<Entry> entries_;
};

/// One version of an object; immutable. Shared by the store, the history and all watches. apiVersion and kind
/// are not part of it: they are those of the resource through which it is read. It is kept as text, which
/// takes a tenth of the memory of the parsed document.
class Stored : public std::enable_shared_from_this<Stored> {
 public:
  /// Returns an object whose parsed document is one of `parsed`.
  static std::shared_ptr<const Stored> make(Json body, std::uint64_t version, std::uint64_t shape,
                                            std::shared_ptr<ParsedBodies> parsed);
  /// Used by make().
  Stored(Json body, std::uint64_t version, std::uint64_t shape, std::shared_ptr<ParsedBodies> parsed);

  /// Returns the document without apiVersion and kind; parsed unless it was of late. References are valid
  /// until ParsedBodies::trim().
  const Json& body() const;
  const Json& metadata() const { return body()["metadata"]; }
  bool is_parsed() const { return body_ != nullptr; }
  /// Returns a copy of the document; the result of a parse is not kept.
  Json copy() const;
  /// Returns a copy of the value at a path of members, "metadata.labels"; null if there is none. Parses
  /// nothing else.
  Json part(std::string_view path) const;
  /// Returns a copy of the label; null if it is absent.
  Json label(std::string_view name) const;
  /// Returns the members as text, without the braces: `"metadata":{...},"spec":{...}`.
  const std::string& text() const { return text_; }
  std::uint64_t version() const { return version_; }
  /// Returns the shape that the body had when it was stored (ResourceType::shape); 0: unknown.
  std::uint64_t shape() const { return shape_; }
  const std::string& name() const { return name_; }
  const std::string& namespace_() const { return space_; }
  const std::string& uid() const { return uid_; }
  /// Returns the same document with another resourceVersion and `version`.
  std::shared_ptr<const Stored> with_version(std::uint64_t version) const;

 private:
  friend class ParsedBodies;
  void write_text();
  void write_metadata(const Json::Object& metadata);
  void begin_member(std::string_view name);

  const std::uint64_t version_;
  const std::uint64_t shape_;
  std::string name_;
  std::string space_;
  std::string uid_;
  std::string text_;
  /// Positions in the text: of the members after metadata, and of the labels within their braces.
  std::uint32_t rest_ = 0;
  std::uint32_t labels_ = 0;
  std::uint32_t labels_size_ = 0;
  const std::shared_ptr<ParsedBodies> parsed_;
  mutable std::unique_ptr<const Json> body_;
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
  /// Frees parsed documents. Must not be called while references into one are in use.
  void shrink() { parsed_->trim(); }

 private:
  void record(Collection& collection, Change change);
  std::deque<ChangePtr>::const_iterator after(std::uint64_t version) const;

  const std::size_t limit_;
  std::uint64_t version_;
  std::uint64_t oldest_ = version_;
  WallTime now_ = {};
  std::map<std::pair<std::string, std::string>, Collection> collections_;
  std::deque<ChangePtr> history_;
  /// 256 KiB of text are about 2 MiB of documents.
  const std::shared_ptr<ParsedBodies> parsed_ = std::make_shared<ParsedBodies>(std::size_t{256} << 10);
  std::vector<Listener> listeners_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
