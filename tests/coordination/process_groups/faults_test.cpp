// SPDX-License-Identifier: Apache-2.0
// The steps in an operator with two sites of one database, in mode global, with something that goes wrong at
// each of its writes, commands and transactions (docs/exploring.md). The database and the store survive the
// operator.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/process_groups/steps.hpp>
#include <evenkeel/testing/explore.hpp>

#include "clusters.hpp"
#include "fake_database.hpp"

namespace evenkeel::coordination {
namespace process_group_faults {

using namespace tests;

/// The processes of the database in one namespace of the cluster.
struct Site {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Site", .plural = "sites"};
  struct Spec {
    int storage = 3;
    std::vector<std::string> remove = {};
    std::string command_line = {};
  };
  struct Status {
    std::vector<ProcessGroup> process_groups = {};
    std::string connection_string = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
EVENKEEL_FIELDS(Site::Spec, storage, remove, command_line)
EVENKEEL_FIELDS(Site::Status, process_groups, connection_string)
EVENKEEL_FIELDS(Site, metadata, spec, status)

const ObjectKey dc1{"default", "dc1"};
const ObjectKey dc2{"default", "dc2"};

struct Process;

/// The part of a run that is outside of Kubernetes.
struct Outside {
  std::shared_ptr<const Clock> clock = {};
  std::optional<FakeDatabase> database = {};
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  std::vector<std::shared_ptr<Process>> processes = {};  ///< Successive processes of the operator.

  /// Returns the processes of the database, what it excludes, and the members of the sets in the store.
  std::string str() const {
    std::string text;
    for (const DatabaseProcess& one : database->state.processes) {
      text += std::string(one.group()) + "=" + one.command_line + (one.excluded ? " excluded" : "") +
              (one.has_role("coordinator") ? " coordinator; " : "; ");
    }
    for (const std::string& one : database->state.exclusions) text += "excludes " + one + "; ";
    for (const Entry& entry : store->snapshot()->scan_all({.begin = "/db/", .end = "/db0"})) {
      const bool is_member = entry.key.starts_with("/db/pending") || entry.key.starts_with("/db/ready");
      if (is_member) text += entry.key + "; ";
    }
    return text;
  }
  bool operator==(const Outside& other) const { return str() == other.str(); }
};

/// The present run of a process. That of an overtaken one goes on after runs of the next.
struct PresentRun {
  const Context* context = nullptr;
};

/// The database, each command of which is an explore point.
class Commands final : public AdminClient {
 public:
  Commands(Outside& outside, const PresentRun& run) : outside_(outside), run_(run) {}

  DatabaseStatus status(std::stop_token) override { return outside_.database->status(); }
  void raise_fence(const Fence& fence, std::stop_token) override { outside_.database->raise_fence(fence); }
  void exclude(const std::vector<std::string>& targets, const Fence& fence, std::stop_token) override {
    run_.context->explore_point("exclude", [&] { outside_.database->exclude(targets, fence); });
  }
  void include(const std::vector<std::string>& targets, const Fence& fence, std::stop_token) override {
    run_.context->explore_point("include", [&] { outside_.database->include(targets, fence); });
  }
  void kill(const std::vector<std::string>& addresses, const Fence& fence, std::stop_token) override {
    run_.context->explore_point("kill", [&] { outside_.database->kill(addresses, fence); });
  }
  std::string change_coordinators(const std::vector<std::string>& coordinators, const Fence& fence,
                                  std::stop_token) override {
    return run_.context->explore_point(
        "change coordinators", [&] { return outside_.database->change_coordinators(coordinators, fence); });
  }

 private:
  Outside& outside_;
  const PresentRun& run_;
};

/// The store, each transaction of which is an explore point.
class Transactions final : public Store {
 public:
  Transactions(Outside& outside, const PresentRun& run) : outside_(outside), run_(run) {}

  std::string name() const override { return outside_.store->name(); }
  Capabilities capabilities() const override { return outside_.store->capabilities(); }
  Limits limits() const override { return outside_.store->limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override {
    return outside_.store->snapshot(stop);
  }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    if (!commit.writes()) return outside_.store->commit(commit, stop);
    return run_.context->explore_point("commit", [&] { return outside_.store->commit(commit, stop); });
  }

 private:
  Outside& outside_;
  const PresentRun& run_;
};

/// The memory of a process of the operator.
struct Process {
  explicit Process(Outside& of)
      : outside(of), database(of, run), store(of, run), number(of.processes.size()) {}

  std::shared_ptr<ProcessGroupCoordinator> coordinator(const Context& context, const Site& site) {
    run.context = &context;
    auto& one = coordinators[site.metadata.name];
    if (!one) one = std::make_shared<ProcessGroupCoordinator>(database, &store, options(site));
    return one;
  }
  /// Returns times that are short, so that a run waits a few passes for each of them.
  ProcessGroupOptions options(const Site& site) const {
    const std::string& name = site.metadata.name;
    ProcessGroupOptions options{.identity = {name, "uid-" + name, "run-" + std::to_string(number)},
                                .mode = Mode::global,
                                .root = "/db"};
    for (ActionPolicy* policy : {&options.exclusion, &options.inclusion, &options.restart}) {
      policy->quiet_window = 1s;
      policy->straggler_timeout = 5s;
      policy->claim_timeout = 1s;
    }
    options.times.minimum_uptime_for_restart = 1s;
    options.times.minimum_recovery_for_exclusion = 1s;
    options.times.minimum_recovery_for_inclusion = 1s;
    options.liveness.silence = 6s;
    options.transact.delay = Duration::zero();
    options.least_restart_retry = 1s;
    options.retry = 1s;
    options.clock = outside.clock;
    return options;
  }

  Outside& outside;
  PresentRun run = {};
  Commands database;
  Transactions store;
  const std::size_t number;
  std::map<std::string, std::shared_ptr<ProcessGroupCoordinator>> coordinators = {};
};

ProcessCluster cluster_of(const Site& site) {
  return {.version = "7.1.57",
          .process_counts = {{"storage", static_cast<std::size_t>(site.spec.storage)}},
          .removal_mode = RemovalMode::all,
          .process_groups = site.status.process_groups,
          .connection_string = site.status.connection_string};
}

std::string name_of(const Site& site, std::size_t number) {
  return site.metadata.name + "-storage-" + std::to_string(number);
}

/// Marks the groups that the spec removes, and adds as many as are missing. A name is used once.
void plan_groups(Context& context, const Site& site) {
  context.patch_status(site, [&](Site::Status& status) {
    const WallTime now = context.clock().wall_now();
    int staying = 0;
    for (ProcessGroup& group : status.process_groups) {
      if (std::ranges::count(site.spec.remove, group.id) == 0) {
        ++staying;
      } else if (!group.is_marked_for_removal()) {
        group.removal_timestamp = now;
      }
    }
    for (std::size_t number = 1; staying < site.spec.storage; ++number) {
      const std::string id = name_of(site, number);
      const bool is_used = std::ranges::count(site.spec.remove, id) > 0 ||
                           std::ranges::count(status.process_groups, id, &ProcessGroup::id) > 0;
      if (is_used) continue;
      status.process_groups.push_back({.id = id, .process_class = "storage"});
      ++staying;
    }
  });
}

Pod pod_of(const std::string& name) {
  Pod pod{.metadata = {.name = name, .namespace_ = "default"}};
  pod.spec.containers = {{.name = "database", .image = "database:1"}};
  return pod;
}

void create_pods(Context& context, const Site& site) {
  for (const ProcessGroup& group : site.status.process_groups) {
    if (!group.is_marked_for_removal() && !context.find<Pod>({"default", group.id}))
      context.apply(pod_of(group.id));
  }
}

RemovalState remove_pod(Context& context, const ProcessGroup& group) {
  const ObjectKey key{"default", group.id};
  if (!context.find<Pod>(key)) return RemovalState::gone;
  context.remove<Pod>(key);
  return RemovalState::terminating;
}

ProcessGroupAdapter<Site> adapter_of(Process& process) {
  ProcessGroupAdapter<Site> adapter;
  adapter.coordinator = [&](Context& context, const Site& site) {
    return process.coordinator(context, site);
  };
  adapter.read = cluster_of;
  adapter.write = [](Context& context, const Site& site, const ProcessCluster& cluster) {
    context.patch_status(site, [&](Site::Status& status) {
      status.process_groups = cluster.process_groups;
      status.connection_string = cluster.connection_string;
    });
  };
  adapter.remove = [](Context& context, const Site&, const ProcessGroup& group) {
    return remove_pod(context, group);
  };
  adapter.wanted_command_line = [](const Site& site, const ProcessGroup&) { return site.spec.command_line; };
  return adapter;
}

ControllerSpec make(Outside& outside) {
  const auto& process = outside.processes.emplace_back(std::make_shared<Process>(outside));
  Pipeline<Site> steps;
  steps.step("groups", plan_groups).step("pods", create_pods);
  add_process_group_steps(steps, adapter_of(*process));
  steps.step("poll", [](Context&, const Site& site) {
    const bool is_busy = std::ranges::any_of(site.status.process_groups, [](const ProcessGroup& group) {
      return group.is_marked_for_removal() || !group.conditions.empty();
    });
    return is_busy ? later(1s, "not up to date") : go_on();
  });
  return controller_for<Site>(steps).owns<Pod>();
}

/// Starts and stops the processes of Pods, and moves data away from those that are excluded.
void play(testing::Harness& cluster, FakeDatabase& database) {
  std::set<std::string> gone;
  for (const DatabaseProcess& process : database.state.processes) gone.emplace(process.group());
  ProcessCluster fresh{.version = "7.1.57"};
  for (const auto& pod : cluster.list<Pod>()) {
    const std::string& id = pod->metadata.name;
    if (gone.erase(id) > 0) continue;
    const std::string net = id.substr(2, 1);  // 1 of dc1-storage-4
    fresh.process_groups.push_back(
        {.id = id, .process_class = "storage", .addresses = {"1.1." + net + "." + id.substr(id.size() - 1)}});
  }
  for (DatabaseProcess& process : processes_of(fresh)) {
    process.command_line = database.starts_with;
    database.state.processes.push_back(process);
  }
  database.forget(gone);
  database.move_data();
}

void run(testing::Harness& cluster, Outside& outside, int seconds) {
  for (int second = 0; second < seconds; ++second) {
    cluster.run_for(1s);
    play(cluster, *outside.database);
  }
}

/// Creates the sites of a database that runs.
void begin(testing::Harness& cluster, Outside& outside) {
  outside.clock = cluster.clock();
  FakeDatabase& database = outside.database.emplace(outside.clock);
  play(cluster, database);
  database.change_coordinators({"1.1.1.1:4501", "1.1.1.2:4501", "1.1.2.1:4501"}, {});
  for (const ObjectKey& key : {dc1, dc2})
    cluster.create({Site{.metadata = {.name = key.name, .namespace_ = key.namespace_}}});
  run(cluster, outside, 1);
}

/// Returns a world with the Pods, so that the plans are about what happens to them.
apiserver::World world_with_pods() {
  testing::Harness cluster;
  for (const std::string site : {"dc1", "dc2"}) {
    for (const std::string number : {"1", "2", "3"}) cluster.create({pod_of(site + "-storage-" + number)});
  }
  return cluster.snapshot();
}

void replace_a_coordinator(testing::Harness& cluster, Outside& outside) {
  cluster.edit<Site>(dc1, [](Site& site) { site.spec.remove = {"dc1-storage-1"}; });
  run(cluster, outside, 7);
  // By now another process has finished what one that stands still had begun.
  cluster.edit<Site>(dc2, [](Site& site) { site.metadata.labels = {{"checked", "yes"}}; });
  run(cluster, outside, 1);
}

void restart_both_sites(testing::Harness& cluster, Outside& outside) {
  outside.database->starts_with = "new";
  for (const ObjectKey& key : {dc1, dc2})
    cluster.edit<Site>(key, [](Site& site) { site.spec.command_line = "new"; });
  run(cluster, outside, 4);
}

class ProcessGroupFaults : public ::testing::Test {
 protected:
  static void expect_no_problem(void (*change)(testing::Harness&, Outside&)) {
    const auto live = [change](testing::Harness& cluster, Outside& outside) {
      begin(cluster, outside);
      change(cluster, outside);
    };
    const auto result = testing::explore<Outside>(
        make, live, {.harness = {.world = world_with_pods()}, .replicas = 2, .limit = 5s});
    RecordProperty("explored", result.describe());
    EXPECT_TRUE(result.ok()) << result.describe();
    EXPECT_GT(result.plans_run, 50U) << result.describe();
  }
};

TEST_F(ProcessGroupFaults, EndAsIfNothingHadGoneWrongWithAReplacement) {
  expect_no_problem(replace_a_coordinator);
}

TEST_F(ProcessGroupFaults, EndAsIfNothingHadGoneWrongWithARestart) {
  expect_no_problem(restart_both_sites);
}

}  // namespace process_group_faults
}  // namespace evenkeel::coordination
