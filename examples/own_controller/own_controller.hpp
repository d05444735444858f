// SPDX-License-Identifier: Apache-2.0
// A controller joined by hand from its parts: an informer, a work queue with two lanes and a rate limiter,
// and four workers. controller_for() and the manager add deadlines, metrics, leader election and much more.
#pragma once

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;

using Queue = ek::WorkQueue<ek::ObjectKey, ek::TwoLaneStore>;

/// Adds the key of each event: live changes to the fast lane, the first list and resyncs to the slow one.
class AddToQueue final : public ek::EventHandler {
 public:
  explicit AddToQueue(Queue& queue) : queue_(queue) {}
  void on_event(const ek::ObjectEvent& event) noexcept override {
    queue_.add(event.object->key(), event.initial || event.resync ? ek::Lane::slow : ek::Lane::fast);
  }

 private:
  Queue& queue_;
};

/// Calls `reconcile` for each ConfigMap that exists or changes, until it is destroyed. If it throws, it is
/// called again after 5 ms, 10 ms, ... 1000 s.
class OwnController {
 public:
  using Reconcile = std::function<void(const ek::Cache& cache, const ek::ObjectKey& key)>;

  OwnController(const ek::Client& client, Reconcile reconcile)
      : reconcile_(std::move(reconcile)),
        queue_({.store = ek::TwoLaneStore({.slow_share = 10}), .limiter = ek::exponential(5ms, 1000s)}),
        cache_(client) {
    cache_.informer<ek::ConfigMap>().add_handler(std::make_shared<AddToQueue>(queue_),
                                                 {.delivery = ek::Delivery::direct});
    cache_.start();
    for (int worker = 0; worker < 4; ++worker)
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }

  Queue& queue() { return queue_; }

 private:
  void work(const std::stop_token& stop) {
    if (!cache_.wait_for_sync(stop)) return;
    while (const auto claim = queue_.get(stop)) {  // no other worker gets the key before the claim ends
      try {
        reconcile_(cache_, claim->key());
        queue_.forget(claim->key());  // its next failure counts as the first one
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", claim->key().str().c_str(), error.what());
        queue_.add_rate_limited(claim->key());
      }
    }
  }

  const Reconcile reconcile_;
  Queue queue_;
  ek::Cache cache_;
  std::vector<std::jthread> workers_;  // joined first
};
