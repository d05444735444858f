// SPDX-License-Identifier: Apache-2.0
// The memory layout of a WireObject: header, tables of offsets, then text. One allocation, freed by the last
// handle.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A range of text in the block: offset from the block's first byte, and size.
struct WirePlace {
  std::uint32_t at = 0;
  std::uint32_t size = 0;
};

struct WirePairPlaces {
  WirePlace name;
  WirePlace value;
};

struct WireOwnerPlaces {
  WirePlace api_version;
  WirePlace kind;
  WirePlace name;
  WirePlace uid;
  std::uint32_t controller = 0;
};

class ObjectDictionary;
struct ProjectedParts;

/// The members of a block but its count.
struct WireFields {
  std::uint32_t bytes = 0;         // size of the whole block
  std::uint32_t expanded_raw = 0;  // size of the JSON if `raw` is compressed, else 0
  union {
    ObjectDictionary* dictionary = nullptr;  // counted by the block; null: none is needed
    const ProjectedParts* projected;         // if is_projected: the parts of the object in its JSON
  };
  std::int64_t generation = 0;
  WirePlace api_version;
  WirePlace kind;
  WirePlace namespace_;
  WirePlace name;
  WirePlace uid;
  WirePlace resource_version;
  WirePlace raw;
  std::uint32_t label_count = 0;
  std::uint32_t annotation_count = 0;
  std::uint32_t owner_count = 0;
  bool being_deleted = false;
  bool has_json = false;
  bool is_projected = false;
};

/// Followed in memory by label_count + annotation_count WirePairPlaces, owner_count WireOwnerPlaces, strings
/// that are escaped in the JSON (all, if it is compressed), and the JSON.
struct WireBlock : WireFields {
  std::atomic<std::uint32_t> handles{1};

  std::string_view text(WirePlace place) const noexcept {
    return {reinterpret_cast<const char*>(this) + place.at, place.size};
  }
  const WirePairPlaces* pairs() const noexcept { return reinterpret_cast<const WirePairPlaces*>(this + 1); }
  const WireOwnerPlaces* owners() const noexcept {
    return reinterpret_cast<const WireOwnerPlaces*>(pairs() + label_count + annotation_count);
  }
};

static_assert(alignof(WirePairPlaces) <= alignof(WireBlock) &&
              alignof(WireOwnerPlaces) <= alignof(WirePairPlaces));

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
