// SPDX-License-Identifier: Apache-2.0
// The profile of the Kubernetes store for the suite of all stores, on any API server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <evenkeel/client/client.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>

#include "store_suite.hpp"

namespace evenkeel::tests {

/// Returns an object name that is unique for each root.
inline std::string name_for(const std::string& root) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : root) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return "suite-" + std::to_string(hash);
}

/// `connect` creates a client; it is called for each client of a case.
inline StoreProfile kubernetes_profile(std::string name, std::function<Client()> connect,
                                       coordination::KubernetesObjects objects) {
  const auto open_with = [objects](Client client, const std::string& root) {
    return std::make_shared<coordination::KubernetesStore>(
        std::move(client),
        coordination::KubernetesStoreOptions{
            .namespace_ = "default", .name = name_for(root), .root = root, .objects = objects});
  };
  return {.name = std::move(name),
          .open = [=](const std::string& root) { return open_with(connect(), root); },
          .open_unreachable =
              [=](const std::string& root) {
                return open_with(Client(Config{.server = "http://127.0.0.1:1"}), root);
              },
          .looks_at_ranges = objects == coordination::KubernetesObjects::by_scope,
          .random_steps = 150,
          .many_scopes = 40};
}

}  // namespace evenkeel::tests
