// SPDX-License-Identifier: Apache-2.0
// Records Events about a ConfigMap, a Namespace and a ClusterRole in one of the APIs; driven by
// describe_test.py.
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/events/event_recorder.hpp>

namespace ek = evenkeel;

// event-writer KUBECONFIG events|core CONFIG_MAP NAMESPACE
int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    const ek::Client client(ek::load_config({.kubeconfig = argv[1]}));
    const bool core = std::string_view(argv[2]) == "core";
    ek::EventRecorder recorder(
        client, {.api = core ? ek::EventApi::core_v1 : ek::EventApi::events_v1, .component = "event-writer"});
    const auto map = client.get<ek::ConfigMap>({argv[4], argv[3]});
    const auto space = client.get<ek::Namespace>({"", argv[4]});
    for (int i = 0; i < 3; ++i)
      recorder.event(*map, ek::EventSeverity::warning, "Empty", "there is nothing in it");
    if (!recorder.flush(std::chrono::seconds{30})) return 1;
    recorder.event(*map, ek::EventSeverity::warning, "Empty", "there is nothing in it");
    for (int attempt = 1; attempt <= 11; ++attempt)
      recorder.event(*space, ek::EventSeverity::normal, "Tried", "attempt " + std::to_string(attempt));
    // Longer than the server takes, and about a name that no Event can have.
    std::string message;
    for (int i = 0; i < 500; ++i) message += "\u20ac";
    recorder.record({.api_version = "rbac.authorization.k8s.io/v1",
                     .kind = "ClusterRole",
                     .name = std::string("system:") + argv[4]},
                    ek::EventSeverity::normal, std::string(200, 'r'), message);
    return recorder.flush(std::chrono::seconds{30}) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "event-writer: %s\n", error.what());
    return 1;
  }
}
