// SPDX-License-Identifier: Apache-2.0
// Calls of the documents that a release build must compile without warnings; see scripts/check_documents.py.
#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

void manage(const ek::Client& client) {
  ek::Manager manager(client, {.name = "demo", .election = ek::ElectionOptions{.name = "demo"}});
  static_cast<void>(manager.is_leader());
}

int main(int argc, char** argv) {
  return ek::run(argc, argv,
                 {.name = "demo",
                  .manager = {.workers = 2},
                  .endpoint = {.metrics_address = ":8080", .probe_address = ":8081"}},
                 [](ek::Manager& manager) {
                   manager.add(ek::controller_for<ek::ConfigMap>([](ek::Context&, const ek::ConfigMap&) {}));
                 });
}
