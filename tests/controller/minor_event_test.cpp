// SPDX-License-Identifier: Apache-2.0
// Which events are minor, as a table.
#include "controller/minor_event.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event_fixture.hpp"

namespace evenkeel::minor_event_tests {
namespace {

using detail::is_minor;

WireObject scanned(const std::string& text, WireForm form = WireForm::whole) {
  return WireScanner({.form = form}).object(text);
}

struct Row {
  const char* what;
  const char* before;
  const char* now;
  bool minor;
};

TEST(IsMinor, KnowsWhatAsksForANewAttempt) {
  const std::vector<Row> rows = {
      {"a status write", R"("resourceVersion":"1","generation":3},"spec":{"n":1},"status":{"phase":"A"})",
       R"("resourceVersion":"2","generation":3},"spec":{"n":1},"status":{"phase":"B"})", true},
      {"nothing at all: told again", R"("resourceVersion":"1","generation":3})",
       R"("resourceVersion":"1","generation":3})", true},
      {"the generation", R"("resourceVersion":"1","generation":3})",
       R"("resourceVersion":"2","generation":4})", false},
      {"a label", R"("generation":3,"labels":{"a":"1"}})", R"("generation":3,"labels":{"a":"2"}})", false},
      {"a label that came", R"("generation":3})", R"("generation":3,"labels":{"a":"1"}})", false},
      {"labels in another order", R"("generation":3,"labels":{"a":"1","b":"2"}})",
       R"("generation":3,"labels":{"b":"2","a":"1"}})", true},
      {"an annotation", R"("generation":3,"annotations":{"a":"1"}})", R"("generation":3,"annotations":{}})",
       false},
      {"the mark of deletion", R"("generation":3})",
       R"("generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z"})", false},
      {"another object of the same name", R"("uid":"u1","generation":3})", R"("uid":"u2","generation":3})",
       false},
      {"finalizers only", R"("resourceVersion":"1","generation":3,"finalizers":["x/y"]})",
       R"("resourceVersion":"2","generation":3})", true},
      {"finalizers while it goes",
       R"("resourceVersion":"1","generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x/y"]})",
       R"("resourceVersion":"2","generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z"})", true},
      {"owners only",
       R"("resourceVersion":"1","generation":3,"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]})",
       R"("resourceVersion":"2","generation":3})", true},
      {"a generation that the server begins to count", R"("resourceVersion":"1"})",
       R"("resourceVersion":"2","generation":1})", false},
  };
  for (const Row& row : rows) {
    const std::string head = R"({"apiVersion":"v1","kind":"Demo","metadata":{"name":"a","namespace":"ns",)";
    const WireObject before = scanned(head + row.before + "}");
    const WireObject now = scanned(head + row.now + "}");
    EXPECT_EQ(is_minor(updated(before, now)), row.minor) << row.what;
  }
}

TEST(IsMinor, ComparesTheContentOfKindsThatHaveNoGeneration) {
  const std::string head =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns",)";
  const WireObject before = scanned(head + R"("resourceVersion":"1"},"data":{"k":"v","l":"w"}})");
  const WireObject same = scanned(
      head +
      R"("resourceVersion":"2","managedFields":[{"manager":"m"}]},"data":{"l":"w","k":"v"},"status":{"x":1}})");
  const WireObject changed = scanned(head + R"("resourceVersion":"2"},"data":{"k":"v","l":"x"}})");
  const WireObject more =
      scanned(head + R"("resourceVersion":"2"},"data":{"k":"v","l":"w"},"immutable":true})");
  EXPECT_TRUE(is_minor(updated(before, same)));
  EXPECT_FALSE(is_minor(updated(before, changed)));
  EXPECT_FALSE(is_minor(updated(before, more)));
}

TEST(IsMinor, ComparesNothingWhereTheContentIsNotKept) {
  const std::string head = R"({"apiVersion":"v1","kind":"Demo","metadata":{"name":"a","namespace":"ns",)";
  const auto partial = [&](const char* metadata) {
    return scanned(head + metadata + "}", WireForm::metadata_only);
  };
  EXPECT_FALSE(is_minor(updated(partial(R"("resourceVersion":"1"})"), partial(R"("resourceVersion":"2"})"))));
  EXPECT_TRUE(is_minor(updated(partial(R"("resourceVersion":"1"})"), partial(R"("resourceVersion":"1"})"))));
  EXPECT_TRUE(is_minor(updated(partial(R"("resourceVersion":"1","generation":1})"),
                               partial(R"("resourceVersion":"2","generation":1})"))));
}

TEST(IsMinor, AdditionsAndDeletionsNeverAre) {
  const WireObject object = wire_object(R"({"namespace":"ns","name":"a","generation":1})");
  EXPECT_FALSE(is_minor(added(object)));
  EXPECT_FALSE(is_minor(deleted(object)));
  EXPECT_FALSE(is_minor({.type = EventType::updated, .object = &object})) << "nothing to compare with";
}

}  // namespace
}  // namespace evenkeel::minor_event_tests
