// SPDX-License-Identifier: Apache-2.0
#include "manager/console_page.hpp"

#include <array>

#include <openssl/evp.h>
#include <openssl/sha.h>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Returns the source of a content security policy for the text between two tags.
std::string hash_source(std::string_view page, std::string_view open, std::string_view close) {
  const std::size_t from = page.find(open) + open.size();
  const std::string_view text = page.substr(from, page.find(close, from) - from);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  std::array<unsigned char, 64> base64{};  // 44 letters and a zero
  const int length = EVP_EncodeBlock(base64.data(), hash.data(), static_cast<int>(hash.size()));
  return "'sha256-" +
         std::string(reinterpret_cast<const char*>(base64.data()), static_cast<std::size_t>(length)) + "'";
}

}  // namespace

http::Response console_page() {
  static const std::string policy =
      "default-src 'none'; script-src " + hash_source(console_html, "<script>", "</script>") +
      "; style-src " + hash_source(console_html, "<style>", "</style>") +
      "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return {.status = 200,
          .headers = {{"Content-Type", "text/html; charset=utf-8"},
                      {"Content-Security-Policy", policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "DENY"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Cache-Control", "no-cache"}},
          .body = std::string(console_html)};
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
