// SPDX-License-Identifier: Apache-2.0
// @file The division of keys into slots, the units of sharding that replicas own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

/// Number of a part of the key space, from 0.
using Slot = std::uint32_t;

/// Part of a key that determines its slot.
enum class ShardBy : std::uint8_t {
  object,      ///< Namespace and name: an even division.
  namespace_,  ///< The namespace, so that one replica has all objects of it; the name of a cluster-scoped
               ///< one.
  /// By namespace, with each slot a contiguous range of hashes, so that a server can select the objects of a
  /// replica and its caches need not hold those of others (docs/sharding.md).
  namespace_range,
};

/// Returns the slot of a key. Stable across versions, processes and machines, because replicas must agree:
/// FNV-1a of "namespace/name" (or of the part that `by` selects), mixed by MurmurHash3's fmix64, modulo
/// `slots`. With ShardBy::namespace_range it is the range that contains the hash of the namespace; this
/// function assumes equal ranges; a ring's actual ranges are in its table (Shards::slot_of()). `slots` > 0.
EVENKEEL_API Slot slot_of(std::string_view namespace_, std::string_view name, std::size_t slots,
                          ShardBy by = ShardBy::object) noexcept;

/// Returns the value that objects of a namespace have in the label ShardOptions::label: the first byte of the
/// hash that slot_of() uses with ShardBy::namespace_, before the modulo, as two hexadecimal digits. A program
/// that sets the label when it creates an object spares its ring a write.
EVENKEEL_API std::string cell_of(std::string_view namespace_);

}  // namespace v0
}  // namespace evenkeel
