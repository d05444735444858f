// SPDX-License-Identifier: Apache-2.0
// A database of several processes, rolled out by a reconciler in steps. Each step does one thing and decides
// how the run continues: with the next step, not at all, or with the next step and another run later. The
// cluster is the embedded API server in virtual time; one process starts every ten seconds.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/testing/harness.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;

struct DatabaseSpec {
  int processes = 1;
  std::string version;
  bool paused = false;
};
EVENKEEL_FIELDS(DatabaseSpec, processes, version, paused)

struct DatabaseStatus {
  int running = 0;
  std::vector<ek::Condition> conditions;
};
EVENKEEL_FIELDS(DatabaseStatus, running, conditions)

struct Database {
  static constexpr ek::ResourceInfo resource{.group = "example.com",
                                             .version = "v1",
                                             .kind = "Database",
                                             .plural = "databases",
                                             .installs_crd = true};
  ek::ObjectMeta metadata;
  DatabaseSpec spec;
  DatabaseStatus status;
};
EVENKEEL_FIELDS(Database, metadata, spec, status)

// Changes nothing while the database is paused for manual work.
ek::Step respect_the_pause(ek::Context&, const Database& database) {
  return database.spec.paused ? ek::stop_here() : ek::go_on();
}

// Nothing can be started without a version. A change of the object causes an event, so a retry is not needed.
ek::Step check_the_spec(ek::Context&, const Database& database) {
  if (database.spec.version.empty()) throw ek::TerminalError("spec.version is empty");
  return ek::go_on();
}

void write_the_configuration(ek::Context& context, const Database& database) {
  ek::create_or_update<ek::ConfigMap>(context, context.key(), [&](ek::ConfigMap& map) {
    ek::set_controller_reference(database, map.metadata);
    map.data["version"] = database.spec.version;
    map.data["processes"] = std::to_string(database.spec.processes);
  });
}

// Starts one process in each run. The later steps must not wait for that: they run at once.
ek::Step start_processes(ek::Context& context, const Database& database) {
  if (database.status.running >= database.spec.processes) return ek::go_on();
  const int running = database.status.running + 1;
  context.patch_status(database, [running](DatabaseStatus& status) { status.running = running; });
  if (running == database.spec.processes) return ek::go_on();
  return ek::later(
      10s, std::to_string(running) + " of " + std::to_string(database.spec.processes) + " processes run");
}

// Sees the status that the step before wrote.
void report(ek::Context& context, const Database& database) {
  const bool ready = database.status.running == database.spec.processes;
  ek::set_condition(context, database,
                    {.type = "Ready",
                     .status = ready ? "True" : "False",
                     .reason = ready ? "AllRun" : "Starting",
                     .message = std::to_string(database.status.running) + " run"});
}

ek::ControllerSpec database_controller() {
  ek::Pipeline<Database> steps;
  steps.step("pause", respect_the_pause)
      .step("spec", check_the_spec)
      .step("configuration", write_the_configuration)
      .step("processes", start_processes)
      .step("report", report);
  return ek::controller_for<Database>(steps, {.when = ek::generation_changed()});
}

void tell(const ek::testing::Harness& harness, std::size_t& told) {
  for (; told < harness.runs().size(); ++told) {
    const ek::testing::ReconcileRun& run = harness.runs()[told];
    std::printf("  %3lld s: %s%s%s\n", static_cast<long long>(run.at / 1s),
                std::string(ek::outcome_name(run.outcome.kind)).c_str(),
                run.outcome.message.empty() ? "" : ", ", run.outcome.message.c_str());
    for (const ek::testing::Write& write : run.writes)
      std::printf("         %s %s\n", write.verb.c_str(), write.resource.c_str());
  }
}

int main() {
  const ek::ObjectKey orders{"default", "orders"};
  ek::testing::Harness harness({.expect_failures = true});  // of the missing version
  std::size_t told = 0;
  harness.add(database_controller());

  std::printf("Three processes:\n");
  harness.create({Database{.metadata = {.name = orders.name, .namespace_ = orders.namespace_},
                           .spec = {.processes = 3, .version = "7.3", .paused = false},
                           .status = {}}});
  harness.settle();
  tell(harness, told);

  std::printf("Two more, but paused:\n");
  harness.edit<Database>(orders, [](Database& database) {
    database.spec.processes = 5;
    database.spec.paused = true;
  });
  harness.settle();
  tell(harness, told);

  std::printf("Not paused any more:\n");
  harness.edit<Database>(orders, [](Database& database) { database.spec.paused = false; });
  harness.settle();
  tell(harness, told);

  std::printf("A version that is none:\n");
  harness.edit<Database>(orders, [](Database& database) { database.spec.version.clear(); });
  harness.settle();
  tell(harness, told);

  const bool as_it_should = harness.get<Database>(orders)->status.running == 5;
  return as_it_should ? 0 : 1;
}
