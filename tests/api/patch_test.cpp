// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/patch.hpp>

#include "random_json.hpp"

namespace ek = evenkeel;
using ek::Json;
using ek::tests::without_nulls;

namespace {

Json parse(std::string_view text) {
  return Json::parse(text);
}

TEST(MergePatch, AppliesTheExamplesOfTheRfc) {
  const struct {
    const char *target, *patch, *result;
  } rows[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, result] : rows)
    EXPECT_EQ(ek::apply_merge_patch(parse(target), parse(patch)), parse(result)) << target << patch;
}

TEST(MergePatch, ContainsOnlyTheDifferences) {
  const struct {
    const char *before, *after, *patch;
  } rows[] = {
      {R"({"a":1,"b":{"c":2,"d":3}})", R"({"a":1,"b":{"c":2,"d":4}})", R"({"b":{"d":4}})"},
      {R"({"a":1})", R"({"a":1})", R"({})"},
      {R"({"a":1})", R"({})", R"({"a":null})"},
      {R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":null}})"},
      {R"({"a":[1,2]})", R"({"a":[1,3]})", R"({"a":[1,3]})"},
      {R"({})", R"({"a":{"b":{}}})", R"({"a":{"b":{}}})"},
      {R"({"a":null})", R"({})", R"({})"},
      {R"({"a":1})", R"({"a":1.0})", R"({})"},
      {R"({"a":"x"})", R"({"a":{"b":1,"c":null}})", R"({"a":{"b":1}})"},
  };
  for (const auto& [before, after, patch] : rows)
    EXPECT_EQ(ek::merge_patch(parse(before), parse(after)), parse(patch)) << before << after;
}

TEST(MergePatch, OfRandomDocumentsLeadsFromOneToTheOther) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  ek::tests::Random random(seed);
  for (int i = 0; i < 3000; ++i) {
    Json before = Json::object({{"x", random.json()}, {"y", random.json()}, {"z", random.json()}});
    Json after = before;
    for (const char* name : {"x", "y", "z"}) {
      if (random.chance(2)) after[name] = random.json();
    }
    const Json patch = ek::merge_patch(before, after);
    ASSERT_EQ(without_nulls(ek::apply_merge_patch(before, patch)), without_nulls(after))
        << before.dump() << after.dump();
  }
}

std::string problem_of(const char* target, const char* patch) {
  try {
    return "applied: " + ek::apply_json_patch(parse(target), parse(patch)).dump();
  } catch (const ek::PatchError& error) {
    return error.what();
  }
}

TEST(JsonPatch, AppliesTheExamplesOfTheRfc) {
  const struct {
    const char *target, *patch, *result;
  } rows[] = {
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])", R"({"baz":"qux","foo":"bar"})"},
      {R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
       R"({"foo":["bar","qux","baz"]})"},
      {R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc"]}])",
       R"({"foo":["bar",["abc"]]})"},
      {R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/1","value":1}])", R"({"foo":["bar",1]})"},
      {R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
      {R"({"foo":[1,2,3]})", R"([{"op":"remove","path":"/foo/1"}])", R"({"foo":[1,3]})"},
      {R"({"baz":"qux"})", R"([{"op":"replace","path":"/baz","value":"boo"}])", R"({"baz":"boo"})"},
      {R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
       R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
       R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
      {R"({"foo":["all","grass","cows","eat"]})", R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
       R"({"foo":["all","cows","eat","grass"]})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])", R"({"a":{"b":1},"c":{"b":1}})"},
      {R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1.0]},{"op":"add","path":"","value":5}])", "5"},
      {R"({"a":1})", R"([{"op":"remove","path":""}])", "null"},
      {R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10},{"op":"remove","path":"/~1"}])",
       R"({"~1":10})"},
      {R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
      {R"({"a":null})", R"([{"op":"test","path":"/a","value":null}])", R"({"a":null})"},
      {R"({"a":1})", "[]", R"({"a":1})"},
  };
  for (const auto& [target, patch, result] : rows)
    EXPECT_EQ(ek::apply_json_patch(parse(target), parse(patch)), parse(result)) << target << patch;
}

TEST(JsonPatch, NamesTheOperationThatFails) {
  const struct {
    const char *target, *patch, *problem;
  } rows[] = {
      {R"({"a":1})", R"([{"op":"remove","path":"/b"}])", R"(operation 0 (remove "/b"): no member "b")"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1},{"op":"replace","path":"/x/y","value":1}])",
       R"(operation 1 (replace "/x/y"): no member "x")"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
       R"(operation 0 (test "/a"): the value differs)"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":2}])", R"(operation 0 (add "/a/2"): no item 2)"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])",
       R"(operation 0 (remove "/a/-"): "-" is not a list index)"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/01"}])",
       R"(operation 0 (remove "/a/01"): "01" is not a list index)"},
      {R"({"a":[]})", R"([{"op":"remove","path":"/a/0"}])", R"(operation 0 (remove "/a/0"): no item 0)"},
      {R"({"a":1})", R"([{"op":"add","path":"/a/b","value":2}])",
       R"(operation 0 (add "/a/b"): the parent is neither an object nor a list)"},
      {R"({"a":1})", R"([{"op":"add","path":"/b"}])", R"(operation 0 (add "/b"): needs "value")"},
      {R"({"a":1})", R"([{"op":"add","value":1}])", R"(operation 0 (add "?"): needs "path", a string)"},
      {R"({"a":1})", R"([{"path":"/a"}])", R"(operation 0 (? "/a"): needs "op", a string)"},
      {R"({"a":1})", R"([{"op":"copy","path":"/b"}])", R"(operation 0 (copy "/b"): needs "from", a string)"},
      {R"({"a":1})", R"([{"op":"change","path":"/a"}])", R"(operation 0 (change "/a"): unknown operation)"},
      {R"({"a":1})", R"([{"op":"remove","path":"a"}])",
       R"(operation 0 (remove "a"): a path begins with "/")"},
      {R"({"a":1})", R"([{"op":"remove","path":"/~2"}])",
       R"(operation 0 (remove "/~2"): "~" in a path is followed by 0 or 1)"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
       R"(operation 0 (move "/a/b"): moves a value into itself)"},
      {R"({"a":1})", R"([7])", "operation 0: is not an object"},
      {R"({"a":1})", R"({"a":2})", "a JSON patch is a list of operations, found object"},
  };
  for (const auto& [target, patch, problem] : rows) EXPECT_EQ(problem_of(target, patch), problem) << patch;
}

TEST(JsonPatch, IsAllOrNothing) {
  const Json target = parse(R"({"a":1})");
  EXPECT_THROW(static_cast<void>(ek::apply_json_patch(
                   target, parse(R"([{"op":"replace","path":"/a","value":2},{"op":"remove","path":"/b"}])"))),
               ek::PatchError);
  EXPECT_EQ(target, parse(R"({"a":1})"));
}

TEST(JsonPatch, OfRandomDocumentsLeadsFromOneToTheOther) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  ek::tests::Random random(seed);
  for (int i = 0; i < 3000; ++i) {
    const Json before = random.json();
    Json after = random.json();
    if (before.is_array() && random.chance(2)) {
      after = before;
      if (random.chance(2) && !after.empty()) after.as_array().erase(after.as_array().begin());
      if (random.chance(2)) after.push_back(random.json(1));
    }
    const Json patch = ek::json_patch(before, after);
    ASSERT_EQ(ek::apply_json_patch(before, patch), after) << patch.dump();
    ASSERT_EQ(before == after, patch.empty());
  }
}

// Expectations: client-go's strategicpatch.CreateTwoWayMergePatch, but for lists with two items of one key.
TEST(StrategicPatch, ChangesItemsOfListsByTheirKeys) {
  const auto pod = [](const char* metadata, const char* spec) {
    return Json::object(
        {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", parse(metadata)}, {"spec", parse(spec)}});
  };
  const struct {
    const char *before, *after, *patch;
  } rows[] = {
      {R"({"a":1,"b":2})", R"({"a":1,"c":3})", R"({"b":null,"c":3})"},
      {R"({"containers":[{"name":"a","image":"x"},{"name":"b"}]})",
       R"({"containers":[{"name":"a","image":"y"},{"name":"b"}]})",
       R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"image":"y","name":"a"}]})"},
      {R"({"containers":[{"name":"a"},{"name":"b"}]})", R"({"containers":[{"name":"c"},{"name":"b"}]})",
       R"({"$setElementOrder/containers":[{"name":"c"},{"name":"b"}],
           "containers":[{"name":"c"},{"$patch":"delete","name":"a"}]})"},
      {R"({"containers":[{"name":"a"},{"name":"b"}]})", R"({"containers":[{"name":"b"},{"name":"a"}]})",
       R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]})"},
      {R"({"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":81}]}]})",
       R"({"containers":[{"name":"a","ports":[{"containerPort":80}]}]})",
       R"({"$setElementOrder/containers":[{"name":"a"}],"containers":[{"$setElementOrder/ports":[{"containerPort":80}],
           "name":"a","ports":[{"$patch":"delete","containerPort":81}]}]})"},
      {R"({"containers":[{"name":"a"}]})", R"({"containers":[]})",
       R"({"containers":[{"$patch":"delete","name":"a"}]})"},
      {R"({"containers":[{"name":"a"}]})", R"({})", R"({"containers":null})"},
      {R"({"volumes":[{"name":"v","emptyDir":{}}]})",
       R"({"volumes":[{"name":"v","configMap":{"name":"c"}}]})",
       R"({"$setElementOrder/volumes":[{"name":"v"}],"volumes":[{"$retainKeys":["configMap","name"],
           "configMap":{"name":"c"},"emptyDir":null,"name":"v"}]})"},
      {R"({"tolerations":[{"key":"a"},{"key":"b"}]})", R"({"tolerations":[{"key":"a"}]})",
       R"({"tolerations":[{"key":"a"}]})"},
      {R"({"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":1}]})",
       R"({"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":1},{"topologyKey":"a","maxSkew":2}]})",
       R"({"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":1},{"topologyKey":"a","maxSkew":2},
           {"$patch":"replace"}]})"},
  };
  for (const auto& [before, after, patch] : rows) {
    const Json found = ek::strategic_patch(pod("{}", before), pod("{}", after));
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found["spec"].dump(), parse(patch).dump());
  }
  EXPECT_EQ(
      ek::strategic_patch(pod(R"({"finalizers":["a","b"]})", "{}"), pod(R"({"finalizers":["b","c"]})", "{}")),
      parse(R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],
                      "$setElementOrder/finalizers":["b","c"],"finalizers":["c"]}})"));
  EXPECT_EQ(ek::strategic_patch(pod("{}", "{}"), pod("{}", "{}")), parse("{}"));
}

TEST(StrategicPatch, ReplacesListsOfOtherKinds) {
  const Json before =
      parse(R"({"apiVersion":"a.io/v1","kind":"Pod","spec":{"containers":[{"name":"a"},{"name":"b"}]}})");
  Json after = before;
  after["spec"]["containers"] = parse(R"([{"name":"a"}])");
  EXPECT_EQ(ek::strategic_patch(before, after), parse(R"({"spec":{"containers":[{"name":"a"}]}})"));
}

TEST(StrategicPatch, NamesTheItemWithoutAKey) {
  const auto problem = [](const char* before, const char* after) -> std::string {
    try {
      static_cast<void>(ek::strategic_patch(parse(before), parse(after)));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"}]}})",
                    R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"image":"x"}]}})"),
            "strategic_patch: an item of containers has no name");
  EXPECT_EQ(problem("{}", "[]"), "strategic_patch: expected two objects");
}

TEST(Patch, KnowsItsContentType) {
  EXPECT_EQ(ek::content_type(ek::PatchType::json), "application/json-patch+json");
  EXPECT_EQ(ek::content_type(ek::PatchType::merge), "application/merge-patch+json");
  EXPECT_EQ(ek::content_type(ek::PatchType::strategic), "application/strategic-merge-patch+json");
  EXPECT_EQ(ek::content_type(ek::PatchType::apply), "application/apply-patch+yaml");
  EXPECT_EQ(ek::Patch::merge(parse(R"({"a":null})")).body, R"({"a":null})");
}

}  // namespace
