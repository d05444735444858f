// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/coordination/keys.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

constexpr std::string_view hex = "0123456789ABCDEF";

bool plain(char c) {
  return c > ' ' && c < '\x7f' && c != '/' && c != '%';
}

/// Returns the byte that "%XX" at `at` encodes; -1 if there is none.
int escaped(std::string_view element, std::size_t at) {
  if (element[at] != '%' || at + 2 >= element.size()) return -1;
  const auto high = hex.find(element[at + 1]);
  const auto low = hex.find(element[at + 2]);
  if (high == std::string_view::npos || low == std::string_view::npos) return -1;
  return static_cast<int>((high << 4U) | low);
}

}  // namespace

std::string key_element(std::string_view text) {
  if (text.empty()) throw std::invalid_argument("an element of a key must not be empty");
  std::string element;
  for (const char c : text) {
    if (plain(c)) {
      element += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    element += {'%', hex[byte >> 4U], hex[byte & 15U]};
  }
  return element;
}

std::string key_text(std::string_view element) {
  std::string text;
  for (std::size_t at = 0; at < element.size(); ++at) {
    const int byte = escaped(element, at);
    text += byte < 0 ? element[at] : static_cast<char>(byte);
    if (byte >= 0) at += 2;
  }
  return text;
}

std::string key_of(std::string_view root, std::initializer_list<std::string_view> elements) {
  std::string key(root);
  for (const std::string_view element : elements) key += "/" + key_element(element);
  return key;
}

std::string prefix_of(std::string_view root, std::initializer_list<std::string_view> elements) {
  return key_of(root, elements) + "/";
}

std::vector<std::string> elements_of(std::string_view root, std::string_view key) {
  if (key.size() <= root.size() || !key.starts_with(root) || key[root.size()] != '/') return {};
  std::vector<std::string> elements;
  for (std::size_t at = root.size(); at < key.size();) {
    const std::size_t end = std::min(key.find('/', at + 1), key.size());
    elements.push_back(key_text(key.substr(at + 1, end - at - 1)));
    at = end;
  }
  return elements;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
