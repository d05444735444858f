// SPDX-License-Identifier: Apache-2.0
#include "certificates.hpp"

#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace evenkeel::tests {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

Key make_key() {
  return {EVP_EC_gen("P-256"), EVP_PKEY_free};
}

template <class Write>
std::string to_pem(Write write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (write(bio.get()) != 1) throw std::runtime_error("cannot write PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string cert_pem(X509* cert) {
  return to_pem([&](BIO* bio) { return PEM_write_bio_X509(bio, cert); });
}

void add_extension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) throw std::runtime_error("bad extension " + value);
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

/// Returns an unsigned certificate, valid from an hour ago for a day.
Certificate blank(const std::string& common_name, EVP_PKEY* key, long serial) {
  Certificate cert(X509_new(), X509_free);
  X509_set_version(cert.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), 86400);
  X509_set_pubkey(cert.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return cert;
}

}  // namespace

struct Authority::State {
  Key key = make_key();
  Certificate cert{nullptr, X509_free};
  long next_serial = 2;

  Pem issue(const std::string& common_name, const std::string& usage, const std::string& names) {
    const Key leaf_key = make_key();
    const Certificate leaf = blank(common_name, leaf_key.get(), next_serial++);
    X509_set_issuer_name(leaf.get(), X509_get_subject_name(cert.get()));
    add_extension(leaf.get(), cert.get(), NID_ext_key_usage, usage);
    if (!names.empty()) add_extension(leaf.get(), cert.get(), NID_subject_alt_name, names);
    X509_sign(leaf.get(), key.get(), EVP_sha256());
    return {cert_pem(leaf.get()), to_pem([&](BIO* bio) {
              return PEM_write_bio_PrivateKey(bio, leaf_key.get(), nullptr, nullptr, 0, nullptr, nullptr);
            })};
  }
};

Authority::Authority(const std::string& common_name) : state_(std::make_unique<State>()) {
  state_->cert = blank(common_name, state_->key.get(), 1);
  X509* cert = state_->cert.get();
  X509_set_issuer_name(cert, X509_get_subject_name(cert));
  add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(cert, cert, NID_key_usage, "critical,keyCertSign");
  X509_sign(cert, state_->key.get(), EVP_sha256());
}

Authority::~Authority() = default;

std::string Authority::pem() const {
  return cert_pem(state_->cert.get());
}

Pem Authority::issue_server(const std::string& names) const {
  return state_->issue("server", "serverAuth", names);
}

Pem Authority::issue_client(const std::string& user) const {
  return state_->issue(user, "clientAuth", "");
}

}  // namespace evenkeel::tests
