// SPDX-License-Identifier: Apache-2.0
// Expands a gzip body while it arrives. libcurl 7.88 has a decoder, but takes a body that ends within its
// gzip stream for complete.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <zlib.h>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Decoder of one body, of one or several gzip members (RFC 1952).
/// Thread safety: one thread at a time.
class GzipDecoder {
 public:
  enum class Result : std::uint8_t { ok, corrupt, too_long };

  GzipDecoder() {
    if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  /// Appends the expanded `piece` to `out`, which must not exceed `limit` bytes.
  Result decode(std::string_view piece, std::string& out, std::size_t limit);
  /// True between two members: the body may end here.
  bool complete() const { return complete_; }
  /// Description of the corruption, by zlib.
  std::string_view problem() const { return stream_.msg != nullptr ? stream_.msg : "unexpected data"; }

 private:
  static constexpr int gzip_only = 16;  // zlib's flag: neither zlib's own nor a raw format

  z_stream stream_ = {};
  bool complete_ = true;
  std::array<char, std::size_t{16} << 10> expanded_;
};

inline GzipDecoder::Result GzipDecoder::decode(std::string_view piece, std::string& out, std::size_t limit) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream_.avail_in = static_cast<uInt>(piece.size());
  do {
    if (complete_ && stream_.avail_in == 0) return Result::ok;
    complete_ = false;
    stream_.next_out = reinterpret_cast<Bytef*>(expanded_.data());
    stream_.avail_out = static_cast<uInt>(expanded_.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return Result::corrupt;
    const std::size_t bytes = expanded_.size() - stream_.avail_out;
    if (out.size() + bytes > limit) return Result::too_long;
    out.append(expanded_.data(), bytes);
    if (result == Z_STREAM_END) {
      complete_ = true;
      inflateReset(&stream_);
    }
  } while (stream_.avail_in > 0 || stream_.avail_out == 0);
  return Result::ok;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
