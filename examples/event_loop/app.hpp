// SPDX-License-Identifier: Apache-2.0
// The part of both examples that does not know which loop drives it: a watch of config maps, and a candidate
// for a Lease.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/http/event_loop.hpp>

namespace ek = evenkeel;

inline void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

class App {
 public:
  // The arguments are those of main(): NAME [IDENTITY [SECONDS]].
  App(const std::shared_ptr<ek::EventLoop>& loop, int argc, char** argv, std::function<void()> on_end)
      : client_(ek::load_config(), {.event_loop = loop}),
        elector_(client_, options(argc, argv)),
        on_end_(std::move(on_end)) {
    watch_ =
        ek::start_watch<ek::ConfigMap>(client_, {},
                                       {.on_event =
                                            [](ek::Outcome<ek::WatchEvent<ek::ConfigMap>> event) {
                                              if (event.ok() && event.value().object)
                                                say("config map " + ek::key_of(*event.value().object).str());
                                            },
                                        .on_end = [](const std::exception_ptr&) {}});
    campaign();
  }
  ~App() { watch_->cancel(); }

  // Releases the Lease; `on_end` follows.
  void stop() { elector_.resign(); }

 private:
  void campaign() {
    elector_.start(
        {.on_leading = [](const ek::Leadership& now) { say("leading, term " + std::to_string(now.term)); },
         .on_end =
             [this](ek::ElectionEnd end) {
               say(end == ek::ElectionEnd::lost ? "lost" : "stopping");
               end == ek::ElectionEnd::lost ? campaign() : on_end_();
             }});
  }

  static ek::ElectionOptions options(int argc, char** argv) {
    const ek::Duration lease = std::chrono::seconds{argc > 3 ? std::strtol(argv[3], nullptr, 10) : 15};
    return {.name = argc > 1 ? argv[1] : "event-loop",
            .identity = argc > 2 ? argv[2] : "",
            .lease_duration = lease,
            .renew_deadline = lease * 2 / 3,
            .retry_period = lease * 2 / 15,
            .on_new_holder = [](const std::string& holder) { say("holder: " + holder); }};
  }

  const ek::Client client_;
  ek::Elector elector_;
  const std::function<void()> on_end_;
  std::shared_ptr<ek::WatchCall> watch_;
};
