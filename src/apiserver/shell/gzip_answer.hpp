// SPDX-License-Identifier: Apache-2.0
// Compresses large answers for clients that ask for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <zlib.h>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// Size of a body beyond which it is compressed.
inline constexpr std::size_t compressed_beyond = std::size_t{128} << 10;

/// Returns true if the client accepts gzip and asks for objects; OpenAPI documents are never compressed, and
/// weights are ignored.
/// Source: apiserver pkg/endpoints/handlers/responsewriters/writers.go, negotiateContentEncoding.
inline bool accepts_gzip(const http::Request& request) {
  if (!request.target.starts_with("/api")) return false;
  const std::string* const header = request.headers.find("Accept-Encoding");
  std::string_view rest = header != nullptr ? std::string_view(*header) : std::string_view();
  while (!rest.empty()) {
    std::string_view token = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), token.size() + 1));
    while (!token.empty() && token.front() == ' ') token.remove_prefix(1);
    while (!token.empty() && token.back() == ' ') token.remove_suffix(1);
    if (token == "gzip") return true;
  }
  return false;
}

/// Returns `text` in gzip's format, compressed at the fastest level, as kube-apiserver does.
inline std::string gzipped(std::string_view text) {
  constexpr int gzip_format = 16;
  constexpr int memory_level = 8;  // zlib's default
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + gzip_format, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // in one step, as the output has room for the worst case
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Compresses a large answer.
inline void compress(http::Response& response) {
  if (response.body.size() <= compressed_beyond) return;
  response.body = gzipped(response.body);
  response.headers.set("Content-Encoding", "gzip");
  response.headers.add("Vary", "Accept-Encoding");
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
