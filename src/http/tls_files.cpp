// SPDX-License-Identifier: Apache-2.0
#include "http/tls_files.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "http/deadline_clock.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

/// Returns the data if there is any, else the contents of the file. Throws std::runtime_error if the file
/// cannot be read.
std::string data_or_file(const std::string& data, const std::string& path, const char* what) {
  if (!data.empty() || path.empty()) return data;
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && !file.eof()) throw std::runtime_error(std::string("cannot read ") + what + " " + path);
  if (content.empty()) throw std::runtime_error(std::string(what) + " " + path + " is missing or empty");
  return content;
}

/// Returns the name of what data_or_file() returns, for errors.
std::string origin_of(const std::string& data, const std::string& path, const char* what) {
  return data.empty() && !path.empty() ? std::string(what) + " file " + path : std::string(what) + " data";
}

}  // namespace

TlsMaterial TlsFiles::read(const Pair& pair) const {
  TlsMaterial material{
      .ca = options_.insecure ? std::string() : data_or_file(options_.ca_data, options_.ca_file, "CA file"),
      .cert = {},
      .key = {},
      .ca_origin = origin_of(options_.ca_data, options_.ca_file, "CA")};
  if (pair) {
    material.cert = pair->cert;
    material.key = pair->key;
    material.cert_origin = "client certificate of the credentials";
  } else {
    material.cert_origin = origin_of(options_.cert_data, options_.cert_file, "client certificate") + ", " +
                           origin_of(options_.key_data, options_.key_file, "key");
    material.cert = data_or_file(options_.cert_data, options_.cert_file, "client certificate");
    material.key = data_or_file(options_.key_data, options_.key_file, "client key");
  }
  return material;
}

std::shared_ptr<const TlsMaterial> TlsFiles::get() {
  std::shared_ptr<const TlsMaterial> result;
  bool rotated = false;
  {
    MutexLock lock(mutex_);
    rotated = refresh();
    result = last_;
  }
  if (rotated && notify_) notify_();
  return result;
}

TlsFiles::Freshness TlsFiles::freshness() const {
  const Pair pair = given_pair();
  MutexLock lock(mutex_);
  if (!last_ || pair != pair_) return Freshness::missing;
  return now() - read_at_ < reload_ ? Freshness::fresh : Freshness::stale;
}

std::shared_ptr<const TlsMaterial> TlsFiles::current() const {
  MutexLock lock(mutex_);
  return last_;
}

// Returns true if the client certificate is another one than before.
bool TlsFiles::refresh() {
  const Pair pair = given_pair();
  const TimePoint at = now();
  if (last_ && pair == pair_ && at - read_at_ < reload_) return false;
  read_at_ = at;
  TlsMaterial fresh;
  try {
    fresh = read(pair);
  } catch (const std::exception&) {
    if (!last_) throw;  // during a rotation, keep using the old files
    return false;
  }
  pair_ = pair;
  if (last_ && fresh == *last_) return false;
  const bool rotated = last_ && (fresh.cert != last_->cert || fresh.key != last_->key);
  fresh.authorities = last_ && fresh.ca == last_->ca ? last_->authorities : Authorities::parse(fresh.ca);
  last_ = std::make_shared<const TlsMaterial>(std::move(fresh));
  return rotated;
}

}  // namespace http::detail

namespace http {

void ClientCertificate::set(std::shared_ptr<const CertificatePair> pair) {
  MutexLock lock(mutex_);
  pair_ = std::move(pair);
}

std::shared_ptr<const CertificatePair> ClientCertificate::get() const {
  MutexLock lock(mutex_);
  return pair_;
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
