// SPDX-License-Identifier: Apache-2.0
// Records the accesses of a client; see ClientOptions::access_recorder.
#pragma once

#include <memory>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/access_record.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

/// The record of one or several clients, refused requests included.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API AccessRecorder {
 public:
  void add(const Access& access) EVENKEEL_EXCLUDES(mutex_);
  /// Adds accesses_of(request, status). Without an answer, `status` is 0.
  void add(const http::Request& request, int status) EVENKEEL_EXCLUDES(mutex_);
  AccessRecord record() const EVENKEEL_EXCLUDES(mutex_);
  void clear() EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  AccessRecord record_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Returns a transport that records each request in `recorder` and sends it with `inner`.
EVENKEEL_API std::shared_ptr<http::Transport> recording_transport(std::shared_ptr<http::Transport> inner,
                                                                  std::shared_ptr<AccessRecorder> recorder);

}  // namespace v0
}  // namespace evenkeel
