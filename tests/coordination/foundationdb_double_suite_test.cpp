// SPDX-License-Identifier: Apache-2.0
// The suite of all stores, and the cases of the FoundationDB store, on a double of FoundationDB's C API, each
// on a separate cluster. tests/real/foundationdb_test.cpp runs both on real clusters.
#include <chrono>
#include <memory>
#include <string>

#include "foundationdb_cases.hpp"
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

INSTANTIATE_TEST_SUITE_P(
    Double, FoundationDbCases,
    ::testing::Values(FoundationDbCluster{
        .name = "Double",
        .cluster_file = [](const std::string& test) { return cluster_file(test); },
        .age = [](const std::string& file) { fdb_double::cluster_of(file)->advance(5'000'001); },
        .lock = [](const std::string& file,
                   bool locked) { fdb_double::cluster_of(file)->set_locked(locked); }}));

}  // namespace
}  // namespace evenkeel::tests
