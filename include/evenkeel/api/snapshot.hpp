// SPDX-License-Identifier: Apache-2.0
// Shared handle to an immutable object, as the client and the cache return it.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

/// Returns the name of T: "evenkeel::v0::core_v1::ConfigMap".
template <class T>
constexpr std::string_view type_name() noexcept {
  // "... [with T = A; ...]" (gcc) or "... [T = A]" (clang)
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

/// Throws std::logic_error for the dereference of an empty Snapshot.
[[noreturn]] EVENKEEL_API void refuse_empty_snapshot(std::string_view type);

}  // namespace detail

/// An object as it was read, or empty. Copies share the object; it lives as long as any of them and never
/// changes, regardless of later changes in the cache or on the server.
/// Thread safety: like std::shared_ptr<const T>; the object may be read concurrently.
template <class T>
class Snapshot {
 public:
  using element_type = T;

  Snapshot() noexcept = default;
  Snapshot(std::nullptr_t) noexcept {}
  /// `raw` is the wire form that `value` was decoded from; `keep` owns those bytes.
  explicit Snapshot(T value, std::string_view raw = {}, std::shared_ptr<const void> keep = {})
      : block_(std::make_shared<const Block>(Block{std::move(value), raw, std::move(keep)})) {}

  explicit operator bool() const noexcept { return block_ != nullptr; }
  const T* get() const noexcept { return block_ ? &block_->value : nullptr; }
  /// Both throw std::logic_error, with the name of T, on an empty snapshot.
  const T& operator*() const {
    if (block_ == nullptr) [[unlikely]]
      detail::refuse_empty_snapshot(detail::type_name<T>());
    return block_->value;
  }
  const T* operator->() const { return &**this; }

  /// Returns the wire form that the object was decoded from; empty if there was none or the cache did not
  /// keep it.
  std::string_view raw() const noexcept { return block_ ? block_->raw : std::string_view(); }

  /// Returns a pointer that shares ownership with the snapshot; null for an empty one.
  std::shared_ptr<const T> share() const noexcept {
    return block_ ? std::shared_ptr<const T>(block_, &block_->value) : nullptr;
  }
  /// Returns true if both refer to the same object in memory.
  bool same(const Snapshot& other) const noexcept { return block_ == other.block_; }

 private:
  struct Block {
    T value;
    std::string_view raw;
    std::shared_ptr<const void> keep;
  };
  std::shared_ptr<const Block> block_;
};

}  // namespace v0
}  // namespace evenkeel
