// SPDX-License-Identifier: Apache-2.0
// URLs in messages, without the credentials that may be in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns `url` without user, password, query and fragment, also if it is not a valid URL. Of a URL with an
/// '@' behind its host, which may end a password with an unescaped delimiter, only the scheme is left:
/// "https://...".
inline std::string shown_url(std::string_view url) {
  const std::size_t mark = url.find("://");
  const bool has_scheme =
      mark != std::string_view::npos && std::all_of(url.begin(), url.begin() + mark, [](char c) {
        return ascii::is_alphanumeric(c) || c == '+' || c == '-' || c == '.';
      });
  const std::string scheme(url.substr(0, has_scheme ? mark + 3 : 0));
  url.remove_prefix(scheme.size());
  const std::size_t at = url.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
    const std::string_view port = authority.substr(std::min(authority.rfind(':'), authority.size() - 1) + 1);
    if (at > authority.size() && std::all_of(port.begin(), port.end(), ascii::is_digit))
      return scheme + "...";
    url.remove_prefix(at + 1);
  }
  const std::size_t end = std::min(url.find_first_of("?#"), url.size());
  return scheme + std::string(url.substr(0, end)) + (end < url.size() ? "..." : "");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
