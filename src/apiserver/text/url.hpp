// SPDX-License-Identifier: Apache-2.0
// URLs as Go parses them. Source: Go net/url.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Url {
  std::string scheme = {};
  std::string host = {};  ///< With the port, without the user.
  std::string path = {};  ///< Escaped.
  std::string query = {};

  std::string hostname() const;  ///< Without brackets.
  std::string port() const;
  /// Returns the parameters of the query; those that are malformed are left out.
  std::map<std::string, std::vector<std::string>> parameters() const;
};

/// Returns true for an absolute URL or an absolute path. Source: Go url.ParseRequestURI.
bool is_request_url(std::string_view text);
/// Parses such a text, whose fragment is removed as by Go's url.Parse; std::nullopt if it is none.
std::optional<Url> parse_request_url(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
