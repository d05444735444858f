// SPDX-License-Identifier: Apache-2.0
// Load generator for the operators of benchmarks/runtime.
//
//   runtime_load --server KUBECONFIG --create N                      the kind Gadget, and N of them
//   runtime_load --server KUBECONFIG --objects N --rate R --seconds S
//
// The second form patches one object after the other, R per second, and writes the time of sending into each.
// It prints its maximum delay behind the schedule, and for each write the times of sending and of the
// response:
// {"late_ms":...,"answers":[[sent,answered],...]}
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <time.h>
#include <utility>
#include <vector>

#include <evenkeel/api/kinds/apiextensions.hpp>
#include <evenkeel/evenkeel.hpp>

#include "gadget.hpp"

namespace {

namespace ek = evenkeel;

constexpr const char* namespace_of_all = "bench-runtime";
constexpr std::chrono::seconds longest_wait{120};
constexpr std::size_t creations_at_once = 32;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void sleep_until(std::int64_t when) {
  const timespec time{.tv_sec = when / 1'000'000'000, .tv_nsec = when % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

struct Flags {
  std::string server = {};
  std::int64_t create = 0;
  std::int64_t objects = 1;
  std::int64_t rate = 1000;
  std::int64_t seconds = 1;
};

Flags read_flags(int argc, char** argv) {
  Flags flags;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string_view name = argv[at];
    const char* value = argv[at + 1];
    if (name == "--server") {
      flags.server = value;
      continue;
    }
    std::int64_t* const field = name == "--create"    ? &flags.create
                                : name == "--objects" ? &flags.objects
                                : name == "--rate"    ? &flags.rate
                                : name == "--seconds" ? &flags.seconds
                                                      : nullptr;
    if (field == nullptr) throw std::invalid_argument("unknown flag " + std::string(name));
    *field = std::strtoll(value, nullptr, 10);
  }
  return flags;
}

std::string name_of(std::int64_t at) {
  return "gadget-" + std::to_string(at);
}

/// Counts started and ended calls; the first failure ends the program.
class InFlight {
 public:
  /// Waits until fewer than `limit` calls are in flight, then counts one more.
  void begin(std::size_t limit) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return count_ < limit; });
    ++count_;
  }
  void end(const std::string& problem, std::int64_t begun) {
    const std::lock_guard lock(mutex_);
    --count_;
    if (problem_.empty()) problem_ = problem;
    ended_.push_back({begun, now()});
    changed_.notify_all();
  }
  struct Ended {
    std::int64_t begun = 0;
    std::int64_t at = 0;
  };
  /// Returns the results in the order in which calls ended.
  std::vector<Ended> wait_for_all() {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return count_ == 0; });
    return ended_;
  }

 private:
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
    if (!changed_.wait_for(lock, longest_wait, [&] { return condition() || !problem_.empty(); }))
      throw std::runtime_error("no answer in two minutes");
    if (!problem_.empty()) throw std::runtime_error(problem_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::string problem_;
  std::vector<Ended> ended_;
};

template <class T>
ek::Completion<T> ending(InFlight& in_flight, std::int64_t begun) {
  return [&in_flight, begun](ek::Outcome<T> outcome) {
    std::string problem;
    try {
      outcome.value();
    } catch (const std::exception& error) {
      problem = error.what();
    }
    in_flight.end(problem, begun);
  };
}

Gadget gadget(std::int64_t at) {
  return {.metadata = {.name = name_of(at),
                       .namespace_ = namespace_of_all,
                       .labels = {{"app", "bench"}, {"tier", "one"}}},
          .spec = {.size = 3, .color = "blue", .labels = {{"a", "b"}, {"c", "d"}}}};
}

void create(const ek::Client& client, std::int64_t count) {
  client.apply(ek::Namespace{.metadata = {.name = namespace_of_all}});
  client.apply(
      ek::ConfigMap{.metadata = {.name = "one", .namespace_ = namespace_of_all}, .data = {{"a", "b"}}});
  client.resource(ek::apiextensions_v1::CustomResourceDefinition::resource)
      .apply(ek::DynamicObject(ek::crd_for<Gadget>()));
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    try {
      client.create(gadget(0));
      break;
    } catch (const ek::ApiError& error) {  // until the kind is served
      if (std::chrono::steady_clock::now() - start > longest_wait) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
  }
  InFlight in_flight;
  for (std::int64_t at = 1; at < count; ++at) {
    in_flight.begin(creations_at_once);
    client.start(ek::calls::create(gadget(at)), ending<ek::Snapshot<Gadget>>(in_flight, now()));
  }
  in_flight.wait_for_all();
}

void write(const ek::Client& client, const Flags& flags) {
  InFlight in_flight;
  const std::int64_t start = now() + 1'000'000;
  const std::int64_t count = flags.rate * flags.seconds;
  std::int64_t late = 0;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t due = start + at * 1'000'000'000 / flags.rate;
    sleep_until(due);
    in_flight.begin(SIZE_MAX);
    const std::int64_t sent = now();
    late = std::max(late, sent - due);
    client.start(ek::calls::patch<Gadget>(
                     {namespace_of_all, name_of(at % flags.objects)},
                     ek::Patch{ek::PatchType::merge, R"({"spec":{"sentAt":)" + std::to_string(sent) + "}}"}),
                 ending<ek::Snapshot<Gadget>>(in_flight, sent));
  }
  ek::Json::Array answers;
  for (const InFlight::Ended& ended : in_flight.wait_for_all())
    answers.emplace_back(ek::Json::Array{ended.begun, ended.at});
  std::printf("%s\n", ek::Json::object(
                          {{"late_ms", static_cast<double>(late) / 1e6}, {"answers", std::move(answers)}})
                          .dump()
                          .c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Flags flags = read_flags(argc, argv);
    const ek::Client client(ek::load_config({.kubeconfig = flags.server}));
    flags.create > 0 ? create(client, flags.create) : write(client, flags);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "runtime_load: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
