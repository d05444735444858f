// SPDX-License-Identifier: Apache-2.0
// An operator whose replicas share the ConfigMaps with the label shards-demo: start it several times, end
// some with Ctrl-C or kill -9, and see who reconciles what. Each object is reconciled again after 500 ms.
//   shards-operator --objects 60
// Prints "begin KEY TERM NANOSECONDS" and "end KEY TERM NANOSECONDS" (of the monotonic clock) for each run.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stop_token>
#include <string>

#include <evenkeel/evenkeel.hpp>

#include "shared_controller.hpp"

using namespace std::chrono_literals;

namespace {

void say(const char* what, const ek::Context& context) {
  std::printf("%s %s %llu %lld\n", what, context.key().str().c_str(),
              static_cast<unsigned long long>(context.term().value_or(0)),
              static_cast<long long>(context.clock().now().time_since_epoch().count()));
  std::fflush(stdout);
}

void create_objects(const ek::Client& client, std::int64_t count, const std::stop_token& stop) {
  for (std::int64_t i = 0; i < count && !stop.stop_requested(); ++i) {
    try {
      client.create(ek::ConfigMap{.metadata = {.name = "map-" + std::to_string(i),
                                               .namespace_ = "default",
                                               .labels = {{"shards-demo", "true"}}}});
    } catch (const ek::ApiError& error) {
      if (!error.is_already_exists()) throw;  // another replica was faster
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t objects = 60;
  ek::RunOptions options{.name = "shards-operator"};
  options.flags.add("--objects", objects, "ConfigMaps that it creates");
  // So that it can be seen how fast a killed replica is replaced. The defaults are five times as long.
  options.manager.shards = ek::ShardOptions{
      .name = "shards-demo", .lease_duration = 3s, .renew_deadline = 2s, .retry_period = 400ms};
  return ek::run(argc, argv, options, [&](ek::Manager& manager) {
    manager.add(shared_controller(say));
    manager.add_task("objects",
                     [&](std::stop_token stop) { create_objects(manager.client(), objects, stop); });
  });
}
