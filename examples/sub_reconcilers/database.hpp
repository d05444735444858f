// SPDX-License-Identifier: Apache-2.0
// A database of several processes, rolled out by a reconciler in steps. Each step does one thing and decides
// how the run continues: with the next step, not at all, or with the next step and another run later.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/controller/pipeline.hpp>

namespace ek = evenkeel;

struct DatabaseSpec {
  int processes = 1;
  std::string version;
  bool paused = false;
};
EVENKEEL_FIELDS(DatabaseSpec, (processes, ek::minimum(0)), version, paused)

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
inline ek::Step respect_the_pause(ek::Context&, const Database& database) {
  return database.spec.paused ? ek::stop_here() : ek::go_on();
}

// Nothing can be started without a version. A change of the object causes an event, so a retry is not needed.
inline ek::Step check_the_spec(ek::Context& context, const Database& database) {
  if (!database.spec.version.empty()) return ek::go_on();
  ek::set_condition(
      context, database,
      {.type = "Ready", .status = "False", .reason = "Invalid", .message = "spec.version is empty"});
  throw ek::TerminalError("spec.version is empty");
}

inline void write_the_configuration(ek::Context& context, const Database& database) {
  ek::create_or_update<ek::ConfigMap>(context, context.key(), [&](ek::ConfigMap& map) {
    ek::set_controller_reference(database, map.metadata);
    map.data["version"] = database.spec.version;
    map.data["processes"] = std::to_string(database.spec.processes);
  });
}

// Starts one process in each run, and stops those that are too many. The later steps must not wait for that:
// they run at once.
inline ek::Step run_processes(ek::Context& context, const Database& database) {
  if (database.status.running == database.spec.processes) return ek::go_on();
  const int running = std::min(database.status.running + 1, database.spec.processes);
  context.patch_status(database, [running](DatabaseStatus& status) { status.running = running; });
  if (running == database.spec.processes) return ek::go_on();
  return ek::later(std::chrono::seconds{10}, std::to_string(running) + " of " +
                                                 std::to_string(database.spec.processes) + " processes run");
}

// Sees the status that the step before wrote.
inline void report(ek::Context& context, const Database& database) {
  const bool ready = database.status.running == database.spec.processes;
  ek::set_condition(context, database,
                    {.type = "Ready",
                     .status = ready ? "True" : "False",
                     .reason = ready ? "AllRun" : "Starting",
                     .message = std::to_string(database.status.running) + " run"});
}

inline ek::ControllerSpec database_controller() {
  ek::Pipeline<Database> steps;
  steps.step("pause", respect_the_pause)
      .step("spec", check_the_spec)
      .step("configuration", write_the_configuration)
      .step("processes", run_processes)
      .step("report", report);
  return ek::controller_for<Database>(steps, {.when = ek::generation_changed()});
}
