// SPDX-License-Identifier: Apache-2.0
// The program: flags, manifests, and what it adds to the manager. README.md says where the rest is.
//
//     cache-operator --print-manifests --manifest-image registry.example.com/cache-operator:0.1 | kubectl
//     apply -f -
#include "console.hpp"
#include "controller.hpp"
#include "conversion.hpp"
#include "webhook.hpp"

namespace {

using namespace cache_operator;

ek::FlagSet flags_of(Settings& settings) {
  ek::FlagSet flags;
  flags.add("--default-image", settings.image, "Image of caches that name none")
      .add("--flush-image", settings.flush_image, "Image of the job that empties caches; has sh and nc")
      .add("--rollout-limit", settings.rollout_limit,
           "Time after which a change of servers counts as stalled")
      .add("--drain-limit", settings.drain_limit, "Time that servers have to stop when a cache is deleted");
  return flags;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const ek::RunOptions options{.name = "cache-operator",
                               .version = "0.1",
                               .description = "Runs caches of memcached",
                               .manifests = {.rules = memcached_rules()},
                               .flags = flags_of(settings)};
  return ek::run(argc, argv, options, [&settings](ek::Manager& manager) {
    manager.add(memcached_controller(settings, manager.metrics()));
    manager.add(memcached_webhook(settings));
    manager.add(memcached_conversion());
    add_console_section(manager);
  });
}
