// SPDX-License-Identifier: Apache-2.0
// Scenarios of three and more instances, in virtual time, compared with the figures of a model of the shipped
// rules. EVENKEEL_COORDINATION_ROLLOUTS sets the number of rollouts behind each figure.
//
// The tests of each scenario (in this file, unless another one is named; "simulation": simulation_test.cpp,
// and its histories on etcd and Kubernetes):
//   roll-outs   ReachTheFiguresOfTheShippedRules, DisturbOnceHoweverManyInstancesThereAre
//   one alone   CostASingleInstanceItsQuietWindow
//   a death     OutliveADeath; simulation (crash, drop)
//   cut, denied GoOnWithoutWhoIsCutOff (store, shared system), GoOnWithoutWhoIsDenied; simulation (cut, deny)
//   a rename    SurviveARename; scope_migrator_test.cpp (InPieces); simulation (rename)
//   orphans     WaitForNoOrphans; janitor_test.cpp
//   modes       WaitForNobodyInAnotherMode; process_groups/scenarios_test.cpp; simulation (mode)
//   a straggler NameWhoIsNeverReady
//   clocks      DoNotCareAboutClocks; simulation (calendars 2 min apart)
//   a pause     claim_test.cpp (AreNotMadeByARunThatWasSucceeded); simulation (pause)
//   no store    WaitForTheStore
//   doomed      ReachTheFiguresOfTheShippedRules (doomed); process_groups/coordinator_test.cpp
//               (SparesRemoteCoordinators)
//   stuck       process_groups/scenarios_test.cpp (AStuckDeletionHoldsUpNobodysInclusion)
//   cost        CostNoMoreThanInstancesTimesUnits
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "rollout.hpp"

namespace evenkeel::coordination::rollout {
namespace {

using namespace std::chrono_literals;

std::uint64_t rollouts() {
  const char* text = std::getenv("EVENKEEL_COORDINATION_ROLLOUTS");
  return text == nullptr ? 3 : std::strtoull(text, nullptr, 10);
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

struct Mean {
  double calls = 0;
  double changes = 0;
  double recoveries = 0;
  double time = 0;
  int most_calls = 0;
  int most_recoveries = 0;
  int doomed = 0;
  int twice = 0;
  bool all_finished = true;
  // Further figures: see docs/coordination.md, "Measured savings".
  double lock_wait = 0;
  double oldest_pending = 0;  // of all rollouts
  double transactions = 0;
  double conflicts = 0;
  int most_extra = 0;  // disruptions more than the ideal, one
};

/// Invariants of every scenario in mode global.
void expect_sound(const char* name, const Result& one) {
  EXPECT_EQ(one.doomed_coordinators, 0) << name;
  EXPECT_EQ(one.twice, 0) << name;
  EXPECT_LE(one.lock_wait, one.time * static_cast<int>(one.waits.size())) << name;
  EXPECT_LE(one.oldest_pending, one.time) << name;
  EXPECT_LE(one.conflicts, one.transactions) << name;
}

/// Checks a scenario of one rollout against the ideal: one disruption, unless `ideal` says otherwise.
void report(const char* name, const Result& one, int ideal = 1) {
  std::printf(
      "%-26s %d extra disruptions, %d doomed, lock wait %.1f s, oldest pending %.0f s, %zu transactions, %zu "
      "conflicts, %.0f s\n",
      name, one.calls - ideal, one.doomed_coordinators, seconds(one.lock_wait), seconds(one.oldest_pending),
      one.transactions, one.conflicts, seconds(one.time));
  expect_sound(name, one);
  EXPECT_EQ(one.calls, ideal) << name;
}

Mean mean_of(Options options, Result (*run)(const Options&)) {
  Mean mean;
  const auto count = static_cast<double>(rollouts());
  for (std::uint64_t seed = 1; seed <= rollouts(); ++seed) {
    options.seed = seed;
    const Result one = run(options);
    mean.calls += one.calls / count;
    mean.changes += one.coordinator_changes / count;
    mean.recoveries += one.recoveries / count;
    mean.time += seconds(one.time) / count;
    mean.most_calls = std::max(mean.most_calls, one.calls);
    mean.most_recoveries = std::max(mean.most_recoveries, one.recoveries);
    mean.doomed += one.doomed_coordinators;
    mean.twice += one.twice;
    mean.all_finished = mean.all_finished && one.finished;
    mean.lock_wait += seconds(one.lock_wait) / count;
    mean.oldest_pending = std::max(mean.oldest_pending, seconds(one.oldest_pending));
    mean.transactions += static_cast<double>(one.transactions) / count;
    mean.conflicts += static_cast<double>(one.conflicts) / count;
    mean.most_extra = std::max(mean.most_extra, one.calls - 1);
    if (run == run_global) expect_sound(options.action.c_str(), one);
  }
  return mean;
}

void print(const std::string& name, const Mean& local, const Mean& global) {
  std::printf(
      "%-26s local %.2f / %.2f / %.2f / %.0f s, %d doomed   global %.2f (max %d) / %.2f / %.2f / %.0f s, %d "
      "doomed\n",
      name.c_str(), local.calls, local.changes, local.recoveries, local.time, local.doomed, global.calls,
      global.most_calls, global.changes, global.recoveries, global.time, global.doomed);
  std::printf(
      "%-26s extra %.2f, oldest pending %.0f s   extra %.2f, oldest pending %.0f s, lock wait %.1f s, "
      "%.1f transactions, %.1f conflicts\n",
      "", local.calls - 1, local.oldest_pending, global.calls - 1, global.oldest_pending, global.lock_wait,
      global.transactions, global.conflicts);
}

Options restart(Duration arrivals) {
  Options options;
  options.arrivals = arrivals;
  options.batches = 2;  // only the last unit of each decides
  return options;
}
Options exclusion(Duration arrivals) {
  Options options;
  options.action = "exclusion";
  options.arrivals = arrivals;
  options.preparation_min = 40s;
  options.preparation_max = 180s;
  options.spacing = 120s;
  options.barrier = Barrier::ready_subset;
  options.coordinators = 9;
  options.batches = 2;
  return options;
}
Options inclusion(Duration arrivals) {
  Options options;
  options.action = "inclusion";
  options.arrivals = arrivals;
  options.preparation_min = 5s;
  options.preparation_max = 30s;
  options.batches = 2;
  return options;
}

struct Row {
  const char* name;
  Options options;
  double calls;  // of the shipped rules in mode global
  double recoveries;
  double time;
};

// No worse than the shipped rules while arrivals fall inside preparation and window.
TEST(CoordinationScenarios, ReachTheFiguresOfTheShippedRules) {
  const Row rows[] = {
      {"restart within 10 s", restart(10s), 1, 1, 109},
      {"restart within 60 s", restart(60s), 1, 1, 143},
      {"restart within 300 s", restart(300s), 1.83, 1.83, 663},
      {"exclusion within 10 s", exclusion(10s), 1, 2, 226},
      {"exclusion within 60 s", exclusion(60s), 1, 2, 257},
      {"exclusion within 300 s", exclusion(300s), 1.23, 2.46, 420},
      {"inclusion within 10 s", inclusion(10s), 1, 1, 70},
      {"inclusion within 60 s", inclusion(60s), 1.04, 1.04, 126},
      {"inclusion within 300 s", inclusion(300s), 1.94, 1.94, 673},
  };
  for (const Row& row : rows) {
    const Mean local = mean_of(row.options, run_local);
    const Mean global = mean_of(row.options, run_global);
    print(row.name, local, global);
    EXPECT_TRUE(global.all_finished) << row.name;
    EXPECT_EQ(global.twice, 0) << row.name;
    EXPECT_EQ(global.doomed, 0) << row.name;
    EXPECT_DOUBLE_EQ(local.calls, 3) << row.name;
    EXPECT_LE(global.most_extra, 1) << row.name;
    if (row.options.arrivals > 60s) continue;
    EXPECT_LE(global.oldest_pending, local.oldest_pending) << row.name;
    // One call, except where arrivals only just fit into preparation and window.
    EXPECT_LE(global.calls, std::max(row.calls, 1.0) + (row.calls > 1 ? 0.25 : 0)) << row.name;
    EXPECT_LE(global.time, row.calls > 1 ? local.time : row.time * 1.05) << row.name;
  }
}

// In local mode the calls grow with the number of instances: N = 2 and 4.
TEST(CoordinationScenarios, DisturbOnceHoweverManyInstancesThereAre) {
  for (const std::size_t instances : {2U, 4U}) {
    Options options = restart(60s);
    options.instances = instances;
    const Mean local = mean_of(options, run_local);
    const Mean global = mean_of(options, run_global);
    print("restart, N = " + std::to_string(instances), local, global);
    EXPECT_DOUBLE_EQ(local.calls, static_cast<double>(instances));
    EXPECT_EQ(global.most_calls, 1);
    Options replaced = exclusion(60s);
    replaced.instances = instances;
    EXPECT_EQ(mean_of(replaced, run_global).most_recoveries, 2);
  }
}

// The cost of agreement for a single instance.
TEST(CoordinationScenarios, CostASingleInstanceItsQuietWindow) {
  Options options = exclusion(10s);
  options.instances = 1;
  const Mean local = mean_of(options, run_local);
  const Mean global = mean_of(options, run_global);
  print("exclusion, N = 1", local, global);
  EXPECT_NEAR(global.time - local.time, 30, 0.1);
}

struct DeathRow {
  const char* name;
  Death death;
  double longer;  // than without a death, at most
};

// A death costs no more than the silence limit or the claim timeout (60 s each), even with the lock, whose
// duration is the default of 10 min.
TEST(CoordinationScenarios, OutliveADeath) {
  const Mean alive = mean_of(restart(10s), run_global);
  const DeathRow rows[] = {{"after pending", Death::pending, 61},
                           {"after ready", Death::ready, 61},
                           {"with the lock", Death::lock, 76},
                           {"with a claim", Death::claim, 76},
                           {"after acting", Death::act, 76}};
  for (const DeathRow& row : rows) {
    Options options = restart(10s);
    options.death = row.death;
    const Mean mean = mean_of(options, run_global);
    print(std::string("restart, death ") + row.name, alive, mean);
    EXPECT_TRUE(mean.all_finished) << row.name;
    EXPECT_EQ(mean.most_calls, 1) << row.name;
    EXPECT_EQ(mean.twice, 0) << row.name;
    EXPECT_LE(mean.time, alive.time + row.longer) << row.name;
  }
  Options options = exclusion(10s);
  options.death = Death::pending;
  const Mean mean = mean_of(options, run_global);
  print("exclusion, death after pending", mean_of(exclusion(10s), run_global), mean);
  EXPECT_TRUE(mean.all_finished);
  EXPECT_EQ(mean.most_calls, 1);
  EXPECT_LE(mean.time, 223 * 1.05);
}

// 'no answer, no action': cut off from the store, or only from the shared system.
TEST(CoordinationScenarios, GoOnWithoutWhoIsCutOff) {
  Options options = restart(10s);
  options.cut = 0;
  Result one = run_global(options);
  EXPECT_TRUE(one.finished);
  report("cut off from the store", one);
  EXPECT_EQ(one.waits[0], "the store does not answer") << "it says why";
  options = restart(10s);
  options.cut_from_system = 0;
  one = run_global(options);
  EXPECT_TRUE(one.finished);
  report("cut off from the system", one);
}

// An instance that is live and denied blocks nobody, although one of its units is never ready; nobody acts on
// its units; and once it is allowed again its units have their turn.
TEST(CoordinationScenarios, GoOnWithoutWhoIsDenied) {
  Options options = restart(10s);
  const Result undisturbed = run_global(options);
  options.denied = 1;
  options.never_ready = 1;
  const Result without = run_global(options);
  EXPECT_TRUE(without.finished);
  report("denied", without);
  EXPECT_EQ(without.done, 2 * options.units) << "nothing of the denied one's";
  EXPECT_LE(without.time, undisturbed.time);
  EXPECT_EQ(without.waits[1], "blocked: dc2 is on the deny list");

  options.never_ready = {};
  options.allowed_at = 200s;
  const Result later = run_global(options);
  EXPECT_TRUE(later.finished);
  EXPECT_EQ(later.done, 3 * options.units);
  report("denied, then allowed", later, 2);
  ASSERT_EQ(later.calls, 2);
  EXPECT_EQ(later.called_at[0], without.called_at[0]);
  EXPECT_LE(later.called_at[1], std::max<Duration>(200s, later.called_at[0] + options.spacing) + 15s);
}

// A scope is renamed while its units are pending, some of them ready.
TEST(CoordinationScenarios, SurviveARename) {
  for (const Duration at : {20s, 50s, 90s}) {
    Options options = restart(10s);
    options.renamed = 1;
    options.renamed_at = at;
    const Result one = run_global(options);
    EXPECT_TRUE(one.finished) << seconds(at);
    report(("renamed after " + std::to_string(at / 1s) + " s").c_str(), one);
    EXPECT_EQ(one.left_over, 0U) << seconds(at);
  }
}

// Entries of a scope without an owner block nobody.
TEST(CoordinationScenarios, WaitForNoOrphans) {
  Options options = restart(10s);
  const Result without = run_global(options);
  options.orphans = {"gone", "dc"};
  const Result with = run_global(options);
  report("orphans", with);
  EXPECT_EQ(with.time, without.time);
}

// An instance in mode local works alone.
TEST(CoordinationScenarios, WaitForNobodyInAnotherMode) {
  Options options = restart(10s);
  options.local = 1;
  const Result one = run_global(options);
  EXPECT_TRUE(one.finished);
  report("one in mode local", one);
}

// There is no quota for a single unit: the exclusion proceeds without it, and a restart names it.
TEST(CoordinationScenarios, NameWhoIsNeverReady) {
  Options options = exclusion(10s);
  options.never_ready = 1;
  const Result partial = run_global(options);
  EXPECT_TRUE(partial.finished);
  report("exclusion, one never ready", partial);
  EXPECT_GE(partial.time, 300s);
  EXPECT_LE(partial.time, 500s);
  options = restart(10s);
  options.never_ready = 1;
  options.limit = 15min;
  const Result blocked = run_global(options);
  report("restart, one never ready", blocked, 0);
  EXPECT_TRUE(blocked.waits[0].starts_with("blocked: not all processes are ready: dc2-1; dc2 silent for"))
      << blocked.waits[0];
}

// No decision depends on the wall clock of another machine.
TEST(CoordinationScenarios, DoNotCareAboutClocks) {
  for (const Options& exact : {restart(60s), exclusion(60s), inclusion(60s)}) {
    Options skewed = exact;
    skewed.skew = 60s;
    const Result one = run_global(skewed);
    EXPECT_EQ(run_global(exact).called_at, one.called_at) << exact.action;
    report((exact.action + ", skewed by 60 s").c_str(), one);
  }
}

// 'no answer, no action': nothing is done without the store, and actions in progress are completed
// afterwards.
TEST(CoordinationScenarios, WaitForTheStore) {
  Options options = restart(10s);
  options.store_down_from = 40s;
  options.store_down_until = 160s;
  const Result one = run_global(options);
  EXPECT_TRUE(one.finished);
  report("store down for 120 s", one);
  ASSERT_EQ(one.calls, 1);
  EXPECT_GE(one.called_at[0], 160s);
  EXPECT_LE(one.called_at[0], 160s + 30s + 15s);
}

// Transactions, bytes and conflicts grow no faster than instances times units.
TEST(CoordinationScenarios, CostNoMoreThanInstancesTimesUnits) {
  const auto cost = [](std::size_t instances, std::size_t units) {
    Options options = restart(60s);
    options.instances = instances;
    options.units = units;
    options.batches = 2;
    options.poll = 10s;
    const Result one = run_global(options);
    EXPECT_TRUE(one.finished);
    EXPECT_EQ(one.calls, 1);
    std::printf("%2zu x %3zu: %zu transactions, %zu conflicts, %zu bytes written, %zu bytes read, %.0f s\n",
                instances, units, one.transactions, one.conflicts, one.written_bytes, one.read_bytes,
                seconds(one.time));
    return one;
  };
  const Result small = cost(4, 10);
  const Result large = cost(8, 20);
  const double factor = 4;
  EXPECT_LE(static_cast<double>(large.transactions), factor * static_cast<double>(small.transactions));
  EXPECT_LE(static_cast<double>(large.written_bytes),
            1.1 * factor * static_cast<double>(small.written_bytes));
  EXPECT_LE(static_cast<double>(large.conflicts),
            factor * static_cast<double>(std::max<std::size_t>(small.conflicts, 5)));
  if (std::getenv("EVENKEEL_COORDINATION_LARGE") != nullptr) cost(50, 200);
}

}  // namespace
}  // namespace evenkeel::coordination::rollout
