// SPDX-License-Identifier: Apache-2.0
// What every backend must do. The cases stand in store_suite*.cpp (the library store_suite of this folder's
// CMakeLists.txt); a program that links it and names a profile runs all of them on that store:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite, ::testing::Values(profile));
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuiteConcurrency, ::testing::Values(profile));
// A promise that a store does not make (Capabilities, Limits) has its own expectation in each case.
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
  /// A client of the store that all keys of a case live in, below `root`. A case calls it again for another
  /// client of the same data; other cases use other roots.
  std::function<std::shared_ptr<coordination::Store>(const std::string& root)> open;
  /// A client of a store that nobody can reach.
  std::function<std::shared_ptr<coordination::Store>(const std::string& root)> open_unreachable;
  /// Makes the store forget everything but its present state; empty: it never forgets.
  std::function<void(coordination::Store& store)> forget = {};
  /// Whether erasures are noticed key by key. False: whether a range counts as changed is open if keys were
  /// erased in it, and none put, or if keys were erased beside it. The guard keys of the sets are there
  /// because it need not be known.
  bool sees_bare_erases = true;
  /// Whether only what differs is a conflict. False: so may be what was written and is as before, such as the
  /// erasure of what was absent, or a key that came and went again.
  bool exact_conflicts = true;
  /// Of a store without Capabilities::range_conflict: whether it looks at ranges before it commits all the
  /// same.
  bool looks_at_ranges = false;
  int random_steps = 400;         ///< Of the random commits that are compared with a model.
  std::size_t many_scopes = 150;  ///< That take part in one claim.
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
  /// "a=1 b=2": what is below the scope, without versions.
  std::string contents(coordination::Store& store) const;
  std::string contents() const { return contents(*store_); }

  coordination::Version put(std::string_view unit, std::string_view value) const;
  coordination::CommitResult commit(const coordination::Commit& wanted) const {
    return store_->commit(wanted);
  }
  std::shared_ptr<coordination::Store> second_client() const { return GetParam().open(root_); }

  /// Whether a commit notices what came into a range before it was sent.
  bool sees_ranges() const { return store_->capabilities().range_conflict || GetParam().looks_at_ranges; }

  const std::string root_ = fresh_root();
  const std::shared_ptr<coordination::Store> store_ = GetParam().open(root_);

 private:
  static std::string fresh_root();
};

/// Those with threads.
class StoreSuiteConcurrency : public StoreSuite {};

}  // namespace evenkeel::tests
