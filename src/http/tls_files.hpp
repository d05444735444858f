// SPDX-License-Identifier: Apache-2.0
// The certificates and keys of a transport, reread when files were replaced.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/client_certificate.hpp>
#include <evenkeel/http/tls.hpp>

#include "http/openssl_hooks.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// The contents of certificate files and data when an exchange started; kept until it ends.
struct TlsMaterial {
  std::string ca;
  std::string cert;
  std::string key;
  std::string ca_origin = {};                           ///< "CA file /etc/ca.crt" or "CA data", for errors.
  std::string cert_origin = {};                         ///< Likewise, of the client certificate and its key.
  std::shared_ptr<const Authorities> authorities = {};  ///< Parsed from `ca`; null if libcurl has to do it.

  bool operator==(const TlsMaterial& other) const {
    return ca == other.ca && cert == other.cert && key == other.key;
  }
};

/// Reads the files of TlsOptions. Thread safety: all members may be called concurrently.
class TlsFiles {
 public:
  TlsFiles(TlsOptions options, Duration reload) : options_(std::move(options)), reload_(reload) {}

  /// Returns the current material: files at most `reload` old, TlsOptions::client_certificate at once. The
  /// same pointer is returned while nothing changed. Keeps the last files that were usable while they cannot
  /// be read, while certificate and key do not belong together, and while the authorities cannot be parsed,
  /// as in the middle of a replacement; they are read again after a second, and another client certificate
  /// waits for that. Throws std::runtime_error if there are none. Source: client-go's dynamicClientCert,
  /// which keeps a pair that tls.LoadX509KeyPair took.
  std::shared_ptr<const TlsMaterial> get() EVENKEEL_EXCLUDES(mutex_);
  enum class Freshness : unsigned char {
    fresh,    ///< get() returns what it has.
    stale,    ///< get() reads the files again; current() is usable.
    missing,  ///< get() reads the files; there is nothing, or another client certificate is due.
  };
  /// Returns what get() would do. Does not block.
  Freshness freshness() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the last material, or null. Does not block.
  std::shared_ptr<const TlsMaterial> current() const EVENKEEL_EXCLUDES(mutex_);
  /// Sets a function that get() calls, without a lock, when it returns another client certificate than
  /// before. Must be called before get().
  void on_rotation(std::function<void()> notify) { notify_ = std::move(notify); }

 private:
  using Pair = std::shared_ptr<const CertificatePair>;

  TlsMaterial read(const Pair& pair) const;
  Pair given_pair() const {
    return options_.client_certificate ? options_.client_certificate->get() : nullptr;
  }
  bool refresh() EVENKEEL_REQUIRES(mutex_);
  bool keep_usable(TlsMaterial& fresh) const EVENKEEL_REQUIRES(mutex_);

  const TlsOptions options_;
  const Duration reload_;
  std::function<void()> notify_;
  mutable Mutex mutex_;
  Pair pair_ EVENKEEL_GUARDED_BY(mutex_);  // at the last reading; of last_ unless that failed
  std::shared_ptr<const TlsMaterial> last_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint due_ EVENKEEL_GUARDED_BY(mutex_){};  // of the next reading
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
