// SPDX-License-Identifier: Apache-2.0
// Binary data in a document: base64 on the wire, plain bytes in the program. Secrets consist of it.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/fields.hpp>

namespace evenkeel {
inline namespace v0 {

/// A byte string. Errors never show its contents.
class EVENKEEL_API Bytes {
 public:
  Bytes() = default;
  Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  Bytes(std::string_view bytes) : bytes_(bytes) {}
  Bytes(const char* bytes) : bytes_(bytes) {}

  const std::string& value() const noexcept { return bytes_; }
  operator const std::string&() const noexcept { return bytes_; }
  bool empty() const noexcept { return bytes_.empty(); }

  /// Returns the bytes in base64, as on the wire.
  std::string base64() const;
  /// Returns nullopt if `text` is not base64 of the standard alphabet, with padding; line breaks are skipped.
  static std::optional<Bytes> from_base64(std::string_view text);

  auto operator<=>(const Bytes&) const = default;

 private:
  std::string bytes_;
};

EVENKEEL_API const TypeInfo& evenkeel_leaf_info(Bytes**, FieldLookup);
constexpr TypeKind evenkeel_leaf_kind(Bytes**, FieldLookup) {
  return TypeKind::text;
}

}  // namespace v0
}  // namespace evenkeel
