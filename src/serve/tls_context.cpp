// SPDX-License-Identifier: Apache-2.0
#include "serve/tls_context.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace asio = boost::asio;

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned in_size, void*) {
  static constexpr unsigned char ours[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, in, in_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

asio::ssl::context make_tls_context(const std::string& certificate, const std::string& key) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // A key with a passphrase is refused; OpenSSL would ask for it on the terminal.
  context.set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return ""; });
  context.use_certificate_chain(asio::buffer(certificate));
  context.use_private_key(asio::buffer(key), asio::ssl::context::pem);
  SSL_CTX_set_alpn_select_cb(context.native_handle(), choose_protocol, nullptr);
  return context;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
