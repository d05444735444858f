// SPDX-License-Identifier: Apache-2.0
// A home cluster and others in this process, without sockets, for tests of what follows several clusters.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/evenkeel.hpp>

#include "manager/world.hpp"

namespace evenkeel::fleet {

/// Records runs.
class Runs {
 public:
  void add(const Request& request) {
    MutexLock lock(mutex_);
    ++runs_[request.str()];
  }
  int of(const std::string& key) const {
    MutexLock lock(mutex_);
    const auto found = runs_.find(key);
    return found == runs_.end() ? 0 : found->second;
  }
  int in(const std::string& cluster) const {
    MutexLock lock(mutex_);
    int count = 0;
    for (const auto& [key, times] : runs_) count += key.starts_with(cluster + ":") ? times : 0;
    return count;
  }
  std::size_t size() const {
    MutexLock lock(mutex_);
    return runs_.size();
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, int> runs_ EVENKEEL_GUARDED_BY(mutex_);
};

/// A door at which reconciles wait.
class Door {
 public:
  explicit Door(std::shared_ptr<Happenings> happenings) : happenings_(std::move(happenings)) {}
  void wait(const std::stop_token& stop) {
    const StopWaker waker(stop, mutex_, changed_);
    MutexLock lock(mutex_);
    ++waiting_;
    happenings_->note();
    while (!open_ && !stop.stop_requested()) changed_.wait(lock);
    --waiting_;
  }
  void open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  int waiting() const {
    MutexLock lock(mutex_);
    return waiting_;
  }

 private:
  const std::shared_ptr<Happenings> happenings_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool open_ EVENKEEL_GUARDED_BY(mutex_) = false;
  int waiting_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

/// `home` is the World of the manager; at("eu") that of another cluster, made when it is first named.
class Fleet {
 public:
  Fleet() { home.install_crd(); }

  World& at(const std::string& name) {
    auto& world = worlds_[name];
    if (!world) {
      world = std::make_unique<World>();
      world->happenings = home.happenings;
      apiserver::SharedCoreOptions options;
      options.on_request = [happenings = home.happenings](const apiserver::ServedRequest&) {
        happenings->note();
      };
      world->core = std::make_shared<apiserver::SharedCore>(std::move(options));
      world->install_crd();
    }
    return *world;
  }

  /// Options of a manager whose clusters are those of at().
  ManagerOptions options() {
    ManagerOptions options = home.options();
    options.clusters.make_client = [this](const ClusterDescription& description, ClientOptions client) {
      const auto found = worlds_.find(description.name);
      if (found == worlds_.end()) return Client(description.config, std::move(client));
      client.transport = std::make_shared<apiserver::InProcessTransport>(found->second->core);
      return Client(description.config, std::move(client));
    };
    options.clusters.first_probe = std::chrono::milliseconds{1};
    options.clusters.longest_probe = std::chrono::milliseconds{20};
    return options;
  }
  static ClusterDescription described(const std::string& name) {
    return {.name = name, .config = {.server = "http://in-process"}, .version = "1"};
  }
  /// Makes a cluster unreachable; at(name).core->clear_faults() ends that.
  void break_off(const std::string& name) {
    at(name).core->inject({.drop = apiserver::FaultDrop::before, .ending = apiserver::FaultEnding::reset});
    at(name).core->cut_watches();
  }
  void wait_until(const std::function<bool()>& condition) const { home.wait_until(condition); }

  World home;

 private:
  std::map<std::string, std::unique_ptr<World>> worlds_;
};

}  // namespace evenkeel::fleet
