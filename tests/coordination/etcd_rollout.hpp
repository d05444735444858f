// SPDX-License-Identifier: Apache-2.0
// The cost of a rollout on etcd: instances, each with its own connection and thread, publish, claim all at
// once, and tidy up; requests, bytes and conflicts are counted.
#pragma once

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::tests {

/// Counts the traffic. Thread safety: as the transport's.
class CountingTransport final : public http::Transport {
 public:
  struct Counts {
    std::atomic<std::size_t> requests = 0;
    std::atomic<std::size_t> bytes = 0;  ///< Request and response bodies.
  };

  CountingTransport(std::shared_ptr<http::Transport> inner, Counts& counts)
      : inner_(std::move(inner)), counts_(counts) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    ++counts_.requests;
    counts_.bytes += request.body.size();
    return inner_->send(std::move(request),
                        [&counts = counts_, done = std::move(completion)](Outcome<http::Response> outcome) {
                          if (outcome.ok()) counts.bytes += outcome.value().body.size();
                          done(std::move(outcome));
                        });
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return inner_->stream(std::move(request), std::move(handler));
  }

 private:
  const std::shared_ptr<http::Transport> inner_;
  Counts& counts_;
};

struct RolloutCost {
  std::size_t commits = 0;
  std::size_t conflicts = 0;
  std::size_t written_bytes = 0;  ///< Keys and values that were put.
  std::size_t requests = 0;
  std::size_t wire_bytes = 0;
  std::size_t acts = 0;
  std::size_t targets = 0;
  double seconds = 0;
};

/// An operator that has `units` to restart.
class RolloutInstance {
 public:
  RolloutInstance(const std::string& endpoint, const std::string& root, const std::string& scope,
                  std::size_t units, CountingTransport::Counts& counts)
      : units_(units),
        store_(std::make_shared<coordination::EtcdStore>(coordination::EtcdStoreOptions{
            .endpoints = {endpoint},
            .request_timeout = std::chrono::seconds{60},
            .transport =
                [&counts](const std::string& server) {
                  return std::make_shared<CountingTransport>(
                      http::make_curl_transport({.server = server, .proxy = ""}), counts);
                }})),
        scope_(scope),
        ledger_(store_, options(root, scope)),
        claims_(ledger_),
        lock_(store_, coordination::Layout(root), ledger_.options().identity) {}

  void publish(bool pending, bool ready) {
    const coordination::Published done = ledger_.publish([&](const coordination::OwnState&) {
      coordination::DesiredState desired;
      for (std::size_t i = 0; i < units_; ++i) {
        const std::string unit = scope_ + "-storage-" + std::to_string(i);
        if (pending) desired.add("pendingForRestart", unit, "storage");
        if (ready) desired.add("readyForRestart", unit, "storage");
      }
      return desired;
    });
    EXPECT_TRUE(done.done()) << describe(done.transacted.outcome);
  }

  void decide(std::atomic<std::size_t>& acts, std::atomic<std::size_t>& targets) {
    const auto act = [&](const coordination::Claim& claim, const std::stop_token&) {
      ++acts;
      targets += claim.targets.size();
      return coordination::ActReport();
    };
    const coordination::ActionPolicy policy{
        .action = "restart", .quiet_window = {}, .claim_timeout = std::chrono::hours{1}};
    const coordination::StepReport report =
        claims_.step(policy, {.scope = scope_}, {.act = act, .observe = act},
                     [this](const std::stop_token& stop) { return lock_.take(stop).is_held(); });
    using Kind = coordination::StepReport::Kind;
    EXPECT_TRUE(report.kind == Kind::acted || report.kind == Kind::waits || report.kind == Kind::nothing)
        << report.why;
  }

  testing::StoreCounts counts() const { return store_.counts(); }

 private:
  static coordination::LedgerOptions options(const std::string& root, const std::string& scope) {
    coordination::LedgerOptions options;
    options.domain = {.root = root, .actions = {"restart"}};
    options.identity = {scope, "uid-" + scope, "run-1"};
    options.liveness.silence = std::chrono::hours{1};
    return options;
  }

  const std::size_t units_;
  testing::FaultyStore store_;  // counts
  const std::string scope_;
  coordination::Ledger ledger_;
  coordination::ActionClaims claims_;
  coordination::LeaseLock lock_;
};

inline RolloutCost roll_out(const std::string& endpoint, std::size_t instances, std::size_t units) {
  const std::string root = "/rollout/" + std::to_string(instances);
  CountingTransport::Counts wire;
  std::atomic<std::size_t> acts = 0;
  std::atomic<std::size_t> targets = 0;
  std::list<RolloutInstance> all;
  for (std::size_t i = 0; i < instances; ++i)
    all.emplace_back(endpoint, root, "dc" + std::to_string(i), units, wire);
  const auto start = std::chrono::steady_clock::now();
  {
    std::barrier step(static_cast<std::ptrdiff_t>(instances));
    std::list<std::jthread> threads;
    for (RolloutInstance& one : all) {
      threads.emplace_back([&] {
        one.publish(true, false);
        one.publish(true, true);
        step.arrive_and_wait();
        one.decide(acts, targets);
        step.arrive_and_wait();
        one.publish(false, false);
      });
    }
  }
  RolloutCost cost{.requests = wire.requests, .wire_bytes = wire.bytes, .acts = acts, .targets = targets};
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const RolloutInstance& one : all) {
    cost.commits += one.counts().commits;
    cost.conflicts += one.counts().conflicts;
    cost.written_bytes += one.counts().written_bytes;
  }
  std::printf(
      "%3zu x %3zu: %zu transactions, %zu conflicts, %zu requests, %zu bytes written, %zu on the wire, %.1f "
      "s\n",
      instances, units, cost.commits, cost.conflicts, cost.requests, cost.written_bytes, cost.wire_bytes,
      cost.seconds);
  EXPECT_EQ(cost.acts, 1u);
  EXPECT_EQ(cost.targets, instances * units);
  // Instances do not compete for their own scopes; those that want the lock at once each lose at most once.
  EXPECT_LE(cost.conflicts, instances);
  return cost;
}

/// Checks that costs grow no faster than instances times units, from 5 x 20 on; at 50 x 200 if `large`.
inline void expect_modest_growth(const std::string& endpoint, bool large) {
  const RolloutCost small = roll_out(endpoint, 5, 20);
  const auto compare = [&](std::size_t instances, std::size_t units) {
    const RolloutCost one = roll_out(endpoint, instances, units);
    const std::size_t factor = instances * units / (5 * 20);
    EXPECT_LE(one.commits, factor * small.commits);
    EXPECT_LE(one.written_bytes, factor * small.written_bytes * 11 / 10);
    EXPECT_LE(one.wire_bytes, factor * small.wire_bytes * 11 / 10) << "reads grow no faster than writes";
  };
  compare(10, 40);
  if (large) compare(50, 200);
}

}  // namespace evenkeel::tests
