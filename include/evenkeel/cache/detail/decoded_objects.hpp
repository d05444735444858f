// SPDX-License-Identifier: Apache-2.0
// The decoded form of objects that were read lately.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A bounded table of decoded objects: reading an object again neither decodes nor copies it.
/// It has two generations; what is not read while the newer one fills up is forgotten with the older one. An
/// entry keeps its wire object, so a state that the store has replaced lives until then.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API DecodedObjects {
 public:
  /// Bounds the JSON of the objects remembered; their decoded form takes about as much again, or twice as
  /// much. Zero: nothing is remembered.
  explicit DecodedObjects(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Like WireObject::decode().
  template <class T>
  Snapshot<T> decode(const WireObject& object) {
    if (!fits(object)) return object.decode<T>();
    const Key key{object.name().data(), &type_tag<T>};
    if (const auto known = find(key)) return *static_cast<const Snapshot<T>*>(known.get());
    const Snapshot<T> decoded = object.decode<T>();
    put(key, {object, std::make_shared<const Snapshot<T>>(decoded), object.json_bytes()});
    return decoded;
  }

  /// Returns the JSON bytes of what is remembered.
  std::size_t bytes() const EVENKEEL_EXCLUDES(mutex_);

 private:
  template <class T>
  static constexpr char type_tag = 0;  // its address stands for T

  struct Key {
    const void* object;  // the first byte of its name
    const void* type;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<const void*>{}(key.object) * 31 + std::hash<const void*>{}(key.type);
    }
  };
  struct Entry {
    WireObject object = {};  // keeps the address in the key taken, also if the decoded form does not
    std::shared_ptr<const void> snapshot = {};
    std::size_t bytes = 0;
  };
  struct Generation {
    std::unordered_map<Key, Entry, KeyHash> entries;
    std::size_t bytes = 0;
  };

  bool fits(const WireObject& object) const noexcept {
    return object && object.form() != WireForm::metadata_only && object.json_bytes() <= max_bytes_ / 2;
  }
  std::shared_ptr<const void> find(const Key& key) EVENKEEL_EXCLUDES(mutex_);
  void put(const Key& key, Entry entry) EVENKEEL_EXCLUDES(mutex_);
  Generation add(const Key& key, Entry entry) EVENKEEL_REQUIRES(mutex_);

  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  Generation newer_ EVENKEEL_GUARDED_BY(mutex_);
  Generation older_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
