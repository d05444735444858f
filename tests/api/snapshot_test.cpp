// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/snapshot.hpp>

namespace ek = evenkeel;

namespace {

struct Local {
  int value = 0;
};

template <class Use>
std::string problem_of(Use use) {
  try {
    static_cast<void>(use());
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Snapshot, AnEmptyOneThatIsDereferencedThrowsWithTheNameOfItsType) {
  const ek::Snapshot<ek::ConfigMap> map;
  EXPECT_EQ(problem_of([&] { return map->data.size(); }),
            "an empty Snapshot<core_v1::ConfigMap> was dereferenced: the object does not exist; check "
            "with `if (snapshot)`");
  EXPECT_EQ(problem_of([&] { return (*map).data.size(); }), problem_of([&] { return map->data.size(); }));
  const ek::Snapshot<Local> local;
  EXPECT_NE(problem_of([&] { return local->value; }).find("Local>"), std::string::npos);
}

TEST(Snapshot, AMovedFromOneIsEmpty) {
  ek::Snapshot<Local> first(Local{.value = 7});
  const ek::Snapshot<Local> second = std::move(first);
  EXPECT_EQ(second->value, 7);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(static_cast<void>(first->value), std::logic_error);
}

TEST(Snapshot, AnEmptyOneGivesNullWithoutThrowing) {
  const ek::Snapshot<Local> none;
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_EQ(none.share(), nullptr);
  EXPECT_TRUE(none.raw().empty());
}

}  // namespace
