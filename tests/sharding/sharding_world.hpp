// SPDX-License-Identifier: Apache-2.0
// Replicas that share slots in virtual time, with all faults of networks, servers, processes and clocks
// except wrong data: requests are lost before or after they had their effect, answers and events are late,
// replicas pause, crash, leave and join, clocks run at different rates. Two replicas must never run one key
// at the same time.
#pragma once

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
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "election/election_core.hpp"
#include "sharding/shard_core.hpp"

namespace evenkeel::sharding_simulation {

using namespace std::chrono_literals;
using detail::ElectionCore;
using detail::ShardCore;
using detail::ShardTable;

inline constexpr Duration lease_duration = 15s;
inline constexpr Duration renew_deadline = 10s;
inline constexpr Duration retry_period = 2s;
inline constexpr Duration tick = 20ms;
inline constexpr std::size_t slot_count = 64;
inline const std::string ring = "ring";

enum class Status : std::uint8_t { ok, missing, conflict };

/// The Leases as stored by the server.
struct Server {
  struct Change {
    bool deleted;
    Json lease;
  };
  std::map<std::string, Json> leases;
  std::int64_t version = 100;
  std::vector<Change> changes;

  static std::string name_of(const Json& lease) { return lease.at({"metadata", "name"}).as_string(); }
  Status create(Json& body) {
    if (leases.contains(name_of(body))) return Status::conflict;
    body["metadata"]["uid"] = "uid-" + std::to_string(version);
    return store(body);
  }
  Status update(Json& body) {
    const auto found = leases.find(name_of(body));
    if (found == leases.end()) return Status::missing;
    if (found->second.at({"metadata", "resourceVersion"}) != body.at({"metadata", "resourceVersion"}))
      return Status::conflict;
    return store(body);
  }
  Status remove(const Json& seen) {
    const auto found = leases.find(name_of(seen));
    if (found == leases.end()) return Status::missing;
    if (found->second.at({"metadata", "resourceVersion"}) != seen.at({"metadata", "resourceVersion"}))
      return Status::conflict;
    Json last = std::move(found->second);
    leases.erase(found);
    last["metadata"]["resourceVersion"] = std::to_string(++version);
    changes.push_back({true, std::move(last)});
    return Status::ok;
  }

 private:
  Status store(Json& body) {
    body["metadata"]["resourceVersion"] = std::to_string(++version);
    leases[name_of(body)] = body;
    changes.push_back({false, body});
    return Status::ok;
  }
};

struct Run {
  std::uint64_t generation;
  Duration until;
};

/// A replica. `epoch` separates its memberships: answers to an earlier one are dropped.
struct Replica {
  std::string division;
  std::string member;
  double rate = 1;
  Duration offset{};
  std::unique_ptr<ElectionCore> lease;
  std::unique_ptr<ShardCore> shards;
  std::map<Slot, std::uint64_t> owned;     // that may begin runs
  std::map<Slot, std::uint64_t> draining;  // that may not
  std::map<Slot, Run> runs;
  std::optional<std::size_t> watch_from;  // position in the server's changes
  int epoch = 0;
  bool leaving = false;
  bool retired = false;  // never joins again
  Duration paused_until{};
  Duration down_until{};
  Duration watch_late_until{};

  TimePoint local(Duration world) const {
    return TimePoint(offset + std::chrono::duration_cast<Duration>(world * rate));
  }
  bool is_member(Duration world) const {
    return lease && lease->term() && local(world) < lease->term()->valid_until;
  }
  /// Returns the key of a slot: each slot has one, and none has the same slot in the divisions by object and
  /// by namespace.
  std::size_t key_of(Slot slot) const { return division == "namespace" ? (slot * 5 + 1) % slot_count : slot; }
};

/// Tests that add parts to the replicas override the hooks.
class World {
 public:
  World(std::uint64_t seed, int count)
      : World(seed, std::vector<std::string>(static_cast<std::size_t>(count), "object")) {}
  /// A replica of each division.
  World(std::uint64_t seed, const std::vector<std::string>& divisions)
      : random_(seed), pending_(slot_count), last_generation_(slot_count) {
    for (const std::string& division : divisions) {
      replicas_.emplace_back();
      replicas_.back().division = division;
      join(replicas_.back());
    }
  }

  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run(Duration length, double faults) {
    for (const Duration end = now_ + length; now_ < end; now_ += tick) {
      if (faults > 0) disturb();
      deliver();
      if (chance() < 0.2 && faults > 0) work();
      for (Replica& each : replicas_) step(each, faults);
      check();
      check_parts();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  std::size_t moves() const { return moves_; }
  std::size_t runs() const { return runs_; }
  /// Asks for a run of every key.
  void ask_for_all() { pending_.assign(slot_count, true); }
  std::size_t undone() const {
    return static_cast<std::size_t>(
        std::count_if(pending_.begin(), pending_.end(), [](bool one) { return one; }));
  }
  std::size_t owned() const {
    return owned_by("object") + owned_by("namespace") + owned_by("namespace-range") +
           owned_by("namespace-cell");
  }
  std::size_t owned_by(const std::string& division) const {
    std::size_t sum = 0;
    for (const Replica& each : replicas_)
      sum += each.is_member(now_) && each.division == division ? each.owned.size() : 0;
    return sum;
  }
  /// Returns the division of each table that was stored, without repetitions.
  std::vector<std::string> divisions() const {
    std::vector<std::string> out;
    for (const Server::Change& change : server_.changes) {
      if (Server::name_of(change.lease) != ring) continue;
      const std::string division =
          change.lease.at({"metadata", "labels", ShardTable::division_label}).string_or("");
      if (out.empty() || out.back() != division) out.push_back(division);
    }
    return out;
  }
  std::size_t table_writes() const {
    return static_cast<std::size_t>(
        std::count_if(server_.changes.begin(), server_.changes.end(),
                      [](const Server::Change& change) { return Server::name_of(change.lease) == ring; }));
  }
  std::size_t most_owned() const {
    std::size_t most = 0;
    for (const Replica& each : replicas_) most = std::max(most, each.owned.size());
    return most;
  }
  std::size_t members() const {
    return static_cast<std::size_t>(std::count_if(replicas_.begin(), replicas_.end(),
                                                  [&](const Replica& each) { return each.is_member(now_); }));
  }
  Replica& replica(std::size_t i) { return replicas_[i]; }
  std::deque<Replica>& replicas() { return replicas_; }
  Server& server() { return server_; }
  void leave(Replica& each) {
    if (!each.shards || std::exchange(each.leaving, true)) return;
    each.shards->leave();
  }
  void crash(Replica& each, Duration for_) {
    end_membership(each);
    on_crash(each);
    each.down_until = now_ + for_;
  }
  /// Lets a replica leave, or crash, for good.
  void retire(Replica& each, bool crashes) {
    each.retired = true;
    if (crashes || !each.shards) {
      end_membership(each);
      on_crash(each);
    } else {
      leave(each);
    }
  }

 protected:
  // ---- Hooks
  /// Returns the hashes of the namespaces, for a division by ranges.
  virtual std::vector<std::uint64_t> hashes() const { return {}; }
  /// Called when a replica has the core of a new membership.
  virtual void on_joined(Replica&) {}
  virtual void on_gained(Replica&, Slot) {}
  /// Called after each step of a replica that is not paused, down or retired.
  virtual void after_step(Replica&, [[maybe_unused]] double faults) {}
  /// The process of the replica ends: what it has in memory is gone.
  virtual void on_crash(Replica&) {}
  /// Returns true if the replica begins a run of the key, which is its own, now.
  virtual bool takes(Replica&, std::size_t key) {
    const bool asked = pending_[key];
    pending_[key] = false;
    return asked;
  }
  virtual void check_parts() {}

  double chance() { return static_cast<double>(random_() >> 11U) / 9007199254740992.0; }
  Duration some(Duration most) { return std::chrono::duration_cast<Duration>(most * chance()); }
  std::uint64_t number() { return random_(); }
  Duration now() const { return now_; }

  /// Carries a request out and its answer back, or loses either.
  void exchange(double faults, std::function<void()> handle, std::function<void(bool lost)> answer) {
    const bool lost_before = chance() < faults / 2;
    const bool lost_after = chance() < faults / 2;
    const Duration there = some(chance() < faults ? 9s : 40ms);
    const Duration back = some(chance() < faults ? 9s : 40ms);
    due_.emplace(now_ + there, [=, this] {
      if (!lost_before) handle();
      due_.emplace(now_ + back, [=] { answer(lost_before || lost_after); });
    });
  }
  void reconcile(Replica& each) {
    std::erase_if(each.runs, [&](const auto& run) { return run.second.until <= now_; });
    for (const auto& [slot, generation] : each.draining) {
      if (!each.runs.contains(slot)) each.shards->on_drained(slot, generation);
    }
    for (const auto& [slot, generation] : each.owned) {
      const std::size_t key = each.key_of(slot);
      if (each.runs.contains(slot) || !takes(each, key)) continue;
      each.runs[slot] = {generation, now_ + some(chance() < 0.1 ? 8s : 500ms)};
      ++runs_;
      EXPECT_GE(generation, last_generation_[key]) << "key " << key;
      last_generation_[key] = generation;
    }
  }

 private:
  void disturb() {
    Replica& each = replicas_[random_() % replicas_.size()];
    const double dice = chance() * 600;
    if (dice < 1) {
      each.paused_until = now_ + some(25s);
    } else if (dice < 2) {
      crash(each, some(20s));
    } else if (dice < 3) {
      leave(each);
    } else if (dice < 4) {
      each.watch_late_until = now_ + some(20s);
    }
  }
  void work() { pending_[random_() % slot_count] = true; }

  void join(Replica& each) {
    each.member = ring + "-" + std::to_string(++names_);
    each.rate = 0.92 + 0.16 * chance();
    each.offset = std::chrono::hours(random_() % 1000);
    each.lease = std::make_unique<ElectionCore>(detail::ElectionCoreOptions{
        .namespace_ = "apps",
        .name = each.member,
        .identity = each.member,
        .labels = {{ShardCore::label, ring}, {ShardTable::division_label, each.division}},
        .lease_duration = lease_duration,
        .renew_deadline = renew_deadline,
        .retry_period = retry_period,
        .seed = random_()});
  }
  void end_membership(Replica& each) {
    ++each.epoch;
    each.lease.reset();
    each.shards.reset();
    each.owned.clear();
    each.draining.clear();
    each.runs.clear();
    each.watch_from.reset();
    each.leaving = false;
  }

  void step(Replica& each, double faults) {
    if (now_ < each.paused_until || now_ < each.down_until) return;
    if (!each.lease && each.retired) return;
    if (!each.lease) join(each);
    observe(each);
    while (true) {
      ElectionCore::Step next = each.lease->next_step(each.local(now_), WallTime());
      if (!next.request) break;
      send_renewal(each, std::move(*next.request), faults);
    }
    if (each.lease->end()) {
      if (each.leaving) each.down_until = now_ + 5s;
      return end_membership(each);
    }
    if (!each.is_member(now_)) return after_step(each, faults);
    if (!each.shards) {
      each.shards = std::make_unique<ShardCore>(detail::ShardCoreOptions{.namespace_ = "apps",
                                                                         .ring = ring,
                                                                         .member = each.member,
                                                                         .slots = slot_count,
                                                                         .division = each.division,
                                                                         .hashes = hashes(),
                                                                         .lease_duration = lease_duration,
                                                                         .retry_period = retry_period});
      on_joined(each);
    }
    reconcile(each);
    while (true) {
      ShardCore::Step next = each.shards->next_step(each.local(now_), WallTime());
      take_changes(each);
      if (!next.request) break;
      send(each, std::move(*next.request), faults);
    }
    after_step(each, faults);
    if (each.leaving && each.shards->has_left()) each.lease->resign(each.local(now_));
  }

  void take_changes(Replica& each) {
    for (const ShardCore::Change& change : each.shards->take_changes()) {
      if (change.kind == ShardCore::Change::Kind::gained) {
        each.owned[change.slot] = change.generation;
        ++moves_;
        on_gained(each, change.slot);
        continue;
      }
      each.owned.erase(change.slot);
      each.draining.erase(change.slot);
      if (change.kind == ShardCore::Change::Kind::draining) each.draining[change.slot] = change.generation;
      if (change.kind == ShardCore::Change::Kind::lost) each.runs.erase(change.slot);
    }
  }

  void observe(Replica& each) {
    if (!each.watch_from || now_ < each.watch_late_until) return;
    for (std::size_t& at = *each.watch_from; at < server_.changes.size(); ++at) {
      const Server::Change& change = server_.changes[at];
      if (Server::name_of(change.lease) == each.member && !change.deleted)
        each.lease->on_event(change.lease, each.local(now_));
      if (change.deleted) {
        each.shards->on_deleted(change.lease, each.local(now_));
      } else {
        each.shards->on_lease(change.lease, each.local(now_));
      }
    }
  }

  void send_renewal(Replica& each, ElectionCore::Request request, double faults) {
    auto status = std::make_shared<Status>();
    auto body = std::make_shared<Json>(std::move(request.body));
    const auto handle = [this, body, status, ask = request.ask, member = each.member] {
      if (ask == ElectionCore::Ask::get) {
        const auto found = server_.leases.find(member);
        *status = found == server_.leases.end() ? Status::missing : Status::ok;
        if (*status == Status::ok) *body = found->second;
      } else {
        *status = ask == ElectionCore::Ask::create ? server_.create(*body) : server_.update(*body);
      }
    };
    exchange(faults, handle, [this, body, status, &each, epoch = each.epoch, id = request.id](bool lost) {
      if (epoch != each.epoch || !each.lease) return;
      const TimePoint local = each.local(now_);
      if (lost) return each.lease->on_failure(id, local);
      if (*status == Status::missing) return each.lease->on_missing(id, local);
      if (*status == Status::conflict) return each.lease->on_conflict(id, local);
      each.lease->on_answered(id, *body, local);
    });
  }

  struct Answer {
    Status status = Status::ok;
    Json body;
    std::vector<Json> leases;
    std::string version;
    std::size_t position = 0;
  };
  void handle(const ShardCore::Request& request, Answer& answer) {
    answer.body = request.body;
    switch (request.ask) {
      case ShardCore::Ask::list:
        for (const auto& [name, lease] : server_.leases) answer.leases.push_back(lease);
        answer.version = std::to_string(server_.version);
        answer.position = server_.changes.size();
        break;
      case ShardCore::Ask::create:
        answer.status = server_.create(answer.body);
        break;
      case ShardCore::Ask::update:
        answer.status = server_.update(answer.body);
        break;
      case ShardCore::Ask::remove:
        answer.status = server_.remove(answer.body);
        break;
    }
  }
  void send(Replica& each, ShardCore::Request request, double faults) {
    const auto shared = std::make_shared<ShardCore::Request>(std::move(request));
    const auto answer = std::make_shared<Answer>();
    exchange(
        faults, [this, shared, answer] { handle(*shared, *answer); },
        [this, &each, epoch = each.epoch, shared, answer](bool lost) {
          if (epoch != each.epoch || !each.shards) return;
          const TimePoint local = each.local(now_);
          if (lost) return each.shards->on_failure(shared->id, local);
          if (answer->status != Status::ok) return each.shards->on_conflict(shared->id, local);
          if (shared->ask != ShardCore::Ask::list)
            return each.shards->on_answered(shared->id, answer->body, local);
          each.shards->on_listed(shared->id, answer->leases, answer->version, local);
          if (!each.watch_from) each.watch_from = answer->position;
        });
  }

  void deliver() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const auto what = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      what();
    }
  }

  void check() {
    std::map<std::size_t, const Replica*> running;  // by key
    for (const Replica& each : replicas_) {
      if (!each.is_member(now_)) continue;  // nothing that it sends leaves its guarded client
      for (const auto& [slot, run] : each.runs) {
        const std::size_t key = each.key_of(slot);
        const auto [other, first] = running.emplace(key, &each);
        ASSERT_TRUE(first) << "key " << key << " runs at " << other->second->member << " and " << each.member
                           << " at " << now_.count() / 1'000'000 << " ms";
      }
    }
  }

  std::mt19937_64 random_;
  Server server_;
  std::deque<Replica> replicas_;
  std::multimap<Duration, std::function<void()>> due_;
  std::vector<bool> pending_;
  std::vector<std::uint64_t> last_generation_;
  std::size_t moves_ = 0;
  std::size_t runs_ = 0;
  int names_ = 0;
  Duration now_{};
};

inline std::uint64_t first_seed() {
  const char* given = std::getenv("EVENKEEL_SHARDING_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

}  // namespace evenkeel::sharding_simulation
