// SPDX-License-Identifier: Apache-2.0
// Access to integers and floating-point numbers of any size through a pointer.
#pragma once

#include <cstdint>
#include <cstring>

#include <evenkeel/api/fields.hpp>

namespace evenkeel {
inline namespace v0 {

template <class Narrow>
std::int64_t load_as(const void* from) {
  Narrow value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<std::int64_t>(value);
}

/// Returns the integer; unsigned 64-bit values keep their bit pattern.
inline std::int64_t load_integer(const TypeInfo& type, const void* from) {
  switch (type.size) {
    case 1:
      return type.is_signed ? load_as<std::int8_t>(from) : load_as<std::uint8_t>(from);
    case 2:
      return type.is_signed ? load_as<std::int16_t>(from) : load_as<std::uint16_t>(from);
    case 4:
      return type.is_signed ? load_as<std::int32_t>(from) : load_as<std::uint32_t>(from);
    default:
      return load_as<std::int64_t>(from);
  }
}

inline bool is_unsigned_64(const TypeInfo& type) {
  return type.size == 8 && !type.is_signed;
}

/// Writes the low bytes of `value`. Supported machines are little-endian.
inline void store_integer(const TypeInfo& type, void* to, std::int64_t value) {
  std::memcpy(to, &value, type.size);
}

inline double load_number(const TypeInfo& type, const void* from) {
  if (type.size == sizeof(float)) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  }
  double value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void store_number(const TypeInfo& type, void* to, double value) {
  if (type.size == sizeof(float)) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

}  // namespace v0
}  // namespace evenkeel
