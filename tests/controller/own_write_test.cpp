// SPDX-License-Identifier: Apache-2.0
// Which changes of an object are own writes, as tables.
#include "controller/own_write.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "client/request/write_log.hpp"
#include "event_fixture.hpp"

namespace evenkeel::own_write_tests {
namespace {

using detail::Change;
using detail::is_own_write;
using detail::LoggedWrite;
using detail::LoggedWrites;
using detail::may_be_own_write;
using detail::SentForm;

// `rest`: what follows the version inside of the metadata, and after it.
std::string text(const std::string& version, const std::string& rest) {
  return R"({"apiVersion":"v1","kind":"Demo","metadata":{"name":"a","namespace":"ns","uid":"u",)"
         R"("resourceVersion":")" +
         version + "\"" + rest + "}";
}

WireObject scanned(const std::string& text, WireForm form = WireForm::whole) {
  return WireScanner({.form = form}).object(text);
}

Change change(const std::string& before, const std::string& after) {
  return {scanned(text("5", before)), scanned(text("7", after))};
}

LoggedWrites logged(std::vector<LoggedWrite> writes) {
  LoggedWrites made;
  for (LoggedWrite& write : writes) made.push_back(std::make_shared<const LoggedWrite>(std::move(write)));
  return made;
}

// The only write that is known, whose answer had the version of the state after the change.
bool is_own(const Change& change, SentForm form, const std::string& body) {
  return is_own_write(change, logged({{.uid = "u", .version = "7", .form = form, .body = body}}));
}

struct Row {
  const char* what;
  const char* before;
  const char* after;
  const char* sent;
  bool own;
};

void check(SentForm form, const std::vector<Row>& rows) {
  for (const Row& row : rows)
    EXPECT_EQ(is_own(change(row.before, row.after), form, row.sent), row.own) << row.what;
}

TEST(IsOwnWrite, ComparesAMergePatchWithTheDifference) {
  check(
      SentForm::merge,
      {
          {"a status", R"(},"status":{"a":1,"b":2})", R"(},"status":{"a":3,"b":2})", R"({"status":{"a":3}})",
           true},
          {"a first status", R"(})", R"(},"status":{"a":0,"c":{"d":[1]}})",
           R"({"status":{"a":0,"c":{"d":[1]}}})", true},
          {"and what somebody else wrote before", R"(},"status":{"a":1})", R"(},"status":{"a":3,"b":2})",
           R"({"status":{"a":3}})", false},
          {"a no-op over a status of somebody else", R"(},"status":{"a":3})", R"(},"status":{"a":3,"b":2})",
           R"({"status":{"a":3}})", false},
          {"another value than was sent", R"(},"status":{"a":1})", R"(},"status":{"a":2})",
           R"({"status":{"a":3}})", false},
          {"a removal", R"(},"status":{"a":1,"b":2})", R"(},"status":{"b":2})", R"({"status":{"a":null}})",
           true},
          {"the removal of an object with all in it", R"(},"status":{"a":{"b":[1]}})", R"(},"status":{})",
           R"({"status":{"a":null}})", true},
          {"a removal that was not sent", R"(},"status":{"a":1,"b":2})", R"(},"status":{"b":3})",
           R"({"status":{"b":3}})", false},
          {"a whole list", R"(},"status":{"l":[1,2]})", R"(},"status":{"l":[2,3]})",
           R"({"status":{"l":[2,3]}})", true},
          {"a list that is not the one sent", R"(},"status":{"l":[1]})", R"(},"status":{"l":[2,3]})",
           R"({"status":{"l":[2]}})", false},
          {"an empty value that the server leaves out", R"(},"status":{"a":"x","b":{"c":1}})",
           R"(},"status":{})", R"({"status":{"a":"","b":{"c":null}}})", true},
          {"an object in place of a value", R"(},"status":{"a":1})", R"(},"status":{"a":{"b":1}})",
           R"({"status":{"a":{"b":1}}})", true},
          {"the spec, which counts up the generation", R"(,"generation":1},"spec":{"n":1})",
           R"(,"generation":2},"spec":{"n":2})", R"({"spec":{"n":2}})", true},
          {"labels, annotations and finalizers", R"(})",
           R"(,"labels":{"l":"1"},"annotations":{"a":"1"},"finalizers":["x/y"]})",
           R"({"metadata":{"labels":{"l":"1"},"annotations":{"a":"1"},"finalizers":["x/y"]}})", true},
          {"a label of somebody else", R"(})", R"(,"labels":{"l":"1","m":"2"}})",
           R"({"metadata":{"labels":{"l":"1"}}})", false},
          {"nothing at all but the version", R"(},"status":{"a":1})", R"(},"status":{"a":1})", R"({})", true},
      });
}

TEST(IsOwnWrite, ComparesAnApplyItemByItem) {
  const char* two = R"(},"status":{"c":[{"type":"A","v":1},{"type":"B","v":1}]})";
  check(
      SentForm::apply,
      {
          {"one of two items", two, R"(},"status":{"c":[{"type":"A","v":2},{"type":"B","v":1}]})",
           R"({"status":{"c":[{"type":"A","v":2}]}})", true},
          {"a new item", two,
           R"(},"status":{"c":[{"type":"A","v":1},{"type":"B","v":1},{"type":"C","v":1}]})",
           R"({"status":{"c":[{"type":"C","v":1}]}})", true},
          {"the first item", R"(})", R"(},"status":{"c":[{"type":"C","v":1}]})",
           R"({"status":{"c":[{"type":"C","v":1}]}})", true},
          {"both, and only one was sent", two, R"(},"status":{"c":[{"type":"A","v":2},{"type":"B","v":2}]})",
           R"({"status":{"c":[{"type":"A","v":2}]}})", false},
          {"an item that was sent, with more in it than was sent", two,
           R"(},"status":{"c":[{"type":"A","v":2,"w":1},{"type":"B","v":1}]})",
           R"({"status":{"c":[{"type":"A","v":2}]}})", false},
          {"an item that is gone", two, R"(},"status":{"c":[{"type":"A","v":2}]})",
           R"({"status":{"c":[{"type":"A","v":2}]}})", false},
          {"an item in the place of another", R"(},"status":{"c":[{"type":"B","v":1}]})",
           R"(},"status":{"c":[{"type":"A","v":1}]})", R"({"status":{"c":[{"type":"A","v":1}]}})", false},
          {"an item without a key", R"(},"status":{"c":[]})", R"(},"status":{"c":[{"v":1}]})",
           R"({"status":{"c":[{"v":1}]}})", false},
          {"a finalizer beside another", R"(,"finalizers":["x/y"]})", R"(,"finalizers":["x/y","x/z"]})",
           R"({"metadata":{"finalizers":["x/z"]}})", true},
          {"a finalizer that is gone", R"(,"finalizers":["x/y","x/z"]})", R"(,"finalizers":["x/z"]})",
           R"({"metadata":{"finalizers":["x/z"]}})", false},
          {"a member that is gone", R"(},"status":{"a":1,"b":1})", R"(},"status":{"a":2})",
           R"({"status":{"a":2}})", false},
          {"YAML", R"(},"status":{"a":1})", R"(},"status":{"a":2})", "status: {a: 2}", false},
      });
  std::string many = R"({"status":{"c":[0)";
  for (int i = 1; i <= 256; ++i) many += "," + std::to_string(i);
  EXPECT_FALSE(
      is_own(change(R"(})", "}," + many.substr(1, many.size() - 1) + "]}"), SentForm::apply, many + "]}}"))
      << "too long to match";
}

TEST(IsOwnWrite, ComparesAStrategicMergePatchUnlessItHasDirectives) {
  check(SentForm::strategic,
        {
            {"an item and a removal", R"(},"status":{"a":1,"c":[{"type":"A","v":1},{"type":"B","v":1}]})",
             R"(},"status":{"c":[{"type":"A","v":2},{"type":"B","v":1}]})",
             R"({"status":{"a":null,"c":[{"type":"A","v":2}]}})", true},
            {"a directive", R"(},"status":{"a":1})", R"(},"status":{"b":1})",
             R"({"status":{"$patch":"replace","a":null,"b":1}})", false},
        });
}

TEST(IsOwnWrite, ComparesAWholeDocument) {
  check(SentForm::document,
        {
            {"a change and a removal", R"(},"data":{"a":"1","b":"2"})", R"(},"data":{"a":"2"})",
             R"({"metadata":{"name":"a"},"data":{"a":"2"}})", true},
            {"a status, which such a write does not change where it is a subresource",
             R"(},"spec":{"n":1},"status":{"a":1})", R"(},"spec":{"n":1},"status":{"a":2})",
             R"({"spec":{"n":1},"status":{"a":1}})", false},
        });
}

TEST(IsOwnWrite, AppliesAJsonPatch) {
  check(SentForm::json,
        {
            {"an item of a list, and a label", R"(},"status":{"c":[{"v":1},{"v":2}]})",
             R"(,"labels":{"a":"1"}},"status":{"c":[{"v":1},{"v":3}]})",
             R"([{"op":"replace","path":"/status/c/1/v","value":3},)"
             R"({"op":"add","path":"/metadata/labels","value":{"a":"1"}}])",
             true},
            {"the generation and a tested version", R"(,"generation":1},"spec":{"n":1})",
             R"(,"generation":2},"spec":{"n":2})",
             R"([{"op":"test","path":"/metadata/resourceVersion","value":"5"},)"
             R"({"op":"replace","path":"/spec/n","value":2}])",
             true},
            {"a status of somebody else", R"(},"status":{"a":1})", R"(},"status":{"a":1,"b":2})",
             R"([{"op":"replace","path":"/status/a","value":1}])", false},
            {"a patch that does not fit the state before", R"(},"status":{})", R"(},"status":{"a":1})",
             R"([{"op":"replace","path":"/status/a","value":1}])", false},
        });
  const Change both = change(R"(},"status":{"a":1})", R"(},"status":{"a":2,"b":3})");
  const LoggedWrite one{.version = "6", .form = SentForm::merge, .body = R"({"status":{"b":3}})"};
  const LoggedWrite other{
      .version = "7", .form = SentForm::json, .body = R"([{"op":"replace","path":"/status/a","value":2}])"};
  EXPECT_TRUE(is_own_write(both, logged({one, other})));
  LoggedWrite applied = one;
  applied.form = SentForm::apply;
  EXPECT_FALSE(is_own_write(both, logged({applied, other})));
}

TEST(IsOwnWrite, DoesNotCompareWhatItCannotRead) {
  const Change made = change(R"(},"status":{"a":1})", R"(},"status":{"a":2})");
  EXPECT_FALSE(is_own(made, SentForm::opaque, ""));
  EXPECT_FALSE(is_own(made, SentForm::merge, "{")) << "no JSON";
  const Change partial{scanned(text("5", "}"), WireForm::metadata_only),
                       scanned(text("7", "}"), WireForm::metadata_only)};
  EXPECT_FALSE(is_own(partial, SentForm::merge, R"({"status":{"a":2}})"));
  EXPECT_TRUE(is_own_write(partial, logged({{.uid = "u", .version = "7", .base = "5"}})))
      << "the versions alone prove it";
}

TEST(IsOwnWrite, TheVersionMustBeTheAnswerToAWrite) {
  const Change made = change(R"(},"status":{"a":1})", R"(},"status":{"a":2})");
  const std::string body = R"({"status":{"a":2}})";
  EXPECT_FALSE(is_own_write(made, {}));
  EXPECT_FALSE(is_own_write(made, logged({{.version = "6", .form = SentForm::merge, .body = body}})));
  EXPECT_FALSE(is_own_write(made, logged({{.version = "8", .form = SentForm::merge, .body = body}})));
  EXPECT_FALSE(
      is_own_write({made.after, made.before},
                   logged({{.version = "5", .form = SentForm::merge, .body = R"({"status":{"a":1}})"}})))
      << "the server went back";
  EXPECT_TRUE(is_own_write({made.before, made.before}, {})) << "no change at all, as in a resync";
}

TEST(IsOwnWrite, AWriteThatTheServerBasedOnTheStateBeforeNeedsNoComparison) {
  const Change made = change(R"(},"status":{"a":1})", R"(},"status":{"a":2,"set by":"the server"})");
  EXPECT_TRUE(is_own_write(made, logged({{.version = "7", .base = "5", .form = SentForm::document}})));
  EXPECT_FALSE(is_own_write(made, logged({{.version = "7", .base = "6", .form = SentForm::document}})))
      << "somebody else wrote version 6";
  EXPECT_TRUE(is_own_write(made, logged({{.version = "7", .base = "6"}, {.version = "6", .base = "5"}})));
  EXPECT_TRUE(is_own_write(made, logged({{.version = "3", .base = "2"},
                                         {.version = "7", .base = "5"},
                                         {.version = "7", .form = SentForm::merge, .body = "{}"}})))
      << "a write before and one without an effect";
}

// A relist, or a cache that skips states, shows several writes as one change.
TEST(IsOwnWrite, SeveralWritesExplainAChangeTogether) {
  const Change made =
      change(R"(},"spec":{"n":1},"status":{"a":1,"b":1})", R"(},"spec":{"n":2},"status":{"a":3,"b":2})");
  const auto is_own = [&](const std::string& first, const std::string& second) {
    return is_own_write(made,
                        logged({{.version = "7", .form = SentForm::merge, .body = second},
                                {.version = "6", .form = SentForm::merge, .body = first},
                                {.version = "4", .form = SentForm::merge, .body = R"({"spec":{"n":2}})"}}));
  };
  EXPECT_TRUE(is_own(R"({"spec":{"n":2},"status":{"b":2}})", R"({"status":{"a":3}})"));
  EXPECT_TRUE(is_own(R"({"spec":{"n":2},"status":{"a":2,"b":2}})", R"({"status":{"a":3}})"));
  EXPECT_FALSE(is_own(R"({"status":{"b":2}})", R"({"status":{"a":3}})"))
      << "the spec was sent before the change";
  EXPECT_FALSE(is_own(R"({"spec":{"n":2},"status":{"a":3,"b":2}})", R"({"status":{"a":4}})"))
      << "somebody else wrote over the last value";
  EXPECT_TRUE(is_own(R"({"status":null})", R"({"spec":{"n":2},"status":{"a":3,"b":2}})"));
}

TEST(MayBeOwnWrite, RefusesEventsThatAreNoUpdatesOfTheSameObject) {
  const WireObject object = wire_object(R"({"namespace":"ns","name":"a","uid":"u"})");
  const WireObject other = wire_object(R"({"namespace":"ns","name":"a","uid":"v"})");
  const WireObject nameless = wire_object(R"({"namespace":"ns","name":"a"})");
  const WireObject deleting =
      wire_object(R"({"namespace":"ns","name":"a","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z"})");
  EXPECT_TRUE(may_be_own_write(updated(object, object)));
  EXPECT_TRUE(may_be_own_write(updated(deleting, deleting)));
  EXPECT_FALSE(may_be_own_write(updated(object, deleting)));
  EXPECT_FALSE(may_be_own_write(updated(object, other)));
  EXPECT_FALSE(may_be_own_write(updated(nameless, nameless)));
  EXPECT_FALSE(may_be_own_write(added(object)));
  EXPECT_FALSE(may_be_own_write(deleted(object)));
  EXPECT_FALSE(may_be_own_write({.type = EventType::updated, .object = &object}))
      << "nothing to compare with";
}

}  // namespace
}  // namespace evenkeel::own_write_tests
