// SPDX-License-Identifier: Apache-2.0
// The certificates and keys of a transport, reread when files were replaced.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/tls.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// The contents of certificate files and data when an exchange started; kept until it ends.
struct TlsMaterial {
  std::string ca;
  std::string cert;
  std::string key;
};

/// Reads the files of TlsOptions. Thread safety: all members may be called concurrently.
class TlsFiles {
 public:
  TlsFiles(TlsOptions options, Duration reload) : options_(std::move(options)), reload_(reload) {}

  /// Returns the current material, at most `reload` old. If files cannot be read, keeps the last that could;
  /// throws std::runtime_error if there is none.
  std::shared_ptr<const TlsMaterial> get() EVENKEEL_EXCLUDES(mutex_);

 private:
  std::shared_ptr<const TlsMaterial> read() const;

  const TlsOptions options_;
  const Duration reload_;
  Mutex mutex_;
  std::shared_ptr<const TlsMaterial> last_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint read_at_ EVENKEEL_GUARDED_BY(mutex_){};
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
