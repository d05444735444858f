// SPDX-License-Identifier: Apache-2.0
#include "http/pair_check.hpp"

#include <memory>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

template <class T, void (*free)(T*)>
struct Freed {
  void operator()(T* object) const { free(object); }
};
using Buffer = std::unique_ptr<BIO, Freed<BIO, BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509, X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;

int no_passphrase(char*, int, int, void*) {
  return 0;
}

Buffer buffer_of(const std::string& text) {
  return Buffer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

PairProblem check_pair(const std::string& certificate, const std::string& key) {
  const Certificate cert(PEM_read_bio_X509(buffer_of(certificate).get(), nullptr, &no_passphrase, nullptr));
  const PrivateKey own(PEM_read_bio_PrivateKey(buffer_of(key).get(), nullptr, &no_passphrase, nullptr));
  const bool match = cert && own && X509_check_private_key(cert.get(), own.get()) == 1;
  ERR_clear_error();  // the queue of this thread may be read by the host
  if (!cert) return PairProblem::certificate;
  if (!own) return PairProblem::key;
  return match ? PairProblem::none : PairProblem::mismatch;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
