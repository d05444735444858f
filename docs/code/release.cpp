// SPDX-License-Identifier: Apache-2.0
// Calls of the documents that a release build must compile without warnings; see scripts/check_documents.py.
#include <string>

#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

void manage(const ek::Client& client) {
  ek::Manager manager(client, {.name = "demo", .election = ek::ElectionOptions{.name = "demo"}});
  static_cast<void>(manager.is_leader());
}

int run_with_flags(int argc, char** argv) {
  std::string image = "web:1";
  ek::FlagSet flags;
  flags.add("--default-image", image, "Image of objects that name none");
  return ek::run(argc, argv, {.name = "demo", .endpoint = {.metrics_address = ":8080"}, .flags = flags},
                 [&image](ek::Manager&) { image += " is used"; });
}

int main(int argc, char** argv) {
  if (argc > 9) return run_with_flags(argc, argv);
  return ek::run(argc, argv,
                 {.name = "demo",
                  .manager = {.workers = 2},
                  .endpoint = {.metrics_address = ":8080", .probe_address = ":8081"}},
                 [](ek::Manager& manager) {
                   manager.add(ek::controller_for<ek::ConfigMap>([](ek::Context&, const ek::ConfigMap&) {}));
                 });
}
