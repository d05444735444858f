// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/certificate_text.hpp"

#include <memory>
#include <optional>

#include <climits>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

struct Block {
  std::string label;
  std::string headers;
  std::string bytes;
};

/// Returns the next block; std::nullopt at the end.
std::optional<Block> next_block(BIO* bio) {
  char* label = nullptr;
  char* headers = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  const bool found = PEM_read_bio(bio, &label, &headers, &bytes, &size) == 1;
  ERR_clear_error();
  if (!found) return std::nullopt;
  Block out{label, headers,
            std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size))};
  OPENSSL_free(label);
  OPENSSL_free(headers);
  OPENSSL_free(bytes);
  return out;
}

/// Returns a reader of the text, which must outlive it.
Owned<BIO> reader(const std::string& text) {
  if (text.size() > INT_MAX) return nullptr;
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<std::string> organizations_of(X509_REQ* request) {
  std::vector<std::string> out;
  X509_NAME* name = X509_REQ_get_subject_name(request);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

bool is_certificate(const std::string& bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = at + bytes.size();
  const Owned<X509> certificate(d2i_X509(nullptr, &at, static_cast<long>(bytes.size())));
  ERR_clear_error();
  return certificate && at == end;
}

}  // namespace

CertificateRequestText read_certificate_request(const std::string& pem) {
  const Owned<BIO> bio = reader(pem);
  const std::optional<Block> block = bio ? next_block(bio.get()) : std::nullopt;
  if (!block || block->label != PEM_STRING_X509_REQ)
    return {.problem = "PEM block type must be CERTIFICATE REQUEST"};
  const auto* at = reinterpret_cast<const unsigned char*>(block->bytes.data());
  const Owned<X509_REQ> request(d2i_X509_REQ(nullptr, &at, static_cast<long>(block->bytes.size())));
  EVP_PKEY* key = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  const bool valid = key != nullptr && X509_REQ_verify(request.get(), key) == 1;
  ERR_clear_error();
  if (!request) return {.problem = "asn1: structure error: malformed certificate request"};
  if (!valid) return {.problem = "x509: the signature of the request is not valid"};
  return {.organizations = organizations_of(request.get())};
}

std::string certificate_problem(const std::string& pem) {
  const Owned<BIO> bio = reader(pem);
  bool any = false;
  while (const std::optional<Block> block = bio ? next_block(bio.get()) : std::nullopt) {
    any = true;
    if (block->label != PEM_STRING_X509)
      return "only CERTIFICATE PEM blocks are allowed, found \"" + block->label + "\"";
    if (!block->headers.empty()) return "no PEM block headers are permitted";
    if (!is_certificate(block->bytes)) return "x509: malformed certificate";
  }
  return any ? "" : "must contain at least one CERTIFICATE PEM block";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
