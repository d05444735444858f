// SPDX-License-Identifier: Apache-2.0
// The network of libfdb_c for the tests of one program: it ends before main() does, because its thread must
// not outlive libfdb_c's static objects.
#pragma once

#include <optional>

#include <gtest/gtest.h>

#include <evenkeel/coordination/foundationdb_store.hpp>

namespace evenkeel::tests {

class FdbNetworkEnvironment final : public ::testing::Environment {
 public:
  void SetUp() override { running().emplace(); }
  void TearDown() override { running().reset(); }

  static const coordination::FoundationDbNetwork& network() { return running().value(); }

 private:
  static std::optional<coordination::FoundationDbNetwork>& running() {
    static std::optional<coordination::FoundationDbNetwork> network;
    return network;
  }
};

inline ::testing::Environment* const fdb_network_environment =
    ::testing::AddGlobalTestEnvironment(new FdbNetworkEnvironment);

}  // namespace evenkeel::tests
