// SPDX-License-Identifier: Apache-2.0
// Leader election alone, without cache, queue or controller: of all processes with the same NAME, one prints
// that it is the leader. Needs evenkeel::election only. Start two, and end one with Ctrl-C or kill -9.
//   leader-election NAME [IDENTITY [SECONDS]]
// The Lease is NAME in the namespace of kubectl's context; it lasts 15 seconds, or as many as given.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <stop_token>
#include <string>
#include <thread>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/election/elector.hpp>

namespace ek = evenkeel;

// Requests a stop on SIGTERM and SIGINT. Created before any other thread, so that all of them block these
// signals.
class StopAtSignal {
 public:
  StopAtSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this] {
      int received = 0;
      sigwait(&signals_, &received);
      source_.request_stop();
    });
  }
  ~StopAtSignal() {
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  sigset_t signals_{};
  std::stop_source source_;
  std::thread thread_;
};

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// The work of a leader: waits until leadership ends.
void lead(const ek::Leadership& leadership, const std::stop_token& stop) {
  std::stop_source over;
  const std::stop_callback lost(leadership.lost, [&over] { over.request_stop(); });
  const std::stop_callback stopped(stop, [&over] { over.request_stop(); });
  ek::sleep_until(*ek::real_clock(), ek::TimePoint::max(), over.get_token());
}

int main(int argc, char** argv) try {
  const long seconds = argc > 3 ? std::strtol(argv[3], nullptr, 10) : 15;
  if (argc < 2 || seconds < 1) {
    std::fprintf(stderr, "usage: %s NAME [IDENTITY [SECONDS]]\n", argv[0]);
    return 2;
  }
  const ek::Duration lease = std::chrono::seconds{seconds};
  const StopAtSignal signals;
  ek::Elector elector(ek::Client(ek::load_config()),
                      {.name = argv[1],
                       .identity = argc > 2 ? argv[2] : "",
                       .lease_duration = lease,
                       .renew_deadline = lease * 2 / 3,
                       .retry_period = lease * 2 / 15,
                       .on_new_holder = [](const std::string& holder) { say("holder: " + holder); }});
  ek::ElectionEnd end = ek::ElectionEnd::lost;
  while (end == ek::ElectionEnd::lost) {
    end = elector.run(signals.token(), [&](const ek::Leadership& leadership) {
      say("leading, term " + std::to_string(leadership.term));
      lead(leadership, signals.token());
      say(leadership.lost.stop_requested() ? "lost" : "stopping");
    });
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "leader-election: %s\n", error.what());
  return 1;
}
