// SPDX-License-Identifier: Apache-2.0
// ring-operator: manages the RingCluster of one namespace. Several of them, each with its own namespace,
// share one database; spec.automationOptions.synchronizationMode selects whether they agree before they
// disrupt it. It has its own flags in addition to those of every operator (docs/flags.md).
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/coordination/coordination_metrics.hpp>
#ifdef RING_WITH_FOUNDATIONDB
#include <evenkeel/coordination/foundationdb_store.hpp>
#endif
#include <evenkeel/coordination/store_url.hpp>
#include <evenkeel/manager/run.hpp>
#include <evenkeel/metrics/registry.hpp>

#include "program_flags.hpp"
#include "ring_admin_client.hpp"
#include "ring_controller.hpp"

namespace {

struct Flags {
  std::string database = "http://127.0.0.1:8000";
  std::string store = "etcd://127.0.0.1:2379";
  RingCoordinationOptions coordination = {};
};

void declare(CLI::App& app, Flags& flags) {
  RingCoordinationOptions& coordination = flags.coordination;
  app.add_option("--database", flags.database, "URL of this instance's door to the database")
      ->capture_default_str();
  app.add_option("--store", flags.store, "URL of the store that the instances share")->capture_default_str();
  app.add_option("--root", coordination.root, "Prefix of the keys")->capture_default_str();
  app.add_option("--instance", coordination.instance, "Unique name of this instance")->capture_default_str();

  app.add_option_function<std::string>(
         "--ready-by",
         [&coordination](const std::string& text) {
           const auto ready_by = ec::ready_by_of(text);
           if (!ready_by) {
             throw CLI::ValidationError("--ready-by",
                                        "expected all, transaction_system or process_class, found " + text);
           }
           coordination.ready_by = *ready_by;
         },
         "Which process groups wait for each other before they are excluded; the same for all instances")
      ->type_name("all|transaction_system|process_class");
  app.add_option("--time-scale", coordination.time_scale, "Factor by which time passes faster")
      ->check(CLI::PositiveNumber);
  add_duration(app, "--minimum-uptime", coordination.minimum_uptime,
               "Minimum time between the last recovery and a restart or inclusion, unscaled");
  add_duration(app, "--silence", coordination.silence,
               "Time after which an instance that does not renew its record is silent, unscaled");
}

std::string random_text() {
  std::random_device chance;
  return std::to_string(chance()) + "-" + std::to_string(chance());
}

int serve(const Flags& flags, const std::vector<const char*>& rest) {
  std::vector<ec::StoreScheme> schemes;
#ifdef RING_WITH_FOUNDATIONDB
  std::optional<ec::FoundationDbNetwork> network;
  if (flags.store.starts_with("fdb://")) schemes.push_back(network.emplace().scheme());
#endif
  RingAdminClient database({.url = flags.database});
  ec::MeteredStore store(
      ec::open_store(flags.store, {.root = flags.coordination.root, .schemes = std::move(schemes)}));
  RingCoordination coordination(database, store, flags.coordination);
  RingSteps steps(database, {});
  return ek::run(
      static_cast<int>(rest.size()), rest.data(), {.name = "ring-operator"}, [&](ek::Manager& manager) {
        manager.add(ring_controller(steps, coordination));
        manager.metrics().add("coordination", [&](ek::MetricSink& sink) { coordination.collect(sink); });
        manager.add_console_section("Coordination", coordination.console_section());
      });
}

}  // namespace

int main(int argc, char** argv) {
  // On the heap: g++ 12 warns that options on the stack are uninitialised when it inlines their destructor.
  const auto flags = std::make_unique<Flags>();
  CLI::App app("An operator that coordinates with others.", "ring-operator");
  declare(app, *flags);
  flags->coordination.incarnation = random_text();
  return run_program(app, argc, argv,
                     [&flags](const std::vector<const char*>& rest) { return serve(*flags, rest); });
}
