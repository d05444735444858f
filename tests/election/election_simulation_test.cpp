// SPDX-License-Identifier: Apache-2.0
// Many instances and one Lease, with all faults of networks, servers, processes and clocks except wrong data:
// requests are lost before or after they had their effect, responses and watch events are delayed, instances
// pause, clocks run at different rates. There must never be two leaders; after the faults end, there must be
// one.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "election/election_core.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::ElectionCore;
using Core = ElectionCore;

constexpr Duration lease_duration = 15s;
constexpr Duration renew_deadline = 10s;
constexpr Duration retry_period = 2s;

/// The Lease as stored by the server.
struct Server {
  std::optional<Json> lease;
  std::int64_t version = 100;
  struct Change {
    bool deleted;
    Json lease;
  };
  std::vector<Change> changes;

  enum class Answer : std::uint8_t { object, missing, conflict };
  Answer handle(const Core::Request& request, Json& object) {
    if (request.ask == Core::Ask::get) {
      if (!lease) return Answer::missing;
      object = *lease;
      return Answer::object;
    }
    if (request.ask == Core::Ask::create) {
      if (lease) return Answer::conflict;
    } else {
      if (!lease) return Answer::missing;
      if (request.body.at({"metadata", "resourceVersion"}) != lease->at({"metadata", "resourceVersion"})) {
        return Answer::conflict;
      }
    }
    store(request.body);
    object = *lease;
    return Answer::object;
  }
  void store(Json body) {
    body["metadata"]["resourceVersion"] = std::to_string(++version);
    lease = std::move(body);
    changes.push_back({false, *lease});
  }
  void remove() {
    if (!lease) return;
    Json last = *std::exchange(lease, std::nullopt);
    last["metadata"]["resourceVersion"] = std::to_string(++version);
    changes.push_back({true, std::move(last)});
  }
};

/// An instance, whose clock has its own rate and offset.
struct Instance {
  std::string identity;
  std::unique_ptr<Core> candidacy;
  double rate;
  Duration offset;
  bool watches;
  std::size_t changes_seen = 0;
  Duration paused_until{};
  Duration watch_from{};  // no event before

  TimePoint local(Duration world) const {
    return TimePoint(offset + std::chrono::duration_cast<Duration>(world * rate));
  }
  bool leads(Duration world) const {
    return candidacy->term() && local(world) < candidacy->term()->valid_until;
  }
};

class World {
 public:
  World(std::uint64_t seed, int count) : random_(seed) {
    for (int i = 0; i < count; ++i) {
      add("instance-" + std::to_string(i));
    }
  }

  void add(const std::string& identity) {
    instances_.push_back({.identity = identity,
                          .candidacy = candidacy(identity),
                          .rate = 0.92 + 0.16 * chance(),
                          .offset = std::chrono::hours(random_() % 1000),
                          .watches = chance() < 0.7});
  }

  /// Runs for this time, with faults of the given probability.
  void run(Duration length, double faults) {
    for (const Duration end = now_ + length; now_ < end; now_ += 10ms) {
      if (faults > 0 && chance() < faults / 500) instance().paused_until = now_ + some(20s);
      deliver();
      for (Instance& each : instances_) step(each, faults);
      check();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  Server& server() { return server_; }
  int leaders() const {
    return static_cast<int>(std::count_if(instances_.begin(), instances_.end(),
                                          [&](const Instance& each) { return each.leads(now_); }));
  }
  Instance* leader() {
    for (Instance& each : instances_) {
      if (each.leads(now_)) return &each;
    }
    return nullptr;
  }
  Duration now() const { return now_; }
  TimePoint local(const Instance& instance) const { return instance.local(now_); }
  std::size_t terms() const { return terms_.size(); }

 private:
  double chance() { return static_cast<double>(random_() >> 11U) / 9007199254740992.0; }
  Duration some(Duration most) { return std::chrono::duration_cast<Duration>(most * chance()); }
  Instance& instance() { return instances_[random_() % instances_.size()]; }

  void step(Instance& each, double faults) {
    if (now_ < each.paused_until) return;
    if (each.candidacy->end()) restart(each);
    if (each.watches && now_ >= each.watch_from) observe(each, faults);
    while (true) {
      Core::Step next = each.candidacy->next_step(each.local(now_), WallTime());
      if (!next.request) break;
      send(each, std::move(*next.request), faults);
    }
  }

  // Starts a new candidacy after one has ended, like a restarted process.
  void restart(Instance& each) {
    each.candidacy = candidacy(each.identity);
    ++epoch_[&each];
  }

  std::unique_ptr<Core> candidacy(const std::string& identity) {
    return std::make_unique<Core>(detail::ElectionCoreOptions{.namespace_ = "apps",
                                                              .name = "operator",
                                                              .identity = identity,
                                                              .lease_duration = lease_duration,
                                                              .renew_deadline = renew_deadline,
                                                              .retry_period = retry_period,
                                                              .seed = random_()});
  }

  void observe(Instance& each, double faults) {
    if (chance() < faults / 100) each.watch_from = now_ + some(30s);
    each.candidacy->on_watching(true);
    for (; each.changes_seen < server_.changes.size(); ++each.changes_seen) {
      const Server::Change& change = server_.changes[each.changes_seen];
      if (change.deleted) {
        each.candidacy->on_deleted(change.lease, each.local(now_));
      } else {
        each.candidacy->on_event(change.lease, each.local(now_));
      }
    }
  }

  void send(Instance& each, Core::Request request, double faults) {
    const bool lost_before = chance() < faults / 2;
    const bool lost_after = chance() < faults / 2;
    const Duration there = some(chance() < faults ? 9s : 20ms);
    const Duration back = some(chance() < faults ? 9s : 20ms);
    later(now_ + there, [this, &each, epoch = epoch_[&each], request = std::move(request), lost_before,
                         lost_after, back] {
      Json object;
      const auto answer = lost_before ? Server::Answer::missing : server_.handle(request, object);
      later(now_ + back, [this, &each, epoch, id = request.id, answer, object, lost_before, lost_after] {
        if (epoch != epoch_[&each]) return;
        const TimePoint local = each.local(now_);
        if (lost_before || lost_after) return each.candidacy->on_failure(id, local);
        if (answer == Server::Answer::missing) return each.candidacy->on_missing(id, local);
        if (answer == Server::Answer::conflict) return each.candidacy->on_conflict(id, local);
        each.candidacy->on_answered(id, object, local);
      });
    });
  }

  void later(Duration when, std::function<void()> what) { due_.emplace(when, std::move(what)); }
  void deliver() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const auto what = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      what();
    }
  }

  void check() {
    ASSERT_LE(leaders(), 1) << "at " << now_.count() / 1'000'000 << " ms; " << story();
    for (const Instance& each : instances_) {
      if (each.leads(now_)) terms_.insert(each.candidacy->term()->number);
    }
  }

  std::string story() const {
    std::string text = server_.lease ? server_.lease->dump() : "no Lease";
    for (const Instance& each : instances_) {
      if (!each.leads(now_)) continue;
      text += "\n" + each.identity + " leads term " + std::to_string(each.candidacy->term()->number) +
              ", holder for it is " + each.candidacy->holder();
    }
    return text;
  }

  std::mt19937_64 random_;
  Server server_;
  std::deque<Instance> instances_;
  std::map<const Instance*, int> epoch_;
  std::multimap<Duration, std::function<void()>> due_;
  std::set<std::uint64_t> terms_;
  Duration now_{};
};

std::uint64_t first_seed() {
  const char* given = std::getenv("EVENKEEL_ELECTION_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

TEST(ElectionSimulation, NeverHasTwoLeadersAndAlwaysGetsOne) {
  std::size_t terms = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 60; ++seed) {
    SCOPED_TRACE("EVENKEEL_ELECTION_SEED=" + std::to_string(seed));
    World world(seed, 2 + static_cast<int>(seed % 4));
    world.run(120s, 0.3);
    if (HasFatalFailure()) return;
    // Requests of up to 18 s may still be running, and a pause of 20 s; then a lease duration at the slowest
    // rate.
    world.run(60s, 0);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.leaders(), 1);
    terms += world.terms();
  }
  EXPECT_GT(terms, 120U) << "the faults did not make enough leaders fall";
}

TEST(ElectionSimulation, AFreedLeaseIsTakenAtOnceByWhoWatches) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 20; ++seed) {
    SCOPED_TRACE("EVENKEEL_ELECTION_SEED=" + std::to_string(seed));
    World world(seed, 5);
    world.run(10s, 0);
    Instance* leader = world.leader();
    ASSERT_NE(leader, nullptr);
    leader->paused_until = 1h;  // so that it does not become a candidate again
    leader->candidacy->resign(world.local(*leader));
    const auto step = leader->candidacy->next_step(world.local(*leader), WallTime());
    ASSERT_TRUE(step.request);
    Json object;
    ASSERT_EQ(world.server().handle(*step.request, object), Server::Answer::object);
    leader->candidacy->on_answered(step.request->id, object, world.local(*leader));
    EXPECT_EQ(leader->candidacy->end(), Core::End::released);
    world.run(100ms, 0);
    EXPECT_EQ(world.leaders(), 1);
  }
}

TEST(ElectionSimulation, ADeadLeadersLeaseIsTakenWithinASecondOfItsEnd) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 20; ++seed) {
    SCOPED_TRACE("EVENKEEL_ELECTION_SEED=" + std::to_string(seed));
    World world(seed, 5);
    world.run(10s, 0);
    Instance* leader = world.leader();
    ASSERT_NE(leader, nullptr);
    leader->paused_until = 1h;
    // The slowest clock here takes 16.3 s for the 15 of the Lease; instances that only poll saw its last
    // change up to 4.4 s late, but watching instances were faster.
    world.run(17s + 300ms, 0);
    EXPECT_EQ(world.leaders(), 1);
  }
}

}  // namespace
}  // namespace evenkeel
