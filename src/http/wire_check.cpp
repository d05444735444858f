// SPDX-License-Identifier: Apache-2.0
#include "http/wire_check.hpp"

#include <stdexcept>

#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr char digits[] = "0123456789abcdef";

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool is_token(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// Returns "0x0d at position 3".
std::string at(std::string_view text, std::size_t position) {
  const auto byte = static_cast<unsigned char>(text[position]);
  return std::string("0x") + digits[byte >> 4] + digits[byte & 15] + " at position " +
         std::to_string(position);
}

std::string target_problem(std::string_view target) {
  if (!target.starts_with('/')) return "must begin with '/'";
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (is_control(target[i]) || target[i] == ' ' || target[i] == '#')
      return "holds byte " + at(target, i) + ", which must be percent-encoded";
  }
  return {};
}

}  // namespace

std::string header_value_problem(std::string_view value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (is_control(value[i]) && value[i] != '\t') return "holds control byte " + at(value, i);
  }
  return {};
}

std::string header_name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_token(name[i])) return "holds byte " + at(name, i);
  }
  return {};
}

void check_request(const Request& request) {
  const auto fail = [&](const std::string& problem) {
    throw std::invalid_argument(std::string(method_name(request.method)) + " " +
                                evenkeel::detail::shown_text(request.target) + ": " + problem);
  };
  if (const std::string problem = target_problem(request.target); !problem.empty())
    fail("the target " + problem);
  for (const auto& [name, value] : request.headers) {
    if (const std::string problem = header_name_problem(name); !problem.empty())
      fail("header \"" + evenkeel::detail::shown_text(name) + "\": the name " + problem);
    if (const std::string problem = header_value_problem(value); !problem.empty())
      fail("header \"" + name + "\": the value " + problem);
  }
}

std::string escape_header_name(std::string_view text) {
  static constexpr char upper[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_token(c) && c != '%') {
      out += c;
    } else {
      out += {'%', upper[byte >> 4], upper[byte & 15]};
    }
  }
  return out;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
