// SPDX-License-Identifier: Apache-2.0
#include "http/tls_files.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/files.hpp"
#include "http/deadline_clock.hpp"
#include "http/pair_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

// Files that are being replaced are usable within this time.
constexpr Duration pause_after_unusable = std::chrono::seconds{1};

/// Returns the data if there is any, else the contents of the file. Throws std::runtime_error if the file
/// cannot be read.
std::string data_or_file(const std::string& data, const std::string& path, const char* what) {
  if (!data.empty() || path.empty()) return data;
  std::string problem;
  std::optional<std::string> content =
      evenkeel::detail::read_file(path, problem, evenkeel::detail::FileRule::regular);
  if (!content) throw std::runtime_error(std::string("cannot read ") + what + " " + path);
  if (content->empty()) throw std::runtime_error(std::string(what) + " " + path + " is missing or empty");
  return std::move(*content);
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
  return now() < due_ ? Freshness::fresh : Freshness::stale;
}

std::shared_ptr<const TlsMaterial> TlsFiles::current() const {
  MutexLock lock(mutex_);
  return last_;
}

// Replaces what a replacement in progress has made unusable by what was used before. Returns true if it did.
bool TlsFiles::keep_usable(TlsMaterial& fresh) const {
  bool kept = false;
  if (last_->authorities && !fresh.authorities && !fresh.ca.empty()) {
    fresh.ca = last_->ca;
    fresh.authorities = last_->authorities;
    kept = true;
  }
  const bool same_pair = fresh.cert == last_->cert && fresh.key == last_->key;
  if (!same_pair && !fresh.cert.empty() && check_pair(fresh.cert, fresh.key) != PairProblem::none &&
      check_pair(last_->cert, last_->key) == PairProblem::none) {
    fresh.cert = last_->cert;
    fresh.key = last_->key;
    kept = true;
  }
  return kept;
}

// Returns true if the client certificate is another one than before.
bool TlsFiles::refresh() {
  const Pair pair = given_pair();
  const TimePoint at = now();
  if (last_ && pair == pair_ && at < due_) return false;
  due_ = deadline_after(at, reload_);
  const TimePoint retry = deadline_after(at, std::min(reload_, pause_after_unusable));
  TlsMaterial fresh;
  try {
    fresh = read(pair);
  } catch (const std::exception&) {
    if (!last_) throw;
    pair_ = pair;  // it is taken with the files
    due_ = retry;
    return false;
  }
  fresh.authorities = last_ && fresh.ca == last_->ca ? last_->authorities : Authorities::parse(fresh.ca);
  if (last_ && keep_usable(fresh)) due_ = retry;
  pair_ = pair;
  if (last_ && fresh == *last_) return false;
  const bool rotated = last_ && (fresh.cert != last_->cert || fresh.key != last_->key);
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
