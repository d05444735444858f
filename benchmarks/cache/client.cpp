// SPDX-License-Identifier: Apache-2.0
// A program with a cache of pods that measures itself; benchmarks/peers has counterparts on client-go,
// controller-runtime and kube-rs, and scripts/bench-cache runs them in turn against the same server.
//
//   cache_client --server KUBECONFIG [--form whole|compressed|projected|metadata] [--namespace NAMESPACE]
//                [--namespaces N] [--count-allocations 1] [--disk FOLDER]
//
// It caches the pods of all namespaces, or of one, with an index by the label app; or, with --namespaces, ten
// kinds in each of N namespaces. With --disk it has copies on disk. It runs until SIGTERM, or the end of its
// input. Its output is lines of JSON. The first is
//   {"event":"synced","at_ns":...,"cpu_s":...,"objects":...}
// with CLOCK_MONOTONIC and the CPU of the process, and with --count-allocations the heap that was allocated
// since main() began and not freed. The others answer commands, which are lines of input:
//   collect  {"event":"collected"}          gives unused memory back to the system, if it can
//   count N  {"event":"counting"}, and {"event":"counted","events":N,"seconds":...,"cpu_s":...} after N more
//            events of a handler: the time from the first of them, the CPU from the command
//   told     {"event":"told","events":...}  events of a handler after the first list
//   get N    {"event":"get","ns":...}       N typed reads of one pod: mean time
//   list N   {"event":"list","ns":...,"objects":...}  N typed lists of the pods of one app: mean time
//   read N   {"event":"read","p50_us":...,"p99_us":...}  N typed reads of a hundred pods in turn, ten of them
//   each
//            millisecond: time of one
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/evenkeel.hpp>

#include "../support/allocation_count.hpp"
#include "../support/pod_fields.hpp"
#include "../support/program.hpp"

namespace {

namespace ek = evenkeel;
using namespace evenkeel::benchmarks;

constexpr const char* app = "app-7";
constexpr std::int64_t hot = 100;  // pods that the paced reader reads
constexpr std::int64_t reads_at_once = 10;
constexpr std::int64_t between_reads = 1'000'000;

struct Flags {
  std::string server = {};
  std::string form = "whole";
  std::string namespace_ = {};
  std::string disk = {};
  std::int64_t namespaces = 0;
  std::int64_t count_allocations = 0;
};

/// Counts the events after the first list.
class Told final : public ek::EventHandler {
 public:
  void on_event(const ek::ObjectEvent& event) noexcept override {
    if (event.initial) return;
    const std::int64_t count = count_.fetch_add(1) + 1;
    const std::lock_guard lock(mutex_);
    if (wanted_ == 0) return;
    if (start_ == 0) start_ = now();
    if (count < from_ + wanted_) return;
    say(ek::Json::object({{"event", "counted"},
                          {"events", wanted_},
                          {"seconds", static_cast<double>(now() - start_) / 1e9},
                          {"cpu_s", cpu_seconds() - cpu_}}));
    wanted_ = 0;
  }
  void expect(std::int64_t count) {
    const std::lock_guard lock(mutex_);
    from_ = count_;
    wanted_ = count;
    start_ = 0;
    cpu_ = cpu_seconds();
    say(ek::Json::object({{"event", "counting"}}));
  }
  std::int64_t count() const { return count_; }

 private:
  std::atomic<std::int64_t> count_ = 0;
  std::mutex mutex_;
  std::int64_t from_ = 0;
  std::int64_t wanted_ = 0;
  std::int64_t start_ = 0;
  double cpu_ = 0;
};

void watch_namespaces(ek::Cache& cache, std::int64_t count) {
  const std::vector<ek::ResourceId> kinds = {
      ek::Pod::resource,        ek::ConfigMap::resource,      ek::Secret::resource,
      ek::Service::resource,    ek::ServiceAccount::resource, ek::PersistentVolumeClaim::resource,
      ek::Deployment::resource, ek::ReplicaSet::resource,     ek::StatefulSet::resource,
      ek::DaemonSet::resource};
  for (const ek::ResourceId& kind : kinds) {
    for (std::int64_t at = 0; at < count; ++at) {
      ek::InformerOptions options = cache.default_options();
      options.namespace_ = "idle-" + std::to_string(at);
      cache.informer(kind, options);
    }
  }
}

std::vector<ek::ObjectKey> keys_of(const ek::Informer& pods) {
  std::vector<ek::ObjectKey> keys;
  for (const ek::WireObject& pod : pods.store().snapshot()) keys.push_back(pod.key());
  return keys;
}

void read_pod(const ek::Cache& cache, const ek::ObjectKey& key) {
  if (!cache.find<ek::Pod>(key)) throw std::runtime_error("a pod is not in the cache");
}

/// Returns the mean time of `call` in nanoseconds.
template <class Call>
double each(std::int64_t count, Call call) {
  call();
  const std::int64_t before = now();
  for (std::int64_t at = 0; at < count; ++at) call();
  return static_cast<double>(now() - before) / static_cast<double>(count);
}

void paced(const ek::Cache& cache, const std::vector<ek::ObjectKey>& keys, std::int64_t count) {
  std::vector<std::int64_t> times;
  times.reserve(static_cast<std::size_t>(count));
  for (std::int64_t at = 0; at < hot; ++at) read_pod(cache, keys[static_cast<std::size_t>(at)]);
  std::int64_t next = now();
  for (std::int64_t at = 0; at < count; ++at) {
    if (at % reads_at_once == 0) sleep_until(next += between_reads);
    const std::int64_t before = now();
    read_pod(cache, keys[static_cast<std::size_t>(at * 37 % hot)]);
    times.push_back(now() - before);
  }
  std::sort(times.begin(), times.end());
  const auto quantile = [&times](double share) {
    return static_cast<double>(
               times[static_cast<std::size_t>(static_cast<double>(times.size() - 1) * share)]) /
           1e3;
  };
  say(ek::Json::object({{"event", "read"}, {"p50_us", quantile(0.5)}, {"p99_us", quantile(0.99)}}));
}

class Commands {
 public:
  Commands(const ek::Cache& cache, const ek::Informer* pods, Told& told)
      : cache_(cache), pods_(pods), told_(told) {}

  void obey(const std::string& command, std::int64_t number) {
    if (command == "collect") {
      malloc_trim(0);
      say(ek::Json::object({{"event", "collected"}}));
    } else if (command == "count") {
      told_.expect(number);
    } else if (command == "told") {
      say(ek::Json::object({{"event", "told"}, {"events", told_.count()}}));
    } else if (command == "get" && pods_ != nullptr) {
      const ek::ObjectKey key = keys_of(*pods_).at(0);
      say(ek::Json::object({{"event", "get"}, {"ns", each(number, [&] { read_pod(cache_, key); })}}));
    } else if (command == "list" && pods_ != nullptr) {
      const auto list = [this] { return cache_.list<ek::Pod>(ek::by("app", app)).size(); };
      say(ek::Json::object({{"event", "list"}, {"ns", each(number, list)}, {"objects", list()}}));
    } else if (command == "read" && pods_ != nullptr) {
      paced(cache_, keys_of(*pods_), number);
    } else {
      throw std::invalid_argument("unknown command " + command);
    }
  }

 private:
  const ek::Cache& cache_;
  const ek::Informer* const pods_;
  Told& told_;
};

const ek::Informer* declare(ek::Cache& cache, const Flags& flags, const std::shared_ptr<Told>& told) {
  if (flags.namespaces > 0) {
    watch_namespaces(cache, flags.namespaces);
    return nullptr;
  }
  ek::InformerOptions options = cache.default_options();
  options.namespace_ = flags.namespace_;
  if (flags.form == "metadata") options.form = ek::WireForm::metadata_only;
  if (flags.form == "compressed") options.form = ek::WireForm::compressed;
  if (flags.form == "projected") options.form = ek::WireForm::projected;
  cache.index<ek::Pod>("app", ek::label_index("app"));
  ek::Informer& pods =
      flags.form == "projected" ? cache.informer<PodFields>(options) : cache.informer<ek::Pod>(options);
  pods.add_handler(told, {.delivery = ek::Delivery::direct});
  return &pods;
}

void say_synced(const ek::Informer* pods, std::optional<AllocationCount>& allocations) {
  ek::Json line = ek::Json::object({{"event", "synced"},
                                    {"at_ns", now()},
                                    {"cpu_s", cpu_seconds()},
                                    {"objects", pods == nullptr ? 0 : pods->size()}});
  if (allocations) line["allocated_bytes"] = allocations->stop().live_bytes;
  say(line);
}

void run(const Flags& flags) {
  std::optional<AllocationCount> allocations;
  if (flags.count_allocations > 0) allocations.emplace();
  const auto told = std::make_shared<Told>();
  ek::CacheOptions options;
  options.disk.directory = flags.disk;
  ek::Cache cache(ek::Client(ek::load_config({.kubeconfig = flags.server})), options);
  const ek::Informer* const pods = declare(cache, flags, told);
  cache.start();
  cache.wait_for_sync({});
  say_synced(pods, allocations);
  Commands commands(cache, pods, *told);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::int64_t number = 0;
    words >> command >> number;
    commands.obey(command, number);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("cache_client", [&] {
    Flags flags;
    read_flags(argc, argv,
               {{"--server", &flags.server},
                {"--form", &flags.form},
                {"--namespace", &flags.namespace_},
                {"--namespaces", &flags.namespaces},
                {"--disk", &flags.disk},
                {"--count-allocations", &flags.count_allocations}});
    run(flags);
    return EXIT_SUCCESS;
  });
}
