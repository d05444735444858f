// SPDX-License-Identifier: Apache-2.0
// Cases of the FoundationDB store that run both on the double of FoundationDB's C API and on a real cluster,
// so that the double is compared with FoundationDB case by case.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <evenkeel/coordination/foundationdb_store.hpp>

namespace evenkeel::tests {

/// A cluster on which the cases run. Each function is called with the cluster file.
struct FoundationDbCluster {
  std::string name;
  /// Returns the cluster file for a case; the cluster may be shared with other cases.
  std::function<std::string(const std::string& test)> cluster_file;
  /// Lets more than five seconds pass for the database.
  std::function<void(const std::string& file)> age;
  /// Locks or unlocks the database.
  std::function<void(const std::string& file, bool locked)> lock;
};
inline void PrintTo(const FoundationDbCluster& cluster, std::ostream* out) {
  *out << cluster.name;
}

/// Starts with an empty database.
class FoundationDbCases : public ::testing::TestWithParam<FoundationDbCluster> {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::shared_ptr<coordination::FoundationDbStore> open(
      coordination::FoundationDbStoreOptions options = {}) const;
  static bool committed(const coordination::CommitResult& result) {
    return std::holds_alternative<coordination::Committed>(result);
  }
  std::string value_of(const std::string& key) const {
    const auto entry = store_->snapshot()->get(key);
    return entry ? entry->value : "absent";
  }
  /// Writes a value that the store did not write, as another program would.
  void put_foreign(const std::string& key, const std::string& value) const;

  std::string file_;
  std::shared_ptr<coordination::FoundationDbStore> store_;
};

}  // namespace evenkeel::tests
