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
#include "../support/load.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <evenkeel/api/kinds/apiextensions.hpp>
#include <evenkeel/evenkeel.hpp>

#include "gadget.hpp"

namespace {

namespace ek = evenkeel;
using namespace evenkeel::benchmarks;

constexpr const char* namespace_of_all = "bench-runtime";
constexpr std::size_t creations_at_once = 32;

struct Flags {
  std::string server = {};
  std::int64_t create = 0;
  std::int64_t objects = 1;
  std::int64_t rate = 1000;
  std::int64_t seconds = 1;
};

std::string name_of(std::int64_t at) {
  return "gadget-" + std::to_string(at);
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
  const auto start = [&](std::int64_t at, std::int64_t sent) {
    client.start(ek::calls::patch<Gadget>(
                     {namespace_of_all, name_of(at % flags.objects)},
                     ek::Patch{ek::PatchType::merge, R"({"spec":{"sentAt":)" + std::to_string(sent) + "}}"}),
                 ending<ek::Snapshot<Gadget>>(in_flight, sent));
  };
  const std::int64_t late = at_rate(in_flight, flags.rate * flags.seconds, flags.rate, start);
  ek::Json::Array answers;
  for (const InFlight::Ended& ended : in_flight.wait_for_all())
    answers.emplace_back(ek::Json::Array{ended.begun, ended.at});
  say(ek::Json::object({{"late_ms", static_cast<double>(late) / 1e6}, {"answers", std::move(answers)}}));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("runtime_load", [&] {
    Flags flags;
    read_flags(argc, argv,
               {{"--server", &flags.server},
                {"--create", &flags.create},
                {"--objects", &flags.objects},
                {"--rate", &flags.rate},
                {"--seconds", &flags.seconds}});
    const ek::Client client(ek::load_config({.kubeconfig = flags.server}));
    flags.create > 0 ? create(client, flags.create) : write(client, flags);
    return EXIT_SUCCESS;
  });
}
