// SPDX-License-Identifier: Apache-2.0
// ring-operator with something that goes wrong at each of its writes (docs/exploring.md). The simulated
// database and the store are outside of Kubernetes, and survive the operator.
#include <algorithm>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/testing/explore.hpp>

#include "ring_admin_client.hpp"
#include "ring_controller.hpp"
#include "ring_database.hpp"
#include "ring_pods.hpp"

using namespace std::chrono_literals;

namespace {

const ek::ObjectKey dc1{"default", "dc1"};
constexpr int database_processes = 3;  // all of them are coordinators

/// The clock of a run, which begins after its operator was made.
class RunClock final : public ek::Clock {
 public:
  void follow(std::shared_ptr<const ek::Clock> clock) { clock_ = std::move(clock); }
  ek::TimePoint now() const noexcept override { return clock_->now(); }
  ek::WallTime wall_now() const noexcept override { return clock_->wall_now(); }
  void wait(ek::CondVar& condition, ek::MutexLock& lock) const override { clock_->wait(condition, lock); }
  void wait_until(ek::CondVar& condition, ek::MutexLock& lock, ek::TimePoint deadline) const override {
    clock_->wait_until(condition, lock, deadline);
  }

 private:
  std::shared_ptr<const ek::Clock> clock_ = ek::real_clock();
};

struct Process;

/// The part of a run that is outside of Kubernetes.
struct Outside {
  std::shared_ptr<RunClock> clock = std::make_shared<RunClock>();
  std::shared_ptr<ec::MemoryStore> store = std::make_shared<ec::MemoryStore>();
  RingDatabase database{{.processes = database_processes, .coordinators = database_processes},
                        ek::TimePoint{}};
  std::vector<std::shared_ptr<Process>> processes = {};  ///< Successive processes of the operator.

  /// Returns the exclusions, the processes with their command lines, and the number of coordinators that
  /// stay.
  std::string str() const {
    const RingStatus status = database.status(clock->now());
    std::string text = "excluded:";
    for (const std::string& one : status.exclusions) text += " " + one;
    std::size_t coordinators = 0;
    for (const RingProcess& one : status.processes) {
      text += "; " + one.command_line;
      const auto role = std::find(one.roles.begin(), one.roles.end(), "coordinator");
      if (role != one.roles.end() && !one.excluded) ++coordinators;
    }
    return text + "; coordinators: " + std::to_string(coordinators);
  }
  bool operator==(const Outside& other) const { return str() == other.str(); }
};

/// The database without its doors.
class DatabaseClient final : public ec::AdminClient {
 public:
  explicit DatabaseClient(Outside& outside) : outside_(outside) {}
  ec::DatabaseStatus status(std::stop_token) override {
    return database_status(outside_.database.status(now()));
  }
  void raise_fence(const ec::Fence& fence, std::stop_token) override {
    check(outside_.database.raise_fence(order({}, fence)));
  }
  void exclude(const std::vector<std::string>& targets, const ec::Fence& fence, std::stop_token) override {
    check(outside_.database.exclude("dc1", order(targets, fence), now()));
  }
  void include(const std::vector<std::string>& targets, const ec::Fence& fence, std::stop_token) override {
    check(outside_.database.include("dc1", order(targets, fence), now()));
  }
  void kill(const std::vector<std::string>& addresses, const ec::Fence& fence, std::stop_token) override {
    check(outside_.database.kill("dc1", order(addresses, fence), now()));
  }
  std::string change_coordinators(const std::vector<std::string>& coordinators, const ec::Fence& fence,
                                  std::stop_token) override {
    check(outside_.database.set_coordinators("dc1", order(coordinators, fence), now()));
    return ring_connection_string(coordinators);
  }

 private:
  ek::TimePoint now() const { return outside_.clock->now(); }
  static RingOrder order(const std::vector<std::string>& targets, const ec::Fence& fence) {
    return {.targets = targets, .action = fence.action, .epoch = static_cast<std::int64_t>(fence.epoch)};
  }
  static void check(const RingAnswer& answer) {
    if (!answer.done) throw ec::DatabaseError(answer.problem);
  }

  Outside& outside_;
};

/// The memory of a process of the operator.
struct Process {
  explicit Process(Outside& outside)
      : database(outside),
        store(outside.store),
        coordination(database, store,
                     {.incarnation = "run-" + std::to_string(outside.processes.size()),
                      .time_scale = 60,
                      .minimum_uptime = 1min,
                      .silence = 10min,
                      .retry = 1min,
                      .sites = 1,
                      .coordinators = database_processes,
                      .clock = outside.clock}),
        steps(database, {.poll = 1s, .rest = 5s}) {}

  DatabaseClient database;
  ec::MeteredStore store;
  RingCoordination coordination;
  RingSteps steps;
};

/// The nodes: they start and stop the processes of Pods, and copy their configuration.
class Nodes {
 public:
  Nodes(ek::testing::Harness& cluster, Outside& outside) : cluster_(cluster), outside_(outside) {}

  /// Starts the processes of the Pods that have an address.
  void start() {
    for (const auto& pod : cluster_.list<ek::Pod>()) {
      if (pod->status.pod_ip) start(*pod, *cluster_.get<ek::ConfigMap>(dc1));
    }
  }

  void play() {
    const auto config = cluster_.find<ek::ConfigMap>(dc1);
    if (!config) return;
    std::vector<std::string> alive;
    for (const auto& pod : cluster_.list<ek::Pod>()) {
      alive.push_back(pod->metadata.name);
      play(*pod, *config);
    }
    for (const RingProcess& process : outside_.database.status(now()).processes) {
      if (std::find(alive.begin(), alive.end(), process.id) == alive.end())
        outside_.database.stop(process.id, now());
    }
  }

 private:
  void play(const ek::Pod& pod, const ek::ConfigMap& config) {
    const std::string text = configuration_text(config.data.at("version"), config.data.at("arguments"));
    const auto synced = pod.metadata.annotations.find(std::string(synced_annotation));
    if (synced == pod.metadata.annotations.end() || synced->second != text) {
      outside_.database.stage(pod.metadata.name, line_of(pod, config), config.data.at("version"));
      cluster_.edit<ek::Pod>(ek::key_of(pod), [&](ek::Pod& edited) {
        edited.metadata.annotations[std::string(synced_annotation)] = text;
      });
    }
    if (pod.status.pod_ip) return;
    cluster_.edit_status<ek::Pod>(ek::key_of(pod), [&](ek::core_v1::PodStatus& status) {
      status.phase = "Running";
      status.pod_ip = address_of(pod);
    });
    start(pod, config);
  }
  void start(const ek::Pod& pod, const ek::ConfigMap& config) {
    outside_.database.start({.id = pod.metadata.name,
                             .address = address_of(pod) + ":4501",
                             .process_class = class_of(pod),
                             .dc = "default",
                             .version = config.data.at("version"),
                             .command_line = line_of(pod, config)},
                            now());
  }
  static std::string class_of(const ek::Pod& pod) { return pod.metadata.labels.at(std::string(class_label)); }
  static std::string line_of(const ek::Pod& pod, const ek::ConfigMap& config) {
    return command_line_of(config.data.at("version"), class_of(pod), pod.metadata.name,
                           config.data.at("arguments"));
  }
  // Depends on the name alone, so that it is the same in each run.
  static std::string address_of(const ek::Pod& pod) {
    const std::string& name = pod.metadata.name;
    return "10.0." + std::to_string(class_of(pod).size()) + "." + name.substr(name.rfind('-') + 1);
  }
  ek::TimePoint now() const { return outside_.clock->now(); }

  ek::testing::Harness& cluster_;
  Outside& outside_;
};

ek::ControllerSpec make(Outside& outside) {
  const auto& process = outside.processes.emplace_back(std::make_shared<Process>(outside));
  return ring_controller(process->steps, process->coordination);
}

void run(ek::testing::Harness& cluster, Outside& outside, int seconds) {
  Nodes nodes(cluster, outside);
  for (int second = 0; second < seconds; ++second) {
    cluster.run_for(1s);
    nodes.play();
  }
}

RingCluster ring(ec::Mode mode) {
  return {.metadata = {.name = dc1.name, .namespace_ = dc1.namespace_},
          .spec = {.process_group_id_prefix = "dc1",
                   .processes = {.storage = database_processes - 1, .log = 1},
                   .automation_options = {.synchronization_mode = mode}}};
}

/// Returns a world with the Pods of a database that runs, so that the plans are about what happens to it.
ek::apiserver::World world_with_pods() {
  Outside outside;
  ek::testing::Harness first;
  outside.clock->follow(first.clock());
  first.add(make(outside));
  first.create({ring(ec::Mode::local)});
  run(first, outside, 3);
  ek::testing::Harness cluster;
  const auto config = first.get<ek::ConfigMap>(dc1);
  cluster.create(
      {ek::ConfigMap{.metadata = {.name = dc1.name, .namespace_ = dc1.namespace_}, .data = config->data}});
  for (const auto& pod : first.list<ek::Pod>()) {
    cluster.create({ek::Pod{.metadata = {.name = pod->metadata.name,
                                         .namespace_ = pod->metadata.namespace_,
                                         .labels = pod->metadata.labels,
                                         .annotations = pod->metadata.annotations},
                            .spec = pod->spec}});
    cluster.edit_status<ek::Pod>(ek::key_of(*pod),
                                 [&](ek::core_v1::PodStatus& status) { status = pod->status; });
  }
  return cluster.snapshot();
}

void begin(ek::testing::Harness& cluster, Outside& outside, ec::Mode mode) {
  outside.clock->follow(cluster.clock());
  Nodes(cluster, outside).start();
  cluster.create({ring(mode)});
  run(cluster, outside, 2);
}

void replace_a_coordinator(ek::testing::Harness& cluster, Outside& outside) {
  cluster.edit<RingCluster>(
      dc1, [](RingCluster& ring) { ring.spec.process_groups_to_remove = {"dc1-storage-1"}; });
  run(cluster, outside, 6);
}

void restart_with_a_knob(ek::testing::Harness& cluster, Outside& outside) {
  cluster.edit<RingCluster>(dc1, [](RingCluster& ring) { ring.spec.knobs["cache"] = "2"; });
  run(cluster, outside, 4);
}

class RingFaults : public ::testing::Test {
 protected:
  using Change = void (*)(ek::testing::Harness&, Outside&);

  /// Explores a change of a database that runs.
  static void explore_change(ec::Mode mode, Change change) {
    const auto live = [mode, change](ek::testing::Harness& cluster, Outside& outside) {
      begin(cluster, outside, mode);
      change(cluster, outside);
    };
    expect_no_problem(live, {.world = world_with_pods()});
  }
  template <class Workload>
  static void expect_no_problem(const Workload& workload, const ek::testing::HarnessOptions& harness) {
    const auto result = ek::testing::explore<Outside>(make, workload, {.harness = harness, .limit = 5s});
    RecordProperty("explored", result.describe());
    EXPECT_TRUE(result.ok()) << result.describe();
    EXPECT_GT(result.plans_run, 20U) << result.describe();
  }
};

}  // namespace

TEST_F(RingFaults, EndAsIfNothingHadGoneWrongWithANewDatabase) {
  const auto live = [](ek::testing::Harness& cluster, Outside& outside) {
    begin(cluster, outside, ec::Mode::global);
  };
  expect_no_problem(live, {});
}

TEST_F(RingFaults, EndAsIfNothingHadGoneWrongWithAReplacement) {
  explore_change(ec::Mode::local, replace_a_coordinator);
}

TEST_F(RingFaults, EndAsIfNothingHadGoneWrongWithAReplacementInAgreement) {
  explore_change(ec::Mode::global, replace_a_coordinator);
}

TEST_F(RingFaults, EndAsIfNothingHadGoneWrongWithARestart) {
  explore_change(ec::Mode::local, restart_with_a_knob);
}
