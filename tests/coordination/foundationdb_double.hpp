// SPDX-License-Identifier: Apache-2.0
// Clusters of the double of FoundationDB's C API (fdb_double/), by the files that name them.
#pragma once

#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include <evenkeel/coordination/foundationdb_store.hpp>

#include "fdb_double/cluster.hpp"
#include "foundationdb_network.hpp"

namespace evenkeel::tests {

/// Creates a separate cluster for each `name`; an unreachable one is never answered.
inline std::string cluster_file(std::string name, bool reachable = true) {
  for (char& letter : name) {
    if (letter == '/') letter = '-';
  }
  const std::string file = ::testing::TempDir() + "evenkeel" + std::to_string(::getpid()) + name +
                           (reachable ? "" : "-nobody") + ".cluster";
  static std::mutex mutex;
  static std::set<std::string> written;
  const std::scoped_lock lock(mutex);
  if (written.insert(file).second)
    std::ofstream(file) << "double:" << name << "@127.0.0.1:" << (reachable ? "4500" : "1") << "\n";
  return file;
}

/// Uses the one network thread of the process.
inline std::shared_ptr<coordination::FoundationDbStore> open_foundationdb(
    coordination::FoundationDbStoreOptions options) {
  return std::make_shared<coordination::FoundationDbStore>(FdbNetworkEnvironment::network(),
                                                           std::move(options));
}

}  // namespace evenkeel::tests
