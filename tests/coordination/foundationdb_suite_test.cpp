// SPDX-License-Identifier: Apache-2.0
// The suite of all stores on a FoundationDB cluster. Its cluster file is named by EVENKEEL_FDB_CLUSTER_FILE;
// keys below /suite/ are erased.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include <evenkeel/coordination/foundationdb_store.hpp>

#include "store_suite.hpp"

namespace evenkeel::tests {
namespace {

using coordination::FoundationDbNetwork;
using coordination::FoundationDbStore;
using coordination::FoundationDbStoreOptions;
using coordination::Store;

std::shared_ptr<FoundationDbStore> open(FoundationDbStoreOptions options) {
  static const FoundationDbNetwork network;
  return std::make_shared<FoundationDbStore>(network, std::move(options));
}

std::string cluster_file() {
  const char* file = std::getenv("EVENKEEL_FDB_CLUSTER_FILE");
  if (file == nullptr) throw std::runtime_error("EVENKEEL_FDB_CLUSTER_FILE must name the cluster file");
  return file;
}

std::shared_ptr<Store> open_root(const std::string& root) {
  static std::set<std::string> cleared;
  auto store = open({.cluster_file = cluster_file()});
  if (cleared.insert(root).second) store->commit({.range_erases = {coordination::prefix_range(root + "/")}});
  return store;
}

std::shared_ptr<Store> open_unreachable(const std::string&) {
  const std::string file = ::testing::TempDir() + "nobody.cluster";
  std::ofstream(file) << "nobody:nobody@127.0.0.1:1\n";
  return open({.cluster_file = file, .timeout = std::chrono::seconds{1}});
}

const auto profile = ::testing::Values(StoreProfile{.name = "FoundationDb",
                                                    .open = open_root,
                                                    .open_unreachable = open_unreachable,
                                                    .exact_conflicts = false});
INSTANTIATE_TEST_SUITE_P(FoundationDb, StoreSuite, profile);
INSTANTIATE_TEST_SUITE_P(FoundationDb, StoreSuiteConcurrency, profile);

}  // namespace
}  // namespace evenkeel::tests
