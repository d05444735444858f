// SPDX-License-Identifier: Apache-2.0
// URL parsing by libcurl's rules.
#pragma once

#include <string>

#include <curl/curl.h>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns one part of a URL, empty if it has none.
inline std::string url_part(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  std::string result = text;
  curl_free(text);
  return result;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
