// SPDX-License-Identifier: Apache-2.0
#include "http/plain_http.hpp"

#include <arpa/inet.h>
#include <memory>
#include <strings.h>

#include <curl/curl.h>

#include "base/shown_url.hpp"
#include "http/url_part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
bool is_loopback(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string name(host);
  if (strcasecmp(name.c_str(), "localhost") == 0) return true;
  in_addr four{};
  if (inet_pton(AF_INET, name.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, name.c_str(), &six) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

bool is_exposed(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return false;
  return url_part(parts.get(), CURLUPART_SCHEME) == "http" &&
         !is_loopback(url_part(parts.get(), CURLUPART_HOST));
}

std::string exposed_text(std::string_view server, std::string_view what) {
  return evenkeel::detail::shown_url(server) + " is neither https nor a loopback address, and " +
         std::string(what) + " would be sent in the clear";
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
