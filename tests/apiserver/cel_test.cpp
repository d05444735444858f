// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel.hpp"

#include <gtest/gtest.h>

#include "apiserver/schema/cel_time.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

/// Returns the result as text, or the error.
std::string evaluate(std::string_view expression, std::string_view self = "null",
                     std::int64_t budget = 100000) {
  try {
    const Json document = parse(self);
    const CelExpression::Variables variables{{"self", CelValue::of(document)}};
    return CelExpression(expression).evaluate(variables, budget).to_json().dump();
  } catch (const CelError& error) {
    return error.what();
  }
}

TEST(Cel, Literals) {
  EXPECT_EQ(evaluate("1"), "1");
  EXPECT_EQ(evaluate("-0x1F"), "-31");
  EXPECT_EQ(evaluate("1.5e3 == 1500.0"), "true");
  EXPECT_EQ(evaluate(R"~('a\n"' + "b\u00e4\x41" + r'\d' + '''it's''')~"), R"("a\n\"bäA\\dit's")");
  EXPECT_EQ(evaluate("[1, 2u, 'x', null, true,]"), R"([1,2,"x",null,true])");
  EXPECT_EQ(evaluate("{'a': 1, 'b': [2]}"), R"({"a":1,"b":[2]})");
}

TEST(Cel, OperatorsByPrecedence) {
  EXPECT_EQ(evaluate("1 + 2 * 3 - 4 / 2 % 2"), "7");
  EXPECT_EQ(evaluate("-(1 + 2)"), "-3");
  EXPECT_EQ(evaluate("1 < 2 && 2 <= 2 || false"), "true");
  EXPECT_EQ(evaluate("!true || 1 != 1.0"), "false");
  EXPECT_EQ(evaluate("true ? 1 : 2"), "1");
  EXPECT_EQ(evaluate("false ? 1 : true ? 2 : 3"), "2");
  EXPECT_EQ(evaluate("'a' < 'b' && [1] + [2] == [1, 2]"), "true");
  EXPECT_EQ(evaluate("2 in [1, 2] && 'k' in {'k': 1} && !(3 in [1])"), "true");
}

TEST(Cel, Errors) {
  EXPECT_EQ(evaluate("1 / 0"), "division by zero");
  EXPECT_EQ(evaluate("9223372036854775807 + 1"), "integer overflow");
  EXPECT_EQ(evaluate("self.b", R"({"a": 1})"), "no such key: b");
  EXPECT_EQ(evaluate("[1][3]"), "index out of bounds: 3");
  EXPECT_EQ(evaluate("1 + 'a'"), "no such overload");
  EXPECT_EQ(evaluate("nobody"), "undeclared reference to 'nobody' (in container '')");
  EXPECT_EQ(evaluate("1 +").substr(0, 14), "ERROR: <input>");
  EXPECT_EQ(evaluate("'open").substr(0, 14), "ERROR: <input>");
  EXPECT_EQ(evaluate(std::string(10000, '(')).substr(0, 14), "ERROR: <input>");
  EXPECT_EQ(evaluate(std::string(10000, '!') + "true").substr(0, 14), "ERROR: <input>");
}

TEST(Cel, ErrorsDoNotMatterWhereTheOtherSideDecides) {
  EXPECT_EQ(evaluate("1 / 0 > 1 || true"), "true");
  EXPECT_EQ(evaluate("false && 1 / 0 > 1"), "false");
  EXPECT_EQ(evaluate("[0, 2].exists(x, 4 / x == 2)"), "true");
  EXPECT_EQ(evaluate("[0, 2].all(x, 4 / x == 2)"), "division by zero");
}

TEST(Cel, FieldsAndMacros) {
  const char* self =
      R"({"a": {"b": 1}, "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}], "my-key": 3, "namespace": "n"})";
  EXPECT_EQ(evaluate("has(self.a.b) && !has(self.a.c)", self), "true");
  EXPECT_EQ(evaluate("self.my__dash__key + self['a']['b']", self), "4");
  EXPECT_EQ(evaluate("self.__namespace__", self), "\"n\"");
  EXPECT_EQ(evaluate("self.list.all(i, i.v > 0) && self.list.exists_one(i, i.n == 'x')", self), "true");
  EXPECT_EQ(evaluate("self.list.filter(i, i.v > 1).map(i, i.n)", self), "[\"y\"]");
  EXPECT_EQ(evaluate("self.list.map(i, i.v > 1, i.v * 10)", self), "[20]");
  EXPECT_EQ(evaluate("self.list.map(i, self.list.map(j, i.v * j.v))", self), "[[1,2],[2,4]]");
  EXPECT_EQ(evaluate("self.a.all(key, key == 'b')", self), "true");
}

TEST(Cel, Functions) {
  EXPECT_EQ(evaluate("size('äb') + size([1]) + [1, 2].size()"), "5");
  EXPECT_EQ(evaluate("'abc'.startsWith('a') && 'abc'.endsWith('c') && 'abc'.contains('b')"), "true");
  EXPECT_EQ(evaluate("'a1'.matches('^[a-z][0-9]$') && matches('x', 'x')"), "true");
  EXPECT_EQ(evaluate("'a,b'.split(',').join('-') + ' Ab '.trim().lowerAscii() + 'aba'.replace('a', 'c')"),
            "\"a-babcbc\"");
  EXPECT_EQ(evaluate("'hello'.substring(1, 3) + 'hello'.charAt(0) + string('hello'.indexOf('l'))"),
            "\"elh2\"");
  EXPECT_EQ(evaluate("[3, 1, 2].max() + [3, 1].min() + [1, 2].sum()"), "7");
  EXPECT_EQ(evaluate("[1, 2].isSorted() && ![2, 1].isSorted()"), "true");
  EXPECT_EQ(evaluate("int('5') + int(2.9)"), "7");
  EXPECT_EQ(evaluate("type(1) == int && type('x') == string && type(1) != string"), "true");
  EXPECT_EQ(evaluate("duration('1h30m') > duration('80m') && string(duration('90s')) == '90s'"), "true");
  EXPECT_EQ(
      evaluate("timestamp('2025-01-01T00:00:00Z') + duration('24h') == timestamp('2025-01-02T00:00:00Z')"),
      "true");
  EXPECT_EQ(evaluate("timestamp('2025-03-04T05:06:07Z').getMonth()"), "2");
}

TEST(Cel, KubernetesTypes) {
  EXPECT_EQ(evaluate("isQuantity('1.5Gi') && !isQuantity('1.5Xi') && !isQuantity('')"), "true");
  EXPECT_EQ(evaluate("quantity('500m').isLessThan(quantity('1'))"), "true");
  EXPECT_EQ(evaluate("quantity('1Ki').compareTo(quantity('1024'))"), "0");
  EXPECT_EQ(evaluate("quantity('2k').add(quantity('48')).asInteger()"), "2048");
  EXPECT_EQ(evaluate("url('https://u@example.com:8080/a/b?x=1&x=2').getHostname()"), R"("example.com")");
  EXPECT_EQ(evaluate("url('https://example.com:8080/a/b?x=1&x=2').getQuery()"), R"({"x":["1","2"]})");
  EXPECT_EQ(evaluate("isURL('/only/a/path') && !isURL('no url')"), "true");
  EXPECT_EQ(evaluate("ip('::1').isLoopback() && ip('10.0.0.1').family() == 4"), "true");
  EXPECT_EQ(evaluate("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')"), "true");
  EXPECT_EQ(evaluate("cidr('10.0.0.0/8').containsIP('11.0.0.1')"), "false");
  EXPECT_EQ(evaluate("isCIDR('10.0.0.0/33') || isCIDR('10.0.0.0')"), "false");
  EXPECT_EQ(evaluate("semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))"), "true");
  EXPECT_EQ(evaluate("isSemver('1.2') || isSemver('01.2.3')"), "false");
  EXPECT_EQ(evaluate("format.dns1123Label().validate('ok').hasValue()"), "false");
  EXPECT_EQ(evaluate("format.labelValue().validate('a b').hasValue()"), "true");
  EXPECT_EQ(evaluate("'a12b345'.find('[0-9]+') + string('a12b345'.findAll('[0-9]+').size())"), R"("122")");
}

TEST(Cel, StopsWhenTheBudgetIsSpent) {
  EXPECT_EQ(
      evaluate("[1,2,3,4,5,6,7,8].map(a, [1,2,3,4,5,6,7,8].map(b, [1,2,3,4,5,6,7,8].map(c, a * b * c)))",
               "null", 300),
      "operation cancelled: actual cost limit exceeded");
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

// Source: cel-go parser/parser.go: maxRecursionDepth 250, expressionSizeCodePointLimit 100,000.
TEST(Cel, BoundsWhatItReads) {
  const std::string too_deep = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
  const std::string too_long = "ERROR: <input>:-1:0: expression code point size exceeds limit: size: ";
  EXPECT_EQ(evaluate("1" + repeated("+1", 249)), "250");
  for (const std::string& chain :
       {"1" + repeated("+1", 250), "self" + repeated(".s", 250), "self" + repeated("[0]", 250),
        "1" + repeated("==1", 250), "self" + repeated(".map(a,a)", 250),
        repeated("[", 251) + repeated("]", 251), repeated("(", 251) + "1" + repeated(")", 251),
        repeated("!", 501) + "true", repeated("- ", 501) + "1"})
    EXPECT_EQ(evaluate(chain), too_deep) << chain.substr(0, 20);
  EXPECT_EQ(evaluate("1" + repeated("+1", 49'999)), too_deep);
  EXPECT_EQ(evaluate("self" + repeated(".s", 49'998)), too_deep);
  EXPECT_EQ(evaluate("1" + repeated("+1", 100'000)), too_long + "200001, limit 100000");
  EXPECT_EQ(evaluate("'" + repeated("ä", 99'998) + "' == ''"), too_long + "100006, limit 100000");
  EXPECT_EQ(evaluate("'" + repeated("ä", 99'990) + "' == ''"), "false");
}

// The depth of nested chains adds up, although no chain is long and few brackets are open at once.
TEST(Cel, BoundsTreesOfNestedChains) {
  std::string text = "1";
  for (int i = 0; i < 200; ++i) text = "(" + text + ")" + repeated("+1", 200);
  EXPECT_EQ(evaluate(text), "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
}

TEST(Cel, TakesLongChainsOfConditions) {
  EXPECT_EQ(evaluate("false" + repeated("||false", 10'000) + "||true"), "true");
  EXPECT_EQ(evaluate("true" + repeated("&&true", 10'000) + "&&1/0==1"), "division by zero");
  EXPECT_EQ(evaluate("true" + repeated("||false&&true", 5'000)), "true");
}

// Costs are those of upstream where it has one: 0.1 for each byte that is traversed.
TEST(Cel, CountsWhatTextsAndCopiesCost) {
  const std::string spent = "operation cancelled: actual cost limit exceeded";
  const std::int64_t limit = 1'000'000;
  const std::string long_text = "{\"s\":\"" + repeated("a", 300'000) + "\"}";
  const std::string text = "{\"s\":\"" + repeated("a", 3'000) + "\"}";
  EXPECT_EQ(evaluate("self.s.split('').size()", long_text, limit), "300000");
  EXPECT_EQ(evaluate("self.s.split('a').size()", long_text, limit), "300001");
  EXPECT_EQ(evaluate("self.s.replace('a', 'bb').size()", long_text, limit), "600000");
  EXPECT_EQ(evaluate("self.s.replace('a',self.s).replace('a',self.s).size()", text, limit / 10), spent);
  EXPECT_EQ(evaluate("[self.s]" + repeated(".map(a,a+a)", 28) + ".size()", text, limit / 10), spent);
  EXPECT_EQ(evaluate("[self.s]" + repeated(".map(a,[a,a])", 28) + ".size()", text, limit / 10), spent);
  EXPECT_EQ(evaluate("[{'a':self}]" + repeated(".map(a,{'a':a,'b':a})", 28) + ".size()", text, limit / 10),
            spent);
  EXPECT_EQ(evaluate("self.s.split('').map(a,self.s).join(self.s).size()", text, limit / 10), spent);
  EXPECT_EQ(evaluate("self.s.split('').all(a,self.s.split('').size()>0)", text, limit / 10), spent);
  EXPECT_EQ(evaluate("self.s.split('').all(a,self.s == self.s)", text, limit / 10), spent);
  EXPECT_EQ(evaluate("self.s.split('').all(a,self.s in [self.s,self.s])", text, limit / 10), spent);
  EXPECT_EQ(evaluate("self.s.split('').all(a,self.s.lowerAscii().trim().contains('b'))", text, limit),
            "false");
  EXPECT_EQ(evaluate("self.s.split('').all(a,self.s.contains(self.s))", text, limit / 10), spent);
  EXPECT_EQ(evaluate("self.s.matches('(a{1,50}){1,20}b')", long_text, limit / 10), spent);
  EXPECT_EQ(evaluate("self.s.find('b|a+$').size() + self.s.findAll('a').size()", text, limit), "6000");
  EXPECT_EQ(evaluate("self.s.findAll('a*b|a').size()", long_text, limit / 10), spent);
}

TEST(Cel, FindsAsGoDoes) {
  EXPECT_EQ(evaluate("'xaabab'.findAll('a*')"), R"(["","aa","a",""])");
  EXPECT_EQ(evaluate("'abcabc'.findAll('a|ab')"), R"(["a","a"])");
  EXPECT_EQ(evaluate("'aaa'.find('a+?') + 'aaa'.find('a{2,3}?') + 'aaa'.find('a+')"), R"("aaaaaa")");
  EXPECT_EQ(evaluate("'äöü'.findAll('.')"), R"(["ä","ö","ü"])");
  EXPECT_EQ(evaluate("'ab cd'.findAll('\\\\b[a-z]')"), R"(["a","c"])");
  EXPECT_EQ(evaluate("'aaa'.find('b') + 'xyz'.find('')"), R"("")");
}

TEST(Cel, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(evaluate("quantity('1e30').asInteger()"), "cannot convert value to integer");
}

TEST(CelTime, ReadsAndWritesWhatGoDoes) {
  EXPECT_EQ(parse_field_duration("1h2m3.5s"), 3'723'500'000'000);
  EXPECT_EQ(parse_field_duration("-20ms"), -20'000'000);
  EXPECT_EQ(parse_field_duration("1d"), 86'400'000'000'000);
  EXPECT_EQ(parse_field_duration("2 weeks"), 1'209'600'000'000'000);
  EXPECT_EQ(parse_field_duration("1 day 2 hr"), 93'600'000'000'000);
  for (const char* text : {"", "1", "s", "1x", "-"}) EXPECT_FALSE(parse_field_duration(text)) << text;
  EXPECT_EQ(duration_text(-1'500'000'000), "-1.5s");
  EXPECT_EQ(timestamp_text(*parse_timestamp("2024-02-29T23:59:59.25+01:00")), "2024-02-29T22:59:59.25Z");
  EXPECT_EQ(timestamp_text(*parse_timestamp("1969-12-31")), "1969-12-31T00:00:00Z");
  for (const char* text : {"2023-02-29T00:00:00Z", "2024-01-01", "2024-01-01T25:00:00Z", "today", ""})
    EXPECT_EQ(parse_timestamp(text).has_value(), std::string_view(text) == "2024-01-01") << text;
  EXPECT_FALSE(parse_timestamp("0001-01-01T00:00:00Z"));
}

class CelRules : public ::testing::Test {
 protected:
  std::string of(std::string_view schema, std::string_view spec, const char* old = nullptr) {
    const auto kind = shapes.with_spec(schema);
    const Json before = old == nullptr ? Json() : Json::object({{"spec", parse(old)}});
    std::string text;
    for (const FieldError& error : validate(Json::object({{"spec", parse(spec)}}), *kind, before))
      text += error.reason + " " + error.text() + "\n";
    return text;
  }
  Shapes shapes;
};

TEST_F(CelRules, NameTheFieldTheReasonAndTheMessage) {
  const char* schema =
      R"~({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer",
    "x-kubernetes-validations": [{"rule": "self > 1"}]}},
    "x-kubernetes-validations": [{"rule": "self.a < 5", "fieldPath": ".a", "reason": "FieldValueForbidden",
      "messageExpression": "'a is ' + string(self.a)"}]})~";
  EXPECT_EQ(of(schema, R"({"a": 7, "b": 1})"),
            "FieldValueForbidden spec.a: Forbidden: a is 7\n"
            "FieldValueInvalid spec.b: Invalid value: 1: failed rule: self > 1\n");
  EXPECT_EQ(
      of(schema, R"({"b": 2})"),
      "FieldValueInvalid spec: Invalid value: \"object\": no such key: a evaluating rule: self.a < 5\n");
}

// Source: apiextensions pkg/apiserver/schema/cel/validation.go validateExpressions.
TEST_F(CelRules, StopWhereOneOrAllCostTooMuch) {
  const std::string_view text =
      R"({"s": [)"
      R"("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]})";
  const std::string grown = "self.s.map(a,a+a)" + repeated(".map(a,a+a)", 17) + ".size() > 1";
  const std::string one =
      R"({"type": "object", "properties": {"s": {"type": "array", "items": {"type": "string"}}},
    "x-kubernetes-validations": [{"rule": ")" +
      grown + R"("}, {"rule": "false"}]})";
  EXPECT_EQ(of(one, text),
            "FieldValueInvalid spec: Invalid value: \"object\": 'operation cancelled: actual cost limit "
            "exceeded': no "
            "further validation rules will be run due to call cost exceeds limit for rule: " +
                grown + "\n");
  const std::string cheaper = "self.s.map(a,a+a)" + repeated(".map(a,a+a)", 12) + ".size() == 1";
  std::string rules;
  for (int i = 0; i < 100; ++i) rules += R"({"rule": ")" + cheaper + R"("},)";
  const std::string all =
      R"({"type": "object", "properties": {"s": {"type": "array", "items": {"type": "string"}}},
    "x-kubernetes-validations": [)" +
      rules + R"({"rule": "false"}]})";
  EXPECT_EQ(of(all, text),
            "FieldValueInvalid spec: Invalid value: \"object\": validation failed due to running out of cost "
            "budget, "
            "no further validation rules will be run\n");
}

TEST_F(CelRules, OfTransitionsNeedAnOldValue) {
  const char* schema = R"~({"type": "object", "properties": {"a": {"type": "integer",
    "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "may not shrink"}]}}})~";
  EXPECT_EQ(of(schema, R"({"a": 1})"), "");
  EXPECT_EQ(of(schema, R"({"a": 1})", R"({"a": 2})"),
            "FieldValueInvalid spec.a: Invalid value: 1: may not shrink\n");
  EXPECT_EQ(of(schema, R"({"a": 3})", R"({"a": 2})"), "");
  const char* optional =
      R"~({"type": "object", "properties": {"a": {"type": "integer", "x-kubernetes-validations": [
    {"rule": "oldSelf.orValue(0) <= self && (oldSelf.hasValue() || self < 5)", "optionalOldSelf": true}]}}})~";
  EXPECT_EQ(of(optional, R"({"a": 1})"), "");
  EXPECT_NE(of(optional, R"({"a": 9})"), "");
  EXPECT_NE(of(optional, R"({"a": 1})", R"({"a": 2})"), "");
}

TEST_F(CelRules, SeeTimesAndItemsByTheirSchema) {
  const char* schema =
      R"~({"type": "object", "properties": {"from": {"type": "string", "format": "date-time"},
    "to": {"type": "string", "format": "date-time"}, "wait": {"type": "string", "format": "duration"},
    "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"], "items": {
      "type": "object", "required": ["n"], "properties": {"n": {"type": "string"}, "v": {"type": "integer"}},
      "x-kubernetes-validations": [{"rule": "self.v == oldSelf.v", "message": "fixed"}]}}},
    "x-kubernetes-validations": [{"rule": "!has(self.from) || self.from + self.wait <= self.to", "message": "early"}]})~";
  EXPECT_EQ(of(schema, R"({"from": "2025-01-01T00:00:00Z", "to": "2025-01-01T01:00:00Z", "wait": "1h"})"),
            "");
  EXPECT_EQ(of(schema, R"({"from": "2025-01-01T00:00:00Z", "to": "2025-01-01T01:00:00Z", "wait": "2h"})"),
            "FieldValueInvalid spec: Invalid value: early\n");
  EXPECT_EQ(of(schema, R"({"items": [{"n": "b", "v": 1}, {"n": "a", "v": 2}]})",
               R"({"items": [{"n": "a", "v": 1}]})"),
            "FieldValueInvalid spec.items[1]: Invalid value: fixed\n");
}

}  // namespace
}  // namespace evenkeel::apiserver
