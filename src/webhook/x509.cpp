// SPDX-License-Identifier: Apache-2.0
#include "webhook/x509.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <memory>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* object) const noexcept {
    free(object);
  }
};
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Text = std::unique_ptr<BIO, Free<BIO_free>>;

constexpr std::string_view begin_line = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view end_line = "-----END CERTIFICATE-----";

[[noreturn]] void fail(const char* what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  throw Error(std::string("a certificate cannot be made: ") + what +
              (reason ? std::string(": ") + reason : ""));
}
void require(bool done, const char* what) {
  if (!done) fail(what);
}

template <class T>
T require_object(T object, const char* what) {
  require(object != nullptr, what);
  return object;
}

Certificate parse_certificate(const std::string& pem) {
  const Text text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Certificate certificate(text ? PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!certificate) ERR_clear_error();
  return certificate;
}

// A key with a passphrase counts as unreadable; the library must not ask on the terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

Key parse_key(const std::string& pem) {
  const Text text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Key key(text ? PEM_read_bio_PrivateKey(text.get(), nullptr, no_passphrase, nullptr) : nullptr);
  if (!key) ERR_clear_error();
  return key;
}

template <class Write>
std::string write_pem(Write write) {
  const Text text = require_object(Text(BIO_new(BIO_s_mem())), "memory");
  require(write(text.get()) == 1, "PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

http::TlsPair to_pem(X509* certificate, EVP_PKEY* key) {
  return {write_pem([&](BIO* to) { return PEM_write_bio_X509(to, certificate); }), write_pem([&](BIO* to) {
            return PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

void set_time(ASN1_TIME* to, WallTime time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch());
  require(ASN1_TIME_set(to, static_cast<std::time_t>(seconds.count())) != nullptr, "time");
}

WallTime time_of(const ASN1_TIME* time) {
  const std::unique_ptr<ASN1_TIME, Free<ASN1_TIME_free>> epoch(ASN1_TIME_set(nullptr, 0));
  int days = 0;
  int seconds = 0;
  if (!epoch || ASN1_TIME_diff(&days, &seconds, epoch.get(), time) != 1) return {};
  return WallTime(std::chrono::hours{24} * days + std::chrono::seconds{seconds});
}

void set_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, Free<BN_free>> number(BN_new());
  require(number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr,
          "serial number");
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  require(extension && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

Certificate blank(const std::string& common_name, EVP_PKEY* key, const Lifetime& lifetime) {
  Certificate certificate = require_object(Certificate(X509_new()), "memory");
  require(X509_set_version(certificate.get(), 2) == 1, "version");
  set_serial(certificate.get());
  set_time(X509_getm_notBefore(certificate.get()), lifetime.begin);
  set_time(X509_getm_notAfter(certificate.get()), lifetime.end);
  require(X509_set_pubkey(certificate.get(), key) == 1, "key");
  const std::string shown = common_name.substr(0, 64);  // the largest common name of X.520
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(shown.c_str()), -1, -1, 0) == 1,
          "name");
  return certificate;
}

Key make_key() {
  return require_object(Key(EVP_EC_gen("P-256")), "key");
}

// Keys with which crypto/x509 of Go, hence the API server, and OpenSSL at its security level 2 verify.
bool is_accepted(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA")) return EVP_PKEY_get_bits(key) >= 2048;
  if (!EVP_PKEY_is_a(key, "EC")) return EVP_PKEY_is_a(key, "ED25519") == 1;
  std::array<char, 32> group{};
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) != 1) return false;
  const std::string_view name = group.data();
  return name == SN_X9_62_prime256v1 || name == SN_secp384r1 || name == SN_secp521r1;
}

// Ed25519 has a digest of its own.
const EVP_MD* digest_for(const EVP_PKEY* key) {
  return EVP_PKEY_is_a(key, "ED25519") == 1 ? nullptr : EVP_sha256();
}

bool is_address(const std::string& name) {
  const std::unique_ptr<ASN1_OCTET_STRING, Free<ASN1_OCTET_STRING_free>> parsed(a2i_IPADDRESS(name.c_str()));
  ERR_clear_error();
  return parsed != nullptr;
}

// A name must not end the list's item and begin another.
std::string alternative_names(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_of(",\n\r ") != std::string::npos)
      throw Error("a certificate cannot be made: \"" + name + "\" is no DNS name and no IP address");
    list += (list.empty() ? "" : ",") + std::string(is_address(name) ? "IP:" : "DNS:") + name;
  }
  return list;
}

}  // namespace

http::TlsPair make_authority(const std::string& common_name, const Lifetime& lifetime) {
  const Key key = make_key();
  const Certificate certificate = blank(common_name, key.get(), lifetime);
  X509* self = certificate.get();
  require(X509_set_issuer_name(self, X509_get_subject_name(self)) == 1, "issuer");
  add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(self, self, NID_key_usage, "critical,digitalSignature,keyCertSign");
  add_extension(self, self, NID_subject_key_identifier, "hash");
  require(X509_sign(self, key.get(), digest_for(key.get())) > 0, "signature");
  return to_pem(self, key.get());
}

http::TlsPair make_serving(const http::TlsPair& authority, const std::vector<std::string>& names,
                           Lifetime lifetime) {
  const Certificate issuer = parse_certificate(authority.certificate);
  const Key signer = parse_key(authority.key);
  if (!issuer || !signer) throw Error("a certificate cannot be made: the authority cannot be read");
  lifetime.end = std::min(lifetime.end, time_of(X509_get0_notAfter(issuer.get())));
  const Key key = make_key();
  const Certificate certificate = blank(names.empty() ? "webhook" : names.front(), key.get(), lifetime);
  X509* self = certificate.get();
  require(X509_set_issuer_name(self, X509_get_subject_name(issuer.get())) == 1, "issuer");
  add_extension(self, issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(self, issuer.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(self, issuer.get(), NID_ext_key_usage, "serverAuth");
  // RFC 5280 wants it of every authority; Go and OpenSSL take those without it.
  if (X509_get0_subject_key_id(issuer.get()) != nullptr)
    add_extension(self, issuer.get(), NID_authority_key_identifier, "keyid");
  add_extension(self, issuer.get(), NID_subject_alt_name, alternative_names(names));
  require(X509_sign(self, signer.get(), digest_for(signer.get())) > 0, "signature");
  return to_pem(self, key.get());
}

std::vector<std::string> split_bundle(std::string_view bundle) {
  std::vector<std::string> found;
  for (;;) {
    const std::size_t begin = bundle.find(begin_line);
    if (begin == std::string_view::npos) return found;
    const std::size_t end = bundle.find(end_line, begin);
    if (end == std::string_view::npos) return found;
    found.push_back(std::string(bundle.substr(begin, end + end_line.size() - begin)) + "\n");
    bundle.remove_prefix(end + end_line.size());
  }
}

std::optional<Lifetime> lifetime_of(const std::string& certificate) {
  const Certificate parsed = parse_certificate(certificate);
  if (!parsed) return std::nullopt;
  return Lifetime{time_of(X509_get0_notBefore(parsed.get())), time_of(X509_get0_notAfter(parsed.get()))};
}

bool match(const http::TlsPair& pair) {
  const Certificate certificate = parse_certificate(pair.certificate);
  const Key key = parse_key(pair.key);
  const bool good = certificate && key && is_accepted(key.get()) &&
                    X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return good;
}

bool can_sign(const http::TlsPair& authority, const std::vector<std::string>& names) {
  if (!match(authority)) return false;
  (void)alternative_names(names);  // throws for a name that no authority can sign
  try {
    const Lifetime lifetime = *lifetime_of(authority.certificate);
    return is_signed_by(make_serving(authority, names, lifetime).certificate, authority.certificate);
  } catch (const Error&) {
    return false;
  }
}

// The caller judges the lifetimes.
bool is_signed_by(const std::string& certificate, const std::string& authority) {
  const Certificate leaf = parse_certificate(certificate);
  const Certificate issuer = parse_certificate(authority);
  const std::unique_ptr<X509_STORE, Free<X509_STORE_free>> trusted(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  bool good = leaf && issuer && trusted && check && is_accepted(X509_get0_pubkey(issuer.get())) &&
              X509_STORE_add_cert(trusted.get(), issuer.get()) == 1 &&
              X509_STORE_CTX_init(check.get(), trusted.get(), leaf.get(), nullptr) == 1;
  if (good) {
    X509_VERIFY_PARAM* how = X509_STORE_CTX_get0_param(check.get());
    X509_VERIFY_PARAM_set_purpose(how, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set_auth_level(how, 2);
    X509_VERIFY_PARAM_set_flags(how, X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN);
    good = X509_verify_cert(check.get()) == 1;
  }
  ERR_clear_error();
  return good;
}

bool is_for(const std::string& certificate, const std::string& name) {
  const Certificate parsed = parse_certificate(certificate);
  if (!parsed) return false;
  const int found = is_address(name) ? X509_check_ip_asc(parsed.get(), name.c_str(), 0)
                                     : X509_check_host(parsed.get(), name.c_str(), name.size(), 0, nullptr);
  ERR_clear_error();
  return found == 1;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
