// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/field_set.hpp"

#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

FieldSet set_of(std::string_view text) {
  return FieldSet::from_json(parse(text));
}

class RandomFieldSet {
 public:
  explicit RandomFieldSet(unsigned seed) : random_(seed) {}

  FieldSet make(int depth = 3) {
    FieldSet set;
    for (int i = pick(4); i >= 0; --i) {
      FieldPath path;
      for (int j = pick(depth); j >= 0; --j) path.push_back(element());
      set.insert(path);
    }
    return set;
  }

 private:
  int pick(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  PathElement element() {
    switch (pick(4)) {
      case 0:
        return PathElement::key(Json::object({{"name", std::string(1, static_cast<char>('a' + pick(3)))}}));
      case 1:
        return PathElement::value(pick(2) == 0 ? Json(pick(3)) : Json("x\"y"));
      case 2:
        return PathElement::index(static_cast<std::size_t>(pick(3)));
      default:
        return PathElement::field(std::string(1, static_cast<char>('a' + pick(4))));
    }
  }
  std::mt19937 random_;
};

TEST(FieldSet, EncodesMembersOnTheWayWithADot) {
  FieldSet set;
  set.insert({PathElement::field("spec"), PathElement::field("size")});
  EXPECT_EQ(set.to_json().dump(), R"({"f:spec":{"f:size":{}}})");
  set.insert({PathElement::field("spec")});
  EXPECT_EQ(set.to_json().dump(), R"({"f:spec":{".":{},"f:size":{}}})");
  EXPECT_EQ(set.size(), 2U);
}

TEST(FieldSet, DecodesEveryKindOfElement) {
  const FieldSet set =
      set_of(R"({"f:a":{"k:{\"b\":1,\"a\":\"x\"}":{".":{},"f:c":{}},"v:\"x\"":{},"i:3":{}}})");
  EXPECT_TRUE(set.has({PathElement::field("a"), PathElement::key(parse(R"({"a":"x","b":1})"))}));
  EXPECT_TRUE(set.has({PathElement::field("a"), PathElement::value(Json("x"))}));
  EXPECT_TRUE(set.has({PathElement::field("a"), PathElement::index(3)}));
  EXPECT_FALSE(set.has({PathElement::field("a")}));
}

TEST(FieldSet, RefusesWhatIsNoFieldsV1) {
  EXPECT_THROW(set_of(R"({"x:a":{}})"), std::invalid_argument);
  EXPECT_THROW(set_of(R"({"k:{":{}})"), std::invalid_argument);
  EXPECT_THROW(set_of("[]"), std::invalid_argument);
}

TEST(FieldSet, DescribesPathsAsConflictsDo) {
  const FieldPath path{PathElement::field("spec"), PathElement::field("ports"),
                       PathElement::key(parse(R"({"protocol":"TCP","port":80})")),
                       PathElement::field("name")};
  EXPECT_EQ(describe(path), R"(.spec.ports[port=80,protocol="TCP"].name)");
  EXPECT_EQ(describe({PathElement::field("tags"), PathElement::value(Json("x"))}), R"(.tags[="x"])");
}

TEST(FieldSet, RoundTripsThroughJson) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const FieldSet set = RandomFieldSet(seed).make();
    EXPECT_EQ(FieldSet::from_json(Json::parse(set.to_json().dump())), set);
  }
}

TEST(FieldSet, ObeysTheLawsOfSets) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomFieldSet random(seed);
    const FieldSet a = random.make();
    const FieldSet b = random.make();
    EXPECT_EQ(a.united(b), b.united(a));
    EXPECT_EQ(a.intersected(b), b.intersected(a));
    EXPECT_EQ(a.without(b).united(a.intersected(b)), a);
    EXPECT_TRUE(a.without(b).intersected(b).empty());
    EXPECT_EQ(a.united(b).size() + a.intersected(b).size(), a.size() + b.size());
    EXPECT_TRUE(a.without_below(a).empty());
    EXPECT_EQ(a.paths().size(), a.size());
    FieldSet rebuilt;
    for (const FieldPath& path : a.paths()) rebuilt.insert(path);
    EXPECT_EQ(rebuilt, a);
  }
}

TEST(FieldSet, DifferenceKeepsWhatIsBelowButRecursiveDifferenceDoesNot) {
  const FieldSet set = set_of(R"({"f:a":{".":{},"f:b":{}}})");
  const FieldSet parent = set_of(R"({"f:a":{}})");
  EXPECT_EQ(set.without(parent).to_json().dump(), R"({"f:a":{"f:b":{}}})");
  EXPECT_TRUE(set.without_below(parent).empty());
  EXPECT_EQ(set.leaves().to_json().dump(), R"({"f:a":{"f:b":{}}})");
}

TEST(FieldsOf, FollowsListAndMapTypes) {
  Shapes shapes;
  const Json object =
      parse(R"({"spec": {"size": 3, "steps": ["a", "b"], "tags": ["x", "y"], "settings": {"k": "v"},
    "parts": [{"name": "a", "count": 2}], "free": {"x": [1], "y": {"z": 1}}}})");
  EXPECT_EQ(fields_of(object, shapes.widget->root()).to_json(), parse(R"({"f:spec": {
    "f:free": {"f:x": {}, "f:y": {".": {}, "f:z": {}}},
    "f:parts": {"k:{\"name\":\"a\"}": {".": {}, "f:count": {}, "f:name": {}}},
    "f:settings": {"f:k": {}}, "f:size": {}, "f:steps": {}, "f:tags": {"v:\"x\"": {}, "v:\"y\"": {}}}})"));
}

TEST(FieldsOf, TakesDefaultsOfMissingKeys) {
  Shapes shapes;
  const Schema& ports =
      *shapes.pod->root().property("spec")->property("containers")->items->property("ports");
  EXPECT_EQ(item_element(parse(R"({"containerPort": 80})"), 0, ports).encode(),
            R"(k:{"containerPort":80,"protocol":"TCP"})");
  EXPECT_THROW(item_element(parse("null"), 0, ports), std::invalid_argument);
}

TEST(Compare, TellsAddedModifiedAndRemoved) {
  Shapes shapes;
  const Json before =
      parse(R"({"spec": {"size": 1, "color": "red", "tags": ["a"], "parts": [{"name": "p"}]}})");
  const Json after = parse(R"({"spec": {"size": 2, "label": "x", "tags": ["b"], "parts": [{"name": "p"}]}})");
  const Comparison changes = compare(before, after, shapes.widget->root());
  EXPECT_EQ(changes.added.to_json().dump(), R"({"f:spec":{"f:label":{},"f:tags":{"v:\"b\"":{}}}})");
  EXPECT_EQ(changes.modified.to_json().dump(), R"({"f:spec":{"f:size":{}}})");
  EXPECT_EQ(changes.removed.to_json().dump(), R"({"f:spec":{"f:color":{},"f:tags":{"v:\"a\"":{}}}})");
  EXPECT_TRUE(compare(before, before, shapes.widget->root()).same());
}

TEST(MergeBySchema, MergesKeyedListsAndReplacesAtomicOnes) {
  Shapes shapes;
  const Json live = parse(
      R"({"spec": {"parts": [{"name": "a", "count": 1}, {"name": "b"}], "steps": ["x"], "tags": ["t"]}})");
  const Json applied = parse(
      R"({"spec": {"parts": [{"name": "c"}, {"name": "a", "count": 5}], "steps": ["y"], "tags": ["u"]}})");
  EXPECT_EQ(merge_by_schema(live, applied, shapes.widget->root()), parse(R"({"spec": {
    "parts": [{"name": "c"}, {"name": "a", "count": 5}, {"name": "b"}], "steps": ["y"], "tags": ["t", "u"]}})"));
}

TEST(MergeBySchema, TakesTheAppliedOrderOfSharedItems) {
  Shapes shapes;
  const Json live = parse(R"({"spec": {"tags": ["a", "b", "c", "d"]}})");
  const Json applied = parse(R"({"spec": {"tags": ["d", "a"]}})");
  const Json merged = merge_by_schema(live, applied, shapes.widget->root());
  EXPECT_EQ(merged["spec"]["tags"].dump(), R"(["b","c","d","a"])");
}

TEST(RemoveFields, RemovesItemsAndMembersThatAreInTheSet) {
  Shapes shapes;
  const Json object =
      parse(R"({"spec": {"size": 1, "tags": ["a", "b"], "parts": [{"name": "p", "count": 2}]}})");
  const FieldSet gone = set_of(
      R"({"f:spec":{"f:size":{},"f:tags":{"v:\"a\"":{}},"f:parts":{"k:{\"name\":\"p\"}":{"f:count":{}}}}})");
  EXPECT_EQ(remove_fields(object, gone, shapes.widget->root()),
            parse(R"({"spec": {"tags": ["b"], "parts": [{"name": "p"}]}})"));
}

}  // namespace
}  // namespace evenkeel::apiserver
