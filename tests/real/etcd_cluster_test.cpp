// SPDX-License-Identifier: Apache-2.0
// EtcdStore with three members, TLS, client certificates and a login: crashes of leaders, partitioned
// members, and instances that continue.
#include "etcd_cluster.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/transact.hpp>

#include "real_etcd.hpp"

namespace evenkeel::tests {
namespace {

using namespace std::chrono_literals;
using coordination::Commit;
using coordination::Committed;
using coordination::EtcdStore;
using coordination::EtcdStoreOptions;
using coordination::StoreSnapshot;
using coordination::transact;
using coordination::Transacted;

/// Users root and operator; all others have no permissions.
void enable_login(const EtcdCluster& cluster) {
  const auto post = [&cluster](const std::string& path, const Json& body) {
    const http::Response answer = cluster.post(0, "/v3/auth/" + path, body.dump());
    ASSERT_EQ(answer.status, 200) << path << " " << answer.body;
  };
  for (const char* name : {"root", "operator"}) {
    post("user/add", Json::object({{"name", name}, {"password", "secret"}}));
    post("role/add", Json::object({{"name", name}}));
    post("user/grant", Json::object({{"user", name}, {"role", name}}));
  }
  const Json permission = Json::object(
      {{"permType", "READWRITE"}, {"key", Bytes("/db/").base64()}, {"range_end", Bytes("/db0").base64()}});
  post("role/grant", Json::object({{"name", "operator"}, {"perm", permission}}));
  post("enable", Json::object());
}

EtcdStoreOptions options_for(const EtcdCluster& cluster, std::vector<std::string> endpoints) {
  return {.endpoints = std::move(endpoints),
          .tls = cluster.tls(),
          .user = "operator",
          .password = "secret",
          .request_timeout = 1s,
          .connect_timeout = 1s,
          .revision_key = "/db/"};
}

/// Waits without using the CPU time that the three etcds need.
class Progress {
 public:
  void made() {
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
  }
  template <class Condition>
  void wait(const std::string& what, Condition condition) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 120s, condition)) throw std::runtime_error("waited 120 s for " + what);
  }
  /// Waits for `condition`, or for the stop.
  template <class Condition>
  void wait(const std::stop_token& stop, Condition condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, condition);
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
};

/// An instance that increments one key concurrently with the others, through a preferred member.
class Instance {
 public:
  Instance(const EtcdCluster& cluster, std::size_t member)
      : store_(options_for(cluster, cluster.urls(member))), token_("/db/token" + std::to_string(member)) {}

  void increment_once() {
    const Transacted done = transact(store_, increment, {.token_key = token_, .max_runs = 50, .delay = 2ms});
    unknowns += done.unknowns;
    ++(done.committed()                                              ? applied
       : std::holds_alternative<coordination::Unknown>(done.outcome) ? unclear
                                                                     : refused);
  }

  std::atomic<int> applied = 0;
  std::atomic<int> unclear = 0;
  std::atomic<int> refused = 0;
  std::atomic<unsigned> unknowns = 0;

 private:
  static Commit increment(StoreSnapshot& snapshot) {
    const auto entry = snapshot.get("/db/n");
    return {.reads = {{"/db/n", entry ? entry->version : 0}},
            .puts = {{"/db/n", std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
  }

  EtcdStore store_;
  const std::string token_;
};

class ThreeEtcds : public ::testing::TestWithParam<std::string (*)()> {
 protected:
  std::size_t leader() const {
    std::optional<std::size_t> found;
    await("a leader", [&] { return (found = cluster_->leader()).has_value(); });
    return *found;
  }
  /// Increments until the stop. An instance waits while another is further behind than `lead`: optimistic
  /// transactions are not fair, and one whose member is slow would lose to the others for as long as they
  /// go on.
  void run(Instance& instance, const std::stop_token& stop) {
    constexpr int lead = 10;
    while (!stop.stop_requested()) {
      instance.increment_once();
      progress_.made();
      progress_.wait(stop, [&] {
        const auto behind = [&](const auto& other) { return other->applied + lead < instance.applied; };
        return std::ranges::none_of(instances_, behind);
      });
    }
  }
  /// Checks that each instance commits more transactions.
  void expect_all_go_on(const std::string& after) {
    std::vector<int> before;
    for (const auto& instance : instances_) before.push_back(instance->applied);
    progress_.wait("commits of all after " + after, [&] {
      for (std::size_t i = 0; i < instances_.size(); ++i) {
        if (instances_[i]->applied < before[i] + 5) return false;
      }
      return true;
    });
  }

  const std::unique_ptr<EtcdCluster> cluster_ = std::make_unique<EtcdCluster>(GetParam()());
  std::vector<std::unique_ptr<Instance>> instances_;
  Progress progress_;
};

INSTANTIATE_TEST_SUITE_P(Etcd, ThreeEtcds, ::testing::Values(&old_etcd, &new_etcd),
                         [](const auto& one) { return one.index == 0 ? "Etcd34" : "Etcd36"; });

// 'applied once', 'no answer, no action'
TEST_P(ThreeEtcds, LoseAndDoubleNothingWhileMembersComeAndGo) {
  enable_login(*cluster_);
  EtcdStoreOptions nobody = options_for(*cluster_, cluster_->urls(0));
  nobody.tls = {.ca_data = cluster_->tls().ca_data};
  EXPECT_TRUE(
      std::holds_alternative<coordination::Unavailable>(EtcdStore(nobody).commit({.puts = {{"/db/a", "1"}}})))
      << "without a client certificate";
  EtcdStoreOptions named = options_for(*cluster_, cluster_->urls(0));
  named.tls = cluster_->tls("operator");
  EXPECT_THAT(describe(EtcdStore(named).commit({.puts = {{"/db/a", "1"}}})),
              ::testing::HasSubstr("CommonName of client"));

  EtcdStore first_of_all(options_for(*cluster_, cluster_->urls(0)));
  const auto result = first_of_all.commit({.puts = {{"/db/n", "0"}}});
  ASSERT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);

  for (std::size_t i = 0; i < EtcdCluster::members; ++i) {
    instances_.push_back(std::make_unique<Instance>(*cluster_, i));
  }
  {
    std::vector<std::jthread> threads;
    for (const auto& instance : instances_) {
      threads.emplace_back([&](const std::stop_token& stop) { run(*instance, stop); });
    }
    expect_all_go_on("the start");

    const std::size_t first = leader();
    cluster_->kill(first);
    expect_all_go_on("the leader was killed");
    cluster_->start(first);
    expect_all_go_on("it came back");

    const std::size_t second = leader();
    cluster_->pause(second);
    expect_all_go_on("the leader was cut off");
    cluster_->resume(second);
    expect_all_go_on("it went on");

    const std::size_t follower = (leader() + 1) % EtcdCluster::members;
    cluster_->pause(follower);
    expect_all_go_on("a follower was cut off");
    cluster_->resume(follower);
  }

  int applied = 0;
  int unclear = 0;
  int refused = 0;
  unsigned unknowns = 0;
  for (const auto& instance : instances_) {
    applied += instance->applied;
    unclear += instance->unclear;
    refused += instance->refused;
    unknowns += instance->unknowns;
  }
  for (std::size_t i = 0; i < EtcdCluster::members; ++i) {
    EtcdStore one(options_for(*cluster_, {cluster_->url(i)}));
    const int value = std::stoi(one.snapshot()->get("/db/n")->value);
    EXPECT_GE(value, applied) << "member " << i;
    EXPECT_LE(value, applied + unclear) << "member " << i;
  }
  std::cout << "applied " << applied << ", unclear " << unclear << ", refused " << refused
            << ", lost answers " << unknowns << '\n';
}

}  // namespace
}  // namespace evenkeel::tests
