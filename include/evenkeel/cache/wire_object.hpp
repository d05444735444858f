// SPDX-License-Identifier: Apache-2.0
// An object as caches keep it: its JSON as received, without managedFields, preceded by the offsets of
// frequently used fields, in one block of memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/suspender.hpp>
#include <evenkeel/cache/projection.hpp>
#include <evenkeel/client/errors.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
struct WireBlock;
struct WireBuilder;
struct WirePacking;

/// A range over items of a block: labels, annotations or owners. Equal if the items are equal in the same
/// order (API servers sort labels and annotations by name). Valid as long as the object.
template <class Item, Item (*At)(const WireBlock*, std::size_t)>
class WireRange {
 public:
  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using reference = Item;
    using pointer = void;
    Iterator() = default;
    Iterator(const WireBlock* block, std::size_t at) : block_(block), at_(at) {}
    Item operator*() const { return At(block_, at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const WireBlock* block_ = nullptr;
    std::size_t at_ = 0;
  };

  using value_type = Item;
  using const_iterator = Iterator;
  using iterator = Iterator;

  WireRange(const WireBlock* block, std::size_t first, std::size_t size)
      : block_(block), first_(first), size_(size) {}
  Iterator begin() const { return {block_, first_}; }
  Iterator end() const { return {block_, first_ + size_}; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Item operator[](std::size_t at) const { return At(block_, first_ + at); }
  bool operator==(const WireRange& other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!((*this)[i] == other[i])) return false;
    }
    return true;
  }

 private:
  const WireBlock* block_;
  std::size_t first_;
  std::size_t size_;
};

using WirePair = std::pair<std::string_view, std::string_view>;
EVENKEEL_API WirePair wire_pair(const WireBlock* block, std::size_t at);
}  // namespace detail

/// One of an object's owner references. The views live as long as the object.
struct WireOwner {
  std::string_view api_version = {};
  std::string_view kind = {};
  std::string_view name = {};
  std::string_view uid = {};
  bool controller = false;

  bool operator==(const WireOwner&) const = default;
  /// "apps" of "apps/v1", "" of "v1".
  std::string_view group() const {
    const std::size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  }
};

namespace detail {
EVENKEEL_API WireOwner wire_owner(const WireBlock* block, std::size_t at);
}

/// Selects the parts of an object that are kept.
enum class WireForm : std::uint8_t {
  whole,          ///< The JSON without managedFields, and offsets of its metadata.
  metadata_only,  ///< Names, labels, annotations, owners and so on; no JSON.
  /// Like whole, but the JSON is compressed, with a dictionary made of the first objects of the collection.
  /// A read expands the object. Pods take between a third and a quarter of the memory of whole ones;
  /// docs/cache.md has the figures.
  compressed,
  /// Like whole, with those members of the JSON only that a described struct has; see Projection. The others
  /// are skipped while an object arrives.
  projected,
};

/// A reference-counted handle to an immutable object in wire form; may be empty. Copies share the block. All
/// views that it returns live as long as any handle to the same block.
/// Accessors other than operator bool, == and bytes() require a non-empty handle.
/// Thread safety: that of std::shared_ptr: handles are values, the block may be shared by threads.
class EVENKEEL_API WireObject {
 public:
  using Pairs = detail::WireRange<detail::WirePair, detail::wire_pair>;
  using Owners = detail::WireRange<WireOwner, detail::wire_owner>;

  WireObject() noexcept = default;
  WireObject(const WireObject& other) noexcept;
  WireObject(WireObject&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  WireObject& operator=(const WireObject& other) noexcept;
  WireObject& operator=(WireObject&& other) noexcept;
  ~WireObject();

  explicit operator bool() const noexcept { return block_ != nullptr; }
  /// Returns true if both refer to the same block or both are empty; contents are not compared.
  bool operator==(const WireObject& other) const noexcept { return block_ == other.block_; }

  std::string_view api_version() const noexcept;
  std::string_view kind() const noexcept;
  std::string_view namespace_() const noexcept;
  std::string_view name() const noexcept;
  std::string_view uid() const noexcept;
  std::string_view resource_version() const noexcept;
  std::int64_t generation() const noexcept;
  bool is_being_deleted() const noexcept;  ///< Returns true if a deletionTimestamp is set.
  ObjectKey key() const;

  Pairs labels() const noexcept;
  Pairs annotations() const noexcept;
  Owners owners() const noexcept;
  /// Returns the value of a label, or std::nullopt.
  std::optional<std::string_view> label(std::string_view name) const noexcept;
  std::optional<std::string_view> annotation(std::string_view name) const noexcept;

  WireForm form() const noexcept;
  /// The JSON without metadata.managedFields, with apiVersion and kind; the kept members of it if projected;
  /// empty if metadata only or compressed.
  std::string_view raw() const noexcept;
  /// Returns the size of the JSON, also if it is compressed; 0 if metadata only.
  std::size_t json_bytes() const noexcept;
  /// Returns the object with its JSON, for raw(): itself, or a new one if it is compressed.
  WireObject expanded() const;
  /// Decodes the object as a T: a described type, DynamicObject, or PartialObject, the only possibility for a
  /// metadata-only object. The snapshot keeps the wire form alive. Empty for an empty handle.
  /// Throws DecodeError naming object and field; std::invalid_argument if T needs parts that were not kept:
  /// a DynamicObject needs them all.
  /// On a fiber it uses the stack of the thread: what a fiber has used stays in memory while it waits.
  template <class T>
  Snapshot<T> decode() const;
  /// Returns "Pod default/web-0", for messages.
  std::string what() const;
  /// Returns the memory in use, in bytes; 0 for an empty handle.
  std::size_t bytes() const noexcept;

 private:
  friend struct detail::WireBuilder;
  friend struct detail::WirePacking;
  explicit WireObject(detail::WireBlock* block) noexcept : block_(block) {}
  template <class T>
  Snapshot<T> decode_here() const;
  void require(const TypeInfo& type) const;
  void require_whole() const;

  detail::WireBlock* block_ = nullptr;
};

namespace detail {
EVENKEEL_API PartialObject partial_object(const WireObject& object);
[[noreturn]] EVENKEEL_API void refuse_metadata_only(const WireObject& object);
}  // namespace detail

template <class T>
Snapshot<T> WireObject::decode() const {
  if (block_ == nullptr) return {};
  return detail::on_thread_stack([this] { return decode_here<T>(); });
}

template <class T>
Snapshot<T> WireObject::decode_here() const {
  if constexpr (std::is_same_v<T, PartialObject>) {
    return Snapshot<T>(detail::partial_object(*this));
  } else {
    if constexpr (std::is_same_v<T, DynamicObject>)
      require_whole();
    else
      require(type_info<T>());
    auto keep = std::make_shared<const WireObject>(expanded());
    const std::string_view json = keep->raw();
    if constexpr (std::is_same_v<T, DynamicObject>) {
      return Snapshot<T>(DynamicObject(Json::parse(json, what())), json, std::move(keep));
    } else {
      return Snapshot<T>(from_json<T>(json, what()), json, std::move(keep));
    }
  }
}

/// Compares resourceVersions: by number if both are numbers; equal if their text is equal; otherwise
/// std::nullopt, as they cannot be ordered. Only versions of the same kind may be compared.
/// Source: KEP-5504 (decimal numbers without leading zeros, of any length).
EVENKEEL_API std::optional<std::strong_ordering> compare_resource_versions(std::string_view left,
                                                                           std::string_view right) noexcept;

enum class WatchType : std::uint8_t { added, modified, deleted, bookmark, error };

/// One frame of a watch.
struct WireEvent {
  WatchType type = WatchType::added;
  WireObject object = {};  ///< Empty for errors; metadata only for bookmarks.
  Status error = {};       ///< For errors.
};

struct WireScannerOptions {
  WireForm form = WireForm::whole;  ///< Compressed is as whole: compression takes more than one object.
  Projection projection = {};       ///< For WireForm::projected.
  /// Used if an item has no apiVersion or kind (in lists of built-in kinds), and for metadata-only objects.
  std::string api_version = {};
  std::string kind = {};
  /// Changes the JSON of each object before it is read, if set; returns the JSON to read.
  std::function<std::string(std::string_view json)> transform = {};
};

/// Makes wire objects from JSON text. Reuses its working memory between calls.
/// Thread safety: one thread at a time.
class EVENKEEL_API WireScanner {
 public:
  explicit WireScanner(WireScannerOptions options = {});
  ~WireScanner();
  WireScanner(WireScanner&&) noexcept;
  WireScanner& operator=(WireScanner&&) noexcept;

  /// Reads one object. Throws DecodeError, naming the object if possible, if the text is not an object with a
  /// metadata.name.
  WireObject object(std::string_view text);
  /// Reads one frame of a watch. Throws DecodeError like object().
  WireEvent event(std::string_view frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
