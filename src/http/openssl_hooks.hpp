// SPDX-License-Identifier: Apache-2.0
// Functions of OpenSSL that libcurl has no option for. They make silent streams cheap: authorities are parsed
// once for all connections, and a connection that only waits has no buffers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <curl/curl.h>

struct x509_store_st;

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Parsed certificates of authorities, shared by connections. Immutable.
/// Thread safety: all members may be called concurrently; OpenSSL locks the store.
class Authorities {
 public:
  /// Parses PEM as libcurl does. Returns null if libcurl would refuse it, or if it uses another OpenSSL than
  /// this library: the caller then passes the text to libcurl, which reports what is wrong.
  static std::shared_ptr<const Authorities> parse(const std::string& pem);

  /// Makes the next connection of `easy` to a server trust these authorities and no others; its connection to
  /// a proxy is not concerned. `easy` must have a greatest TLS version, and be reset before this is
  /// destroyed. libcurl does not see the authorities: it must neither reuse a connection of others, nor a TLS
  /// session.
  void apply(CURL* easy) const;

 private:
  using Store = std::shared_ptr<x509_store_st>;

  explicit Authorities(Store store) : store_(std::move(store)) {}
  static CURLcode on_context(CURL* easy, void* context, void* self);

  const Store store_;
};

/// Frees the buffers of the TLS connection of `easy`, if they are empty; the next bytes allocate them again.
/// OpenSSL 3.0 keeps the one for writing, 16 KB, in spite of SSL_MODE_RELEASE_BUFFERS. Must be called when
/// libcurl has taken bytes from the connection, as in its callbacks for headers and body.
void free_tls_buffers(CURL* easy);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
