// SPDX-License-Identifier: Apache-2.0
// Load generator for the programs of benchmarks/cache.
//
//   cache_load --server KUBECONFIG --create N                      N pods, a hundred of each app
//   cache_load --server KUBECONFIG --objects N --change C [--rate R]
//
// The second form patches the status of C pods, spread over all of them, as a kubelet does: R per second, or
// as fast as the server answers.
#include "../support/load.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/evenkeel.hpp>

#include "../support/pods.hpp"

namespace {

namespace ek = evenkeel;
using namespace evenkeel::benchmarks;

constexpr std::size_t calls_at_once = 32;
constexpr std::int64_t pods_of_app = 100;
constexpr std::int64_t namespaces = 20;
constexpr std::uint64_t step = 7919;  // a prime number: from one pod that changes to the next

struct Flags {
  std::string server = {};
  std::int64_t create = 0;
  std::int64_t objects = 1;
  std::int64_t change = 0;
  std::int64_t rate = 0;
};

std::string app_of(std::int64_t pod) {
  return "app-" + std::to_string(pod / pods_of_app);
}

std::string namespace_of(std::int64_t pod) {
  return "shop-" + std::to_string(pod / pods_of_app % namespaces);
}

ek::DynamicObject dynamic(const std::string& json) {
  return ek::DynamicObject(ek::Json::parse(json));
}

void create_namespaces(const ek::Client& client) {
  for (std::int64_t at = 0; at < namespaces; ++at) {
    const std::string name = namespace_of(at * pods_of_app);
    client.apply(ek::Namespace{.metadata = {.name = name}});
    client.apply(ek::ServiceAccount{.metadata = {.name = "default", .namespace_ = name}});
  }
}

/// Creates the owner of the pods of one app; returns its uid.
std::string create_owner(const ek::Client& client, std::int64_t first_pod) {
  const std::string app = app_of(first_pod);
  const std::string labels = R"({"app":")" + app + R"("})";
  const auto owner =
      client.resource(ek::ReplicaSet::resource)
          .create(dynamic(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":")" + app +
                          R"(","namespace":")" + namespace_of(first_pod) +
                          R"("},"spec":{"selector":{"matchLabels":)" + labels +
                          R"(},"template":{"metadata":{"labels":)" + labels +
                          R"(},"spec":{"containers":[{"name":"c0","image":"app"}]}}}})"));
  return owner->metadata().uid;
}

void patch_status(const ek::Client& kubelet, InFlight& in_flight, std::int64_t pod, std::string patch) {
  kubelet.start(
      ek::calls::patch(ek::Pod::resource, {namespace_of(pod), pod_name(static_cast<int>(pod))},
                       ek::Patch{ek::PatchType::merge, std::move(patch)}, {.subresource = "status"}),
      ending<ek::Snapshot<ek::DynamicObject>>(in_flight, now()));
}

void create(const ek::Client& client, std::int64_t count) {
  create_namespaces(client);
  const ek::Client controller = client.with({.field_owner = "kube-controller-manager"});
  const ek::Client kubelet = client.with({.field_owner = "kubelet"});
  InFlight created;
  std::string owner_uid;
  for (std::int64_t at = 0; at < count; ++at) {
    if (at % pods_of_app == 0) owner_uid = create_owner(controller, at);
    std::mt19937 random(static_cast<unsigned>(at));
    const std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{)" +
                            pod_metadata(static_cast<int>(at), {.namespace_ = namespace_of(at),
                                                                .app = app_of(at),
                                                                .owner = app_of(at),
                                                                .owner_uid = owner_uid}) +
                            R"(},"spec":)" + pod_spec(random) + "}";
    created.begin(calls_at_once);
    controller.start(ek::calls::create(ek::Pod::resource, dynamic(pod)),
                     ending<ek::Snapshot<ek::DynamicObject>>(created, now()));
  }
  created.wait_for_all();
  InFlight running;
  for (std::int64_t at = 0; at < count; ++at) {
    std::mt19937 random(static_cast<unsigned>(at));
    running.begin(calls_at_once);
    patch_status(kubelet, running, at, R"({"status":)" + pod_status(random) + "}");
  }
  running.wait_for_all();
}

void change(const ek::Client& client, const Flags& flags) {
  const ek::Client kubelet = client.with({.field_owner = "kubelet"});
  InFlight in_flight;
  const std::string token = std::to_string(now());
  const auto start = [&](std::int64_t at, std::int64_t) {
    const auto pod = static_cast<std::int64_t>(static_cast<std::uint64_t>(at) * step %
                                               static_cast<std::uint64_t>(flags.objects));
    patch_status(kubelet, in_flight, pod,
                 R"({"status":{"message":")" + token + "-" + std::to_string(at) + R"("}})");
  };
  const std::int64_t begun = now();
  std::int64_t late = 0;
  if (flags.rate > 0) {
    late = at_rate(in_flight, flags.change, flags.rate, start);
  } else {
    for (std::int64_t at = 0; at < flags.change; ++at) {
      in_flight.begin(calls_at_once);
      start(at, 0);
    }
  }
  in_flight.wait_for_all();
  say(ek::Json::object(
      {{"late_ms", static_cast<double>(late) / 1e6}, {"seconds", static_cast<double>(now() - begun) / 1e9}}));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("cache_load", [&] {
    Flags flags;
    read_flags(argc, argv,
               {{"--server", &flags.server},
                {"--create", &flags.create},
                {"--objects", &flags.objects},
                {"--change", &flags.change},
                {"--rate", &flags.rate}});
    const ek::Client client(ek::load_config({.kubeconfig = flags.server}));
    flags.create > 0 ? create(client, flags.create) : change(client, flags);
    return EXIT_SUCCESS;
  });
}
