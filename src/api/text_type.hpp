// SPDX-License-Identifier: Apache-2.0
// Tables of classes encoded as one JSON string: str() writes it, parse() reads it, T() is zero.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>

namespace evenkeel {
inline namespace v0 {

template <class T>
constexpr TextOps text_ops(std::string_view expected, std::string_view format) {
  return {
      .expected = expected,
      .format = format,
      .append = +[](const void* self, std::string& out) { out += static_cast<const T*>(self)->str(); },
      .parse =
          +[](void* self, std::string_view text) {
            auto parsed = T::parse(text);
            if (parsed) *static_cast<T*>(self) = std::move(*parsed);
            return parsed.has_value();
          },
      .is_zero = +[](const void* self) noexcept { return *static_cast<const T*>(self) == T(); },
  };
}

constexpr TypeInfo text_info(const TextOps& ops) {
  TypeInfo info;
  info.kind = TypeKind::text;
  info.text = &ops;
  return info;
}

}  // namespace v0
}  // namespace evenkeel
