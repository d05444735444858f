// SPDX-License-Identifier: Apache-2.0
#include "http/openssl_hooks.hpp"

#include <new>

#include <climits>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

struct FreeInfos {
  void operator()(STACK_OF(X509_INFO) * infos) const { sk_X509_INFO_pop_free(infos, X509_INFO_free); }
};
using Infos = std::unique_ptr<STACK_OF(X509_INFO), FreeInfos>;

/// Returns true if libcurl uses the OpenSSL that this library is linked with.
bool shares_openssl() {
  const char* const used = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return used != nullptr && used == std::string("OpenSSL/") + OpenSSL_version(OPENSSL_VERSION_STRING);
}

Infos read_infos(const std::string& pem) {
  if (pem.size() > INT_MAX) return nullptr;
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  ERR_set_mark();
  Infos infos(bio ? PEM_X509_INFO_read_bio(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  ERR_pop_to_mark();  // the queue is the calling thread's
  return infos;
}

/// Adds the certificates of `infos`; returns their number, or 0 if one of them cannot be added.
int add_all(X509_STORE* store, const STACK_OF(X509_INFO) * infos) {
  int count = 0;
  for (int at = 0; at < sk_X509_INFO_num(infos); ++at) {
    X509* const certificate = sk_X509_INFO_value(infos, at)->x509;
    if (certificate == nullptr) continue;
    if (X509_STORE_add_cert(store, certificate) != 1) return 0;
    ++count;
  }
  return count;
}

}  // namespace

std::shared_ptr<const Authorities> Authorities::parse(const std::string& pem) {
  static const bool usable = shares_openssl();
  if (!usable || pem.empty()) return nullptr;
  const Infos infos = read_infos(pem);
  if (!infos) return nullptr;
  const Store store(X509_STORE_new(), X509_STORE_free);
  if (!store) throw std::bad_alloc();
  if (add_all(store.get(), infos.get()) == 0) return nullptr;
  // Those that libcurl sets.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
  return std::shared_ptr<const Authorities>(new Authorities(store));
}

void Authorities::apply(CURL* easy) const {
  // Otherwise libcurl would read those of the system for each connection.
  curl_easy_setopt(easy, CURLOPT_CAINFO, static_cast<const char*>(nullptr));
  curl_easy_setopt(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &Authorities::on_context);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, const_cast<Authorities*>(this));
}

// OpenSSL verifies with this store instead of the context's own, which libcurl fills, changes and caches.
CURLcode Authorities::on_context(CURL*, void* context, void* self) {
  auto* const ssl = static_cast<SSL_CTX*>(context);
  X509_STORE* const store = static_cast<const Authorities*>(self)->store_.get();
  if (SSL_CTX_get_max_proto_version(ssl) == 0) return CURLE_OK;  // a connection to a proxy
  // The second one completes the chain of a client certificate, as the context's own does.
  const bool done =
      SSL_CTX_set1_verify_cert_store(ssl, store) == 1 && SSL_CTX_set1_chain_cert_store(ssl, store) == 1;
  return done ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

void free_tls_buffers(CURL* easy) {
  static const bool usable = shares_openssl();
  curl_tlssessioninfo* session = nullptr;
  if (!usable || curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == nullptr ||
      session->backend != CURLSSLBACKEND_OPENSSL || session->internals == nullptr)
    return;
  auto* const ssl = static_cast<SSL*>(session->internals);
  // OpenSSL before 3.0.14 would free a buffer whose record was taken in part.
  if (SSL_has_pending(ssl) == 0) static_cast<void>(SSL_free_buffers(ssl));
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
