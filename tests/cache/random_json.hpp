// SPDX-License-Identifier: Apache-2.0
// Random JSON documents, as text with all legal variations: white space, escapes, brackets inside strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include <evenkeel/api/json.hpp>

#include "../support/fresh_seed.hpp"

namespace evenkeel::tests {

class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  std::string space() {
    std::string text;
    while (chance(15)) text += " \n\t\r"[below(4)];
    return text;
  }

  /// Returns a quoted string with characters that are difficult for a splitter.
  std::string string() {
    static const char* const parts[] = {"a",
                                        "web-0",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\\\"",
                                        "\\\\",
                                        "\\n",
                                        "\\u00e9",
                                        "é",
                                        "\\/",
                                        "items",
                                        "\\\\\\\"",
                                        "0123456789abcdefghijklmnopqrstuvwxyz",
                                        ""};
    std::string text = "\"";
    for (std::size_t count = below(8); count > 0; --count) text += parts[below(std::size(parts))];
    return text + "\"";
  }

  std::string value(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return string();
      case 1:
        return std::to_string(static_cast<int>(below(2'000'000)) - 1'000'000);
      case 2:
        return "1.5e3";
      case 3:
        return chance(50) ? "true" : "false";
      case 4:
        return "null";
      case 5:
        return array(depth - 1);
      default:
        return object(depth - 1);
    }
  }

  std::string array(int depth) {
    std::string text = "[" + space();
    for (std::size_t count = below(5); count > 0; --count) {
      text += value(depth) + space();
      if (count > 1) text += "," + space();
    }
    return text + "]";
  }

  std::string object(int depth) {
    std::string text = "{" + space();
    for (std::size_t count = below(6); count > 0; --count) {
      text += string() + space() + ":" + space() + value(depth) + space();
      if (count > 1) text += "," + space();
    }
    return text + "}";
  }

  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

}  // namespace evenkeel::tests
