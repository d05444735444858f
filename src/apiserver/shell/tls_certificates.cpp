// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/tls_certificates.hpp"

#include <memory>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

template <auto Free>
struct Release {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;
using Bio = std::unique_ptr<BIO, Release<BIO_free_all>>;
using Extension = std::unique_ptr<X509_EXTENSION, Release<X509_EXTENSION_free>>;

[[noreturn]] void fail(const char* what) {
  char reason[256] = {};
  ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
  throw Error(std::string("cannot make a certificate: ") + what + ": " + reason);
}

void require(bool held, const char* what) {
  if (!held) fail(what);
}

template <class Write>
std::string pem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  require(bio && write(bio.get()) == 1, "PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

Bio reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  require(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(value.data()),
                                     static_cast<int>(value.size()), -1, 0) == 1,
          field);
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  require(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

// Returns a certificate without subject, extensions and signature.
Certificate blank(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  require(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1, "X509");
  unsigned char serial[16];
  require(RAND_bytes(serial, sizeof serial) == 1, "serial number");
  serial[0] = static_cast<unsigned char>((serial[0] & 0x3f) | 0x40);  // positive and of full length
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  constexpr long day = 24 * 60 * 60;
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -day);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3650 * day);
  require(X509_set_pubkey(certificate.get(), key) == 1, "public key");
  return certificate;
}

CertifiedKey written(X509* certificate, EVP_PKEY* key) {
  return {.certificate = pem([certificate](BIO* bio) { return PEM_write_bio_X509(bio, certificate); }),
          .key = pem([key](BIO* bio) {
            return PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

Key new_key() {
  Key key(EVP_EC_gen("P-256"));
  require(key != nullptr, "EC key");
  return key;
}

struct Leaf {
  std::string common_name;
  std::vector<std::string> organisations;
  std::string usage;
  std::string alternative_names;
};

CertifiedKey signed_by(const CertifiedKey& authority, const Leaf& leaf) {
  const Bio certificate_text = reader(authority.certificate);
  const Bio key_text = reader(authority.key);
  const Certificate issuer(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const Key issuer_key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  require(issuer && issuer_key, "authority");
  const Key key = new_key();
  const Certificate certificate = blank(key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organisation : leaf.organisations) add_name(subject, "O", organisation);
  if (!leaf.common_name.empty()) add_name(subject, "CN", leaf.common_name);
  require(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get())) == 1, "issuer");
  add_extension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), issuer.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(certificate.get(), issuer.get(), NID_ext_key_usage, leaf.usage);
  add_extension(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid");
  if (!leaf.alternative_names.empty())
    add_extension(certificate.get(), issuer.get(), NID_subject_alt_name, leaf.alternative_names);
  require(X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) != 0, "signature");
  return written(certificate.get(), key.get());
}

bool is_address(std::string_view host) {
  return host.find(':') != std::string_view::npos ||
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Returns the value of subjectAltName.
std::string names_of(const std::vector<std::string>& hosts) {
  std::string names;
  for (const std::string& host : hosts)
    names += (names.empty() ? "" : ",") + std::string(is_address(host) ? "IP:" : "DNS:") + host;
  return names;
}

}  // namespace

std::string random_text() {
  static constexpr char hex[] = "0123456789abcdef";
  unsigned char bytes[16];
  require(RAND_bytes(bytes, sizeof bytes) == 1, "random bytes");
  std::string out;
  for (const unsigned char byte : bytes) out.append({hex[byte >> 4], hex[byte & 15]});
  return out;
}

CertifiedKey make_authority() {
  const Key key = new_key();
  const Certificate certificate = blank(key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  add_name(name, "CN", "evenkeel-apiserver");
  require(X509_set_issuer_name(certificate.get(), name) == 1, "issuer");
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate.get(), certificate.get(), NID_key_usage,
                "critical,keyCertSign,cRLSign,digitalSignature");
  add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
  require(X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0, "signature");
  return written(certificate.get(), key.get());
}

CertifiedKey make_server_certificate(const CertifiedKey& authority, const std::vector<std::string>& hosts) {
  return signed_by(authority, {.common_name = "kube-apiserver",
                               .organisations = {},
                               .usage = "serverAuth",
                               .alternative_names = names_of(hosts)});
}

CertifiedKey make_member_certificate(const CertifiedKey& authority, const std::vector<std::string>& hosts) {
  return signed_by(authority, {.common_name = "",
                               .organisations = {},
                               .usage = "serverAuth,clientAuth",
                               .alternative_names = names_of(hosts)});
}

CertifiedKey make_client_certificate(const CertifiedKey& authority, const Caller& caller) {
  return signed_by(authority, {.common_name = caller.user,
                               .organisations = caller.groups,
                               .usage = "clientAuth",
                               .alternative_names = {}});
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
