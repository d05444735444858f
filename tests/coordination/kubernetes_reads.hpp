// SPDX-License-Identifier: Apache-2.0
// Measures the cost of reading a hub, on any API server.
#pragma once

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "observed_transport.hpp"

namespace evenkeel::tests {

/// A store whose requests are counted, through sockets to `config`'s server.
struct ObservedStore {
  ObservedStore(const Config& config, const std::string& name)
      : transport(std::make_shared<ObservedTransport>(Client(config).transport())),
        store(Client(config, {.transport = transport}),
              {.namespace_ = "default", .name = name, .root = "/" + name}) {}

  /// Returns the response bytes of one snapshot.
  std::size_t snapshot_bytes() {
    transport->reset();
    const auto entries = store.snapshot()->scan_all(coordination::prefix_range("/"));
    EXPECT_FALSE(entries.empty());
    return transport->answered_bytes;
  }

  const std::shared_ptr<ObservedTransport> transport;
  coordination::KubernetesStore store;
};

/// The publish of an instance with `units` groups, each in six sets.
inline coordination::Commit publish_of(const std::string& root, const std::string& scope, int units) {
  coordination::Commit commit;
  for (const char* set : {"pendingForRemoval", "pendingForExclusion", "readyForExclusion",
                          "pendingForInclusion", "pendingForRestart", "readyForRestart"}) {
    for (int unit = 0; unit < units; ++unit) {
      commit.puts.push_back(
          {coordination::key_of(root, {set, scope, scope + "-storage-" + std::to_string(unit)}),
           R"({"at":1790000000,"kind":"storage"})"});
    }
  }
  return commit;
}

/// Takes three snapshots of `scopes` instances with 200 groups each: the first one, one after no change, and
/// one after a change of a single scope.
inline void expect_reads_of_what_changed(const Config& config, int scopes) {
  const std::string name = "reads" + std::to_string(scopes);
  ObservedStore reader(config, name);
  ObservedStore writer(config, name);
  for (int scope = 0; scope < scopes; ++scope) {
    const auto result = writer.store.commit(publish_of("/" + name, "dc" + std::to_string(scope), 200));
    ASSERT_TRUE(std::holds_alternative<coordination::Committed>(result)) << describe(result);
  }
  const std::size_t first = reader.snapshot_bytes();
  const std::size_t unchanged = reader.snapshot_bytes();
  writer.store.commit(publish_of("/" + name, "dc0", 200));
  const std::size_t one_changed = reader.snapshot_bytes();
  std::cout << scopes << " scopes of 200 groups: first snapshot " << first << " bytes, unchanged "
            << unchanged << ", one scope changed " << one_changed << '\n';
  EXPECT_LT(unchanged, first / 50);
  EXPECT_LT(one_changed, first / static_cast<std::size_t>(scopes) * 3 / 2);
}

}  // namespace evenkeel::tests
