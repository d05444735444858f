// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include <evenkeel/api/bytes.hpp>

#include "api/text_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_letter = 255;

/// Value of each base64 letter, or no_letter.
constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> out = {};
  for (auto& value : out) value = no_letter;
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return out;
}();

}  // namespace

std::string Bytes::base64() const {
  std::string out;
  out.reserve((bytes_.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes_.size(); at += 3) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
      return at + i < bytes_.size() ? static_cast<unsigned char>(bytes_[at + i]) : 0U;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    const std::size_t left = bytes_.size() - at;
    out += alphabet[three >> 18];
    out += alphabet[three >> 12 & 63];
    out += left > 1 ? alphabet[three >> 6 & 63] : '=';
    out += left > 2 ? alphabet[three & 63] : '=';
  }
  return out;
}

std::optional<Bytes> Bytes::from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  std::size_t letters = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const std::uint8_t value = digit_values[static_cast<unsigned char>(c)];
    if (c == '=') {
      ++padding;
    } else if (value == no_letter || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6 | (value == no_letter ? 0U : value);
    if (++letters % 4 != 0) continue;
    if (padding > 2) return std::nullopt;
    for (std::size_t i = 0; i < 3 - padding; ++i) out += static_cast<char>(bits >> (16 - 8 * i) & 255);
  }
  if (letters % 4 != 0 || padding > 2) return std::nullopt;
  return Bytes(std::move(out));
}

const TypeInfo& evenkeel_leaf_info(Bytes**, FieldLookup) {
  static constexpr TextOps ops{
      .expected = "base64",
      .format = "byte",
      .append = +[](const void* self, std::string& out) { out += static_cast<const Bytes*>(self)->base64(); },
      .parse =
          +[](void* self, std::string_view text) {
            auto parsed = Bytes::from_base64(text);
            if (parsed) *static_cast<Bytes*>(self) = std::move(*parsed);
            return parsed.has_value();
          },
      .is_zero = +[](const void* self) noexcept { return static_cast<const Bytes*>(self)->empty(); },
      .secret = true,
  };
  static constexpr TypeInfo info = text_info(ops);
  return info;
}

}  // namespace v0
}  // namespace evenkeel
