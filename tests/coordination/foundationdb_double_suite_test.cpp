// SPDX-License-Identifier: Apache-2.0
// The suite of all stores on the FoundationDB store and a double of FoundationDB's C API, each case on a
// separate cluster. tests/real/foundationdb_test.cpp runs it on real clusters.
#include <chrono>
#include <memory>
#include <string>

#include "foundationdb_double.hpp"
#include "store_suite.hpp"

namespace evenkeel::tests {
namespace {

using coordination::Store;

std::shared_ptr<Store> open(const std::string& root) {
  return open_foundationdb({.cluster_file = cluster_file(root), .root = root});
}

std::shared_ptr<Store> open_unreachable(const std::string& root) {
  return open_foundationdb(
      {.cluster_file = cluster_file(root, false), .timeout = std::chrono::milliseconds{50}});
}

/// Advances the clock by more than five seconds.
void forget(Store& store) {
  const std::string name = store.name();
  fdb_double::cluster_of(name.substr(name.find(' ') + 1))->advance(5'000'001);
}

const auto profile = ::testing::Values(StoreProfile{.name = "FoundationDbDouble",
                                                    .open = open,
                                                    .open_unreachable = open_unreachable,
                                                    .forget = forget,
                                                    .exact_conflicts = false});
INSTANTIATE_TEST_SUITE_P(FoundationDbDouble, StoreSuite, profile);
INSTANTIATE_TEST_SUITE_P(FoundationDbDouble, StoreSuiteConcurrency, profile);

}  // namespace
}  // namespace evenkeel::tests
