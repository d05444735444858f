// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as a stop token, for programs that consist of an operator only.
#pragma once

#include <stop_token>
#include <thread>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// During its lifetime, the first SIGINT or SIGTERM triggers token(); the second ends the process at once
/// with 128 plus the signal's number. At most one per process. The destructor restores the previous handlers.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  int read_end_ = -1;
  int write_end_ = -1;
  std::thread reader_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
