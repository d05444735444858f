// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::string_view method_name(Method method) noexcept {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::delete_:
      return "DELETE";
  }
  return "GET";
}

const std::string* Headers::find(std::string_view name) const noexcept {
  for (const auto& [line_name, value] : lines_) {
    if (same_name(line_name, name)) return &value;
  }
  return nullptr;
}

void Headers::set(std::string_view name, std::string value) {
  const auto is_it = [name](const auto& line) { return same_name(line.first, name); };
  const auto first = std::find_if(lines_.begin(), lines_.end(), is_it);
  if (first == lines_.end()) {
    lines_.emplace_back(std::string(name), std::move(value));
    return;
  }
  first->second = std::move(value);
  lines_.erase(std::remove_if(first + 1, lines_.end(), is_it), lines_.end());
}

std::string percent_encode(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '+' && plus_is_space) {
      out += ' ';
      continue;
    }
    const int high = c == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) {
      out += c;
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
