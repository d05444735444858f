// SPDX-License-Identifier: Apache-2.0
// The compressed form of wire objects: their memory, and the dictionaries that it refers to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <zstd.h>

#include <evenkeel/cache/detail/object_tree.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A zstd dictionary, prepared for both directions. Lives as long as an object that was compressed with it.
/// Thread safety: immutable.
class ObjectDictionary {
 public:
  /// Throws Error if there is no memory.
  ObjectDictionary(std::string_view text, int compression_level);
  ~ObjectDictionary();
  ObjectDictionary(const ObjectDictionary&) = delete;
  ObjectDictionary& operator=(const ObjectDictionary&) = delete;

  const ZSTD_CDict* compressing() const noexcept { return compressing_; }
  const ZSTD_DDict* expanding() const noexcept { return expanding_; }

  std::atomic<std::uint32_t> handles{1};  // of Counted, and of blocks

 private:
  ZSTD_CDict* const compressing_;
  ZSTD_DDict* const expanding_;
};

/// Drops the reference of a block.
void release(ObjectDictionary* dictionary) noexcept;

/// Makes blocks in and from the compressed form.
struct WirePacking {
  /// Returns `whole` with `compressed` in place of its JSON.
  static WireObject compress(const WireObject& whole, std::string_view compressed,
                             const Counted<ObjectDictionary>& dictionary);
  /// Throws Error if there is no memory.
  static WireObject expand(const WireObject& compressed);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
