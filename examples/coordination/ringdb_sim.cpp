// SPDX-License-Identifier: Apache-2.0
// ringdb-sim: a simulated database with its admin API and the nodes that it runs on. Its Pods are real
// objects of an API server. It has its own flags in addition to those of every operator (docs/flags.md).
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/manager/run.hpp>

#include "program_flags.hpp"
#include "ring_doors.hpp"
#include "ring_nodes.hpp"

namespace {

struct Flags {
  std::string address = "127.0.0.1:0";
  std::string callers = "dc1,dc2,dc3";
  std::string write_urls = {};
  RingDatabaseOptions database = {};
  RingNodesOptions nodes = {};
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--address", flags.address, "Listen address of /status, /journal, /faults and /doors")
      ->capture_default_str();
  app.add_option("--callers", flags.callers, "Callers, each of which gets its own port (door)")
      ->capture_default_str();
  app.add_option("--write-urls", flags.write_urls, "File for the URLs of all doors, as JSON");
  app.add_option("--processes", flags.database.processes,
                 "Number of running processes at which the database is configured");
  app.add_option("--coordinators", flags.database.coordinators)->capture_default_str();
  add_duration(app, "--recovery", flags.database.recovery, "Duration of a recovery");
  add_duration(app, "--move", flags.database.move, "Time until an excluded process holds no data");
  add_duration(app, "--start-min", flags.nodes.start_min, "Minimum delay between a Pod and its process");
  add_duration(app, "--start-max", flags.nodes.start_max, "Maximum of the same");
  add_duration(app, "--sync-min", flags.nodes.sync_min,
               "Minimum delay between a ConfigMap change and a Pod's copy");
  add_duration(app, "--sync-max", flags.nodes.sync_max, "Maximum of the same");
  app.add_option("--seed", flags.nodes.seed, "Seed of the delays")->capture_default_str();
}

int serve(const Flags& flags, const std::vector<const char*>& rest) {
  const std::shared_ptr<const ek::Clock> clock = ek::real_clock();
  SharedRing ring(flags.database, clock);
  const RingDoors doors(ring, split(flags.callers, ','), flags.address);
  RingNodes nodes(flags.nodes, ring);
  if (!flags.write_urls.empty()) write_file(flags.write_urls, doors.urls());
  std::fprintf(stderr, "ringdb-sim listens at %s\n", doors.admin_url().c_str());
  return ek::run(static_cast<int>(rest.size()), rest.data(), {.name = "ringdb-sim"},
                 [&nodes](ek::Manager& manager) { manager.add(nodes.controller()); });
}

}  // namespace

int main(int argc, char** argv) {
  // On the heap: g++ 12 warns that options on the stack are uninitialised when it inlines their destructor.
  const auto flags = std::make_unique<Flags>();
  CLI::App app("A simulated database for the coordination demo.", "ringdb-sim");
  declare(app, *flags);
  return run_program(app, argc, argv,
                     [&flags](const std::vector<const char*>& rest) { return serve(*flags, rest); });
}
