// SPDX-License-Identifier: Apache-2.0
// An operator that serves a defaulting and a validating webhook of the kind Shop over TLS, and has no
// controller; benchmarks/peers/webhook-go is the same on controller-runtime. scripts/bench-webhook runs them
// in turn, and benchmarks/peers/webhook-load calls them as kube-apiserver does.
//
//   webhook_operator --server KUBECONFIG --port P --certificates FOLDER
//
// FOLDER holds tls.crt and tls.key. It runs until SIGTERM.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include <evenkeel/evenkeel.hpp>

#include "../support/program.hpp"
#include "shop.hpp"

namespace {

namespace ek = evenkeel;
using namespace evenkeel::benchmarks;

constexpr std::int64_t most_replicas = 100;

void complete(Shop& shop, const ek::AdmissionRequest& request) {
  if (!shop.spec.replicas) shop.spec.replicas = 2;
  if (!shop.spec.pull_policy) shop.spec.pull_policy = "IfNotPresent";
  for (ShopPort& port : shop.spec.ports) {
    if (!port.protocol) port.protocol = "TCP";
  }
  shop.metadata.annotations.try_emplace("bench.evenkeel.dev/author", request.user.name);
}

ek::ValidationResult check(const ek::Validation<Shop>& it) {
  ek::ValidationResult result;
  if (it.object.spec.image.empty()) result.required("spec.image", "it has no default");
  if (it.object.spec.replicas.value_or(1) > most_replicas)
    result.invalid("spec.replicas", "must be at most 100");
  if (it.old != nullptr && it.old->spec.image != it.object.spec.image) result.warn("all pods restart");
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("webhook_operator", [&] {
    std::string server, port, certificates;
    read_flags(argc, argv, {{"--server", &server}, {"--port", &port}, {"--certificates", &certificates}});
    const std::string address = "127.0.0.1:" + port;
    const std::string certificate = certificates + "/tls.crt";
    const std::string key = certificates + "/tls.key";
    const char* const flags[] = {argv[0],
                                 "--kubeconfig",
                                 server.c_str(),
                                 "--log-level",
                                 "error",
                                 "--webhook-bind-address",
                                 address.c_str(),
                                 "--webhook-cert-file",
                                 certificate.c_str(),
                                 "--webhook-key-file",
                                 key.c_str()};
    return ek::run(std::size(flags), flags, {.name = "webhook-operator"}, [](ek::Manager& manager) {
      manager.add(ek::webhook_for<Shop>().defaults(complete).validates(check));
    });
  });
}
