// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/selector.hpp>

namespace ek = evenkeel;
using Labels = std::map<std::string, std::string>;

namespace {

TEST(LabelSelector, MatchesAsKubernetesDoes) {
  const struct {
    const char* selector;
    Labels labels;
    bool matches;
  } rows[] = {
      {"", {}, true},
      {"", {{"x", "y"}}, true},
      {"x=y", {{"x", "y"}}, true},
      {"x==y", {{"x", "y"}}, true},
      {"x=y,z=w", {{"x", "y"}, {"z", "w"}}, true},
      {"x=y,z=w", {{"x", "y"}, {"z", "v"}}, false},
      {"x=y", {{"x", "z"}}, false},
      {"x=y", {}, false},
      {"x!=y", {{"x", "z"}}, true},
      {"x!=y", {{"x", "y"}}, false},
      {"x!=y", {}, true},
      {"x!=y,z!=w", {{"x", "z"}, {"z", "a"}}, true},
      {"x=", {{"x", ""}}, true},
      {"x=", {{"x", "a"}}, false},
      {"x=,z= ", {{"x", ""}, {"z", ""}}, true},
      {"x", {{"x", "anything"}}, true},
      {"x", {{"y", "z"}}, false},
      {"!x", {{"y", "z"}}, true},
      {"!x", {{"x", "z"}}, false},
      {"! x", {}, true},
      {"x in (a,b)", {{"x", "b"}}, true},
      {"x in (a,b)", {{"x", "c"}}, false},
      {"x in (a,b)", {}, false},
      {"x in ()", {{"x", ""}}, true},
      {"x in (,a)", {{"x", ""}}, true},
      {"x notin (a,b)", {{"x", "c"}}, true},
      {"x notin (a,b)", {{"x", "a"}}, false},
      {"x notin (a,b)", {}, true},
      {"x notin (a,b),y in (c)", {{"y", "c"}}, true},
      {" x  in ( a , b ) , y = c ", {{"x", "a"}, {"y", "c"}}, true},
      {"in in (in)", {{"in", "in"}}, true},
      {"x>1", {{"x", "2"}}, true},
      {"x>1", {{"x", "1"}}, false},
      {"x<10,x>1", {{"x", "5"}}, true},
      {"x<10", {{"x", "ten"}}, false},
      {"x<10", {}, false},
      {"example.dev/app=web", {{"example.dev/app", "web"}}, true},
  };
  for (const auto& [selector, labels, matches] : rows) {
    const auto parsed = ek::LabelSelector::parse(selector);
    EXPECT_EQ(parsed.matches(labels), matches) << selector;
    EXPECT_EQ(parsed.matches(ek::to_tree(labels)), matches) << selector;
    EXPECT_EQ(ek::LabelSelector::parse(parsed.str()), ek::LabelSelector::parse(parsed.str())) << selector;
    EXPECT_EQ(ek::LabelSelector::parse(parsed.str()).matches(labels), matches) << parsed.str();
  }
}

TEST(LabelSelector, PrintsSortedByKey) {
  EXPECT_EQ(ek::LabelSelector::parse("z!=1,y notin (c,b),x in (b,a,b),!w,v,u=2,t>3").str(),
            "t>3,u=2,v,!w,x in (a,b),y notin (b,c),z!=1");
  ek::LabelSelector selector{.match_labels = {{"b", "2"}, {"a", "1"}},
                             .match_expressions = {{"aa", "Exists", {}}, {"c", "In", {"x", "y"}}}};
  EXPECT_EQ(selector.str(), "a=1,aa,b=2,c in (x,y)");
}

TEST(LabelSelector, RefusesInvalidSelectors) {
  const struct {
    const char *text, *problem;
  } rows[] = {
      {"x=a||y=b", R"(label selector "x=a||y=b": "a||y" is not a label value)"},
      {"x==a==b", R"(label selector "x==a==b": found "==", expected "," or the end)"},
      {"!x=a", R"(label selector "!x=a": found "=", expected "," or the end)"},
      {"x<a", R"(label selector "x<a": "a" is not an integer)"},
      {"x in a", R"x(label selector "x in a": expected "(" after in and notin)x"},
      {"x in (a", R"x(label selector "x in (a": found "", expected "," or ")")x"},
      {"x in (a b)", R"x(label selector "x in (a b)": found "b", expected "," or ")")x"},
      {"x,", R"(label selector "x,": found the end, expected a name after ",")"},
      {",x", R"(label selector ",x": found ",", expected a name)"},
      {"x is y", R"(label selector "x is y": found "is", expected one of =, ==, !=, in, notin, <, >)"},
      {"-x=y", R"(label selector "-x=y": "-x" is not a label name)"},
      {"a/b/c=d",
       R"(label selector "a/b/c=d": "a/b/c" is not a label name: the part before "/" must be a DNS name)"},
      {"x=(", R"x(label selector "x=(": found "(", expected a value)x"},
  };
  for (const auto& [text, problem] : rows) {
    try {
      static_cast<void>(ek::LabelSelector::parse(text));
      ADD_FAILURE() << "accepted: " << text;
    } catch (const ek::DecodeError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, std::string_view(problem).size()), problem);
    }
  }
}

TEST(LabelSelector, AnUnknownOperatorMatchesNothing) {
  const std::string value = "a";
  EXPECT_FALSE((ek::LabelSelectorRequirement{"x", "Sometimes", {"a"}}.matches(&value)));
  EXPECT_FALSE((ek::LabelSelectorRequirement{"x", "Sometimes", {"a"}}.matches(nullptr)));
}

TEST(LabelSelector, HasTheShapeOfTheApi) {
  const auto selector = ek::from_json<ek::LabelSelector>(
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"NotIn","values":["d"]}]})");
  EXPECT_EQ(selector.str(), "a=b,c!=d");
  EXPECT_EQ(
      ek::to_json(selector),
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"NotIn","values":["d"]}]})");
}

TEST(Labels, NamesAndValuesFollowTheirRules) {
  for (const char* name : {"a", "a.b-c_d", "A1", "example.com/name", "a-b.c/X", "0"})
    EXPECT_EQ(ek::label_name_problem(name), "") << name;
  for (const char* name : {"", "/a", "a/", "-a", "a-", "Example.com/a", "a b", "a..b/c", "\u00e4"})
    EXPECT_NE(ek::label_name_problem(name), "") << name;
  EXPECT_EQ(ek::label_name_problem(std::string(63, 'a')), "");
  EXPECT_NE(ek::label_name_problem(std::string(64, 'a')), "");
  EXPECT_NE(ek::label_name_problem(std::string(254, 'a') + "/a"), "");
  EXPECT_EQ(ek::label_value_problem(""), "");
  EXPECT_NE(ek::label_value_problem("a/b"), "");
}

TEST(FieldSelector, MatchesPathsOfADocument) {
  const ek::Json pod = ek::Json::parse(
      R"({"metadata":{"name":"web"},"spec":{"nodeName":"n1","hostNetwork":true},"status":{"phase":"Running"}})");
  const struct {
    const char* selector;
    bool matches;
  } rows[] = {
      {"", true},
      {"metadata.name=web", true},
      {"metadata.name==web,status.phase!=Failed", true},
      {"metadata.name!=web", false},
      {"metadata.namespace=", true},
      {"spec.hostNetwork=true", true},
      {"spec.nodeName=n2", false},
      {"metadata.name=web,,status.phase=Running,", true},
  };
  for (const auto& [selector, matches] : rows)
    EXPECT_EQ(ek::FieldSelector::parse(selector).matches(pod), matches) << selector;
}

TEST(FieldSelector, EscapesCommaEqualsAndBackslash) {
  const auto selector = ek::FieldSelector::parse(R"(a=x\,y\=z\\,b!=c)");
  ASSERT_EQ(selector.terms.size(), 2U);
  EXPECT_EQ(selector.terms[0], (ek::FieldSelector::Term{"a", "x,y=z\\", false}));
  EXPECT_EQ(selector.terms[1], (ek::FieldSelector::Term{"b", "c", true}));
  EXPECT_EQ(ek::FieldSelector::parse(selector.str()), selector);
}

TEST(FieldSelector, RefusesInvalidSelectors) {
  for (const char* text : {"a", "=b", "a=b=c", "a=\\x", "a=b\\"})
    EXPECT_THROW(static_cast<void>(ek::FieldSelector::parse(text)), ek::DecodeError) << text;
}

}  // namespace
