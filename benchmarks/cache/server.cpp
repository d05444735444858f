// SPDX-License-Identifier: Apache-2.0
// The embedded API server over TLS with faults by command, for scripts/bench-cache.
//
//   cache_server --write-kubeconfig FILE
//
// It prints "cache_server is ready at URL", and runs until the end of its input. Each line of input is a
// command, and is answered by a line:
//   hold     watches of pods that begin after it get no events ...
//   release  ... until this
//   expire   ends all watches, and sends the next one of pods 410 as its first event: its client lists again
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <evenkeel/apiserver/api_server.hpp>

#include "../support/program.hpp"

namespace {

namespace ek = evenkeel;
using namespace evenkeel::benchmarks;

constexpr std::size_t unread_bytes = std::size_t{4} << 30;  // no held watch is ended

void obey(ek::apiserver::ApiServer& server, const std::string& command) {
  if (command == "hold") {
    server.inject({.verb = "watch", .resource = "pods", .event_delay = std::chrono::hours{1}});
  } else if (command == "release") {
    server.clear_faults();
  } else if (command == "expire") {
    server.inject({.verb = "watch", .resource = "pods", .count = 1, .status = 410, .cut_after_events = 0});
    server.cut_watches();
  } else {
    throw std::invalid_argument("unknown command " + command);
  }
  say(ek::Json::object({{"event", command}}));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("cache_server", [&] {
    std::string kubeconfig;
    read_flags(argc, argv, {{"--write-kubeconfig", &kubeconfig}});
    // On the heap: g++ 12 warns that options on the stack are uninitialised when it inlines their destructor.
    const auto options = std::make_unique<ek::apiserver::ApiServerOptions>();
    options->tls = true;
    options->core.max_unread_bytes = unread_bytes;
    ek::apiserver::ApiServer server(*options);
    std::ofstream(kubeconfig) << server.kubeconfig();
    std::printf("cache_server is ready at %s\n", server.url().c_str());
    std::fflush(stdout);
    for (std::string command; std::getline(std::cin, command);) obey(server, command);
    server.stop();
    return EXIT_SUCCESS;
  });
}
