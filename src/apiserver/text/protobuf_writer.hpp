// SPDX-License-Identifier: Apache-2.0
// An encoder of protocol buffer messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Encodes one message, field by field; bytes() is its wire form. Absent fields are not written.
class ProtobufWriter {
 public:
  void text(std::uint32_t field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(std::uint32_t field, const ProtobufWriter& value) { text(field, value.bytes_); }
  void integer(std::uint32_t field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void flag(std::uint32_t field, bool value) { integer(field, value ? 1 : 0); }
  void number(std::uint32_t field, double value) {
    key(field, 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xFFU);
  }

  const std::string& bytes() const noexcept { return bytes_; }

 private:
  void key(std::uint32_t field, std::uint32_t wire) { varint(std::uint64_t{field} << 3U | wire); }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
      value >>= 7U;
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
