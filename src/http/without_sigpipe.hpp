// SPDX-License-Identifier: Apache-2.0
// Writes to broken connections without a signal.
#pragma once

#include <csignal>
#include <ctime>
#include <pthread.h>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Keeps a SIGPIPE of a write to a broken connection from the host, for the calling thread only.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
