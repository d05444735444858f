// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/json_problem.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

std::string json_problem(std::string_view text) {
  try {
    static_cast<void>(Json::parse(text));
  } catch (const DecodeError& error) {
    return error.problem();
  }
  return "";
}

std::string wrong_type(std::string_view path, std::string_view expected, const Json& found, bool quote) {
  std::string text(path);
  text.append(path.empty() ? "" : ": ").append("expected ").append(expected).append(", got ");
  if (found.is_array()) return text + "an array";
  if (found.is_object()) return text + "an object";
  return text + (quote ? found.dump() : "another value");
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
