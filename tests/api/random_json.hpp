// SPDX-License-Identifier: Apache-2.0
// Random documents generated from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel::tests {

/// Returns the document without null members, which a merge patch cannot distinguish from absent ones.
inline Json without_nulls(const Json& value) {
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [name, member] : value.as_object()) {
    if (!member.is_null()) out[name] = without_nulls(member);
  }
  return out;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Returns a number from 0 to bound - 1.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  std::uint64_t bits() { return engine_(); }

  std::string text(std::size_t longest = 12) {
    static const char* const pieces[] = {"a",  "Z",  "0", "-",      " ",      "\"",
                                         "\\", "\n", "/", "\u00e4", "\u20ac", "\U0001F600",
                                         "\t", "{",  "]", "\x01",   ",",      ":"};
    std::string out;
    for (std::size_t left = below(longest + 1); left > 0; --left) out += pieces[below(std::size(pieces))];
    return out;
  }

  Json json(int depth = 4) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0:
        return Json();
      case 1:
        return Json(chance(2));
      case 2:
        return Json(static_cast<std::int64_t>(bits()));
      case 3:
        return Json(static_cast<std::int64_t>(below(100)));
      case 4:
        return Json(static_cast<double>(static_cast<std::int64_t>(bits())) / 1024.0 / 3.0);
      case 5:
        return Json(text());
      case 6: {
        Json::Array items;
        for (std::size_t left = below(5); left > 0; --left) items.push_back(json(depth - 1));
        return Json(std::move(items));
      }
      default:
        break;
    }
    Json::Object members;
    for (std::size_t left = below(5); left > 0; --left) members[text(6)] = json(depth - 1);
    return Json(std::move(members));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace evenkeel::tests
