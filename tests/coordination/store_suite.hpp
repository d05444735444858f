// SPDX-License-Identifier: Apache-2.0
// Requirements for every store. The cases are in store_suite*.cpp (the library store_suite of this folder's
// CMakeLists.txt); a program that links it and names a profile runs all of them on that store:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite, ::testing::Values(profile));
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuiteConcurrency, ::testing::Values(profile));
// Each case has its own expectation for guarantees that a store does not give (Capabilities, Limits).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::tests {

struct StoreProfile {
  std::string name;
  /// Returns a client of the store that has all keys of a case, below `root`. A case calls it again for
  /// another client of the same data; other cases use other roots.
  std::function<std::shared_ptr<coordination::Store>(const std::string& root)> open;
  /// Returns a client of an unreachable store.
  std::function<std::shared_ptr<coordination::Store>(const std::string& root)> open_unreachable;
  /// Makes the store forget everything but its present state; unset: it never forgets.
  std::function<void(coordination::Store& store)> forget = {};
  /// True if erasures are detected key by key. False: a range may or may not count as changed if keys were
  /// erased in it and none put, or if keys were erased next to it. Guard keys make that irrelevant.
  bool sees_bare_erases = true;
  /// True if only real differences are conflicts. False: a write without effect may be one as well, such as
  /// the erasure of an absent key, or a key that was added and erased again.
  bool exact_conflicts = true;
  /// For a store without Capabilities::range_conflict: true if it checks ranges before it commits.
  bool looks_at_ranges = false;
  int random_steps = 400;         ///< Number of random commits that are compared with a model.
  std::size_t many_scopes = 150;  ///< Number of scopes in one claim.
};
inline std::ostream& operator<<(std::ostream& out, const StoreProfile& profile) {
  return out << profile.name;
}

class StoreSuite : public ::testing::TestWithParam<StoreProfile> {
 protected:
  /// The key of a member of one set and scope, which is one shard everywhere; `unit` may be any bytes.
  std::string key(std::string_view unit) const {
    return coordination::prefix_of(root_, {"set", "dc1"}) + std::string(unit);
  }
  std::vector<std::string> keys(std::string_view prefix, int count) const;
  coordination::KeyRange all() const { return coordination::prefix_range(root_ + "/"); }
  /// Formats the entries below the scope, without versions: "a=1 b=2".
  std::string contents(coordination::Store& store) const;
  std::string contents() const { return contents(*store_); }

  coordination::Version put(std::string_view unit, std::string_view value) const;
  coordination::CommitResult commit(const coordination::Commit& wanted) const {
    return store_->commit(wanted);
  }
  std::shared_ptr<coordination::Store> second_client() const { return GetParam().open(root_); }

  /// Returns true if a commit detects a key that was added to a range before it was sent.
  bool sees_ranges() const { return store_->capabilities().range_conflict || GetParam().looks_at_ranges; }

  const std::string root_ = fresh_root();
  const std::shared_ptr<coordination::Store> store_ = GetParam().open(root_);

 private:
  static std::string fresh_root();
};

/// The cases with threads.
class StoreSuiteConcurrency : public StoreSuite {};

}  // namespace evenkeel::tests
