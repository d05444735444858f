// SPDX-License-Identifier: Apache-2.0
#include "manager/signals.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// A signal handler can only access globals. Both are lock-free, as handlers require.
std::atomic<int> signal_pipe = -1;
std::atomic<int> signals_seen = 0;
static_assert(std::atomic<int>::is_always_lock_free);

constexpr std::array<int, 2> signals = {SIGINT, SIGTERM};
std::array<struct sigaction, 2> previous;

extern "C" void evenkeel_on_signal(int signal) {
  const int saved = errno;
  if (signals_seen.fetch_add(1) > 0) ::_exit(128 + signal);
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(signal_pipe.load(), &byte, 1);
  errno = saved;
}

}  // namespace

SignalStop::SignalStop() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  read_end_ = ends[0];
  write_end_ = ends[1];
  int none = -1;
  if (!signal_pipe.compare_exchange_strong(none, write_end_)) {
    ::close(read_end_);
    ::close(write_end_);
    throw std::logic_error("evenkeel::run is running already");
  }
  signals_seen = 0;
  reader_ = std::thread([this] {
    char byte = 0;
    while (::read(read_end_, &byte, 1) < 0 && errno == EINTR) {
    }
    stop_.request_stop();
  });
  struct sigaction action = {};
  action.sa_handler = evenkeel_on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &previous[i]);
}

SignalStop::~SignalStop() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &previous[i], nullptr);
  signal_pipe = -1;
  ::close(write_end_);  // end of file for the reader, if no signal came
  reader_.join();
  ::close(read_end_);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
