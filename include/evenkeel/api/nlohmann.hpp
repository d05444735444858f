// SPDX-License-Identifier: Apache-2.0
// Conversion to and from nlohmann::json. The only public header with a third-party type.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {

/// Returns a copy of `value`.
inline nlohmann::json to_nlohmann(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null:
      return nullptr;
    case Json::Kind::boolean:
      return value.as_bool();
    case Json::Kind::integer:
      return value.as_integer();
    case Json::Kind::number:
      return value.as_number();
    case Json::Kind::string:
      return value.as_string();
    case Json::Kind::array: {
      nlohmann::json out = nlohmann::json::array();
      for (const Json& item : value.as_array()) out.push_back(to_nlohmann(item));
      return out;
    }
    case Json::Kind::object:
      break;
  }
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, member] : value.as_object()) out[name] = to_nlohmann(member);
  return out;
}

/// Returns a copy of `value`. Integers above the signed range become numbers; binary values, which JSON does
/// not have, throw DecodeError.
inline Json from_nlohmann(const nlohmann::json& value) {
  using Kind = nlohmann::json::value_t;
  switch (value.type()) {
    case Kind::null:
    case Kind::discarded:
      return Json();
    case Kind::boolean:
      return Json(value.get<bool>());
    case Kind::number_integer:
      return Json(value.get<std::int64_t>());
    case Kind::number_unsigned: {
      const auto number = value.get<std::uint64_t>();
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return Json(static_cast<double>(number));
      return Json(static_cast<std::int64_t>(number));
    }
    case Kind::number_float:
      return Json(value.get<double>());
    case Kind::string:
      return Json(value.get<std::string>());
    case Kind::array: {
      Json::Array items;
      for (const auto& item : value) items.push_back(from_nlohmann(item));
      return Json(std::move(items));
    }
    case Kind::object: {
      Json::Object members;
      for (const auto& [name, member] : value.items()) members[name] = from_nlohmann(member);
      return Json(std::move(members));
    }
    case Kind::binary:
      break;
  }
  throw DecodeError("", "a binary value is not JSON");
}

}  // namespace v0
}  // namespace evenkeel
