// SPDX-License-Identifier: Apache-2.0
// The functions, macros and types of CEL in kube-apiserver 1.36. Results are those of a real server.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "apiserver/schema/cel.hpp"
#include "apiserver/schema/cel_node.hpp"
#include "apiserver/schema/schema_reader.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

/// Returns the result as JSON, or the error.
std::string result_of(std::string_view expression, std::string_view self = "null") {
  try {
    const CelExpression::Variables variables{{"self", CelValue::of(parse(self))}};
    std::int64_t budget = 1'000'000;
    return CelExpression(expression).evaluate(variables, budget).to_json().dump();
  } catch (const CelError& error) {
    return error.what();
  }
}

using Results = std::initializer_list<std::pair<std::string_view, std::string_view>>;

void expect_results(const Results& results, std::string_view self = "null") {
  for (const auto& [expression, result] : results)
    EXPECT_EQ(result_of(expression, self), result) << expression;
}

TEST(CelLibrary, Optionals) {
  const std::string_view self = R"({"a": "x", "o": {"x": 1}, "l": [1, 2]})";
  expect_results({{"self.?a.orValue('q')", R"("x")"},
                  {"self.?b.orValue('q')", R"("q")"},
                  {"self.?b.hasValue()", "false"},
                  {"self.?o.x.value() + self.o.?x.orValue(7)", "2"},
                  {"self.?z.?x.orValue(7)", "7"},
                  {"self.?z.x.y[0].orValue(7)", "7"},
                  {"has(self.?o.x) && !has(self.?z.x)", "true"},
                  {"self.l[?1].value() + self.l[?5].orValue(10)", "12"},
                  {"self[?'a'].orValue('q')", R"("x")"},
                  {"self.?l[0].value()", "1"},
                  {"{?'a': self.?a, ?'b': self.?b}", R"({"a":"x"})"},
                  {"[?self.?a, ?self.?b, 'c']", R"(["x","c"])"},
                  {"optional.of(1).or(optional.of(2)).value() + optional.none().orValue(5)", "6"},
                  {"optional.of(1).orValue(1 / 0)", "1"},
                  {"[0, 1].map(i, optional.ofNonZeroValue(i).hasValue())", "[false,true]"},
                  {"['', 'a'].map(i, optional.ofNonZeroValue(i).hasValue())", "[false,true]"},
                  {"self.?a.optMap(v, v + v).value()", R"("xx")"},
                  {"self.?b.optMap(v, v + v).hasValue()", "false"},
                  {"self.?o.optFlatMap(v, v.?x).value()", "1"},
                  {"self.l.first().value() + self.l.last().value()", "3"},
                  {"[].first().hasValue()", "false"},
                  {"[optional.of(1), optional.none()].unwrapOpt()", "[1]"},
                  {"optional.unwrap([optional.of(2)])", "[2]"},
                  {"self.?a == optional.of('x') && self.?b == optional.none()", "true"},
                  {"optional.none().value()", "optional.none() dereference"}},
                 self);
}

TEST(CelLibrary, MacrosWithTwoVariables) {
  expect_results({{"[1, 2].all(i, v, i < v)", "true"},
                  {"[1, 2].exists(i, v, i == 1 && v == 2)", "true"},
                  {"[1, 2].existsOne(i, v, v > 0)", "false"},
                  {"[1, 2].exists_one(i, v, v > 1) && [1].exists_one(v, v == 1)", "true"},
                  {"{'a': 1}.all(k, v, k == 'a' && v == 1)", "true"},
                  {"[1, 2, 3].transformList(i, v, i * v)", "[0,2,6]"},
                  {"[1, 2, 3].transformList(i, v, v > 1, i * v)", "[2,6]"},
                  {"{'a': 1, 'b': 2}.transformMap(k, v, v + 1)", R"({"a":2,"b":3})"},
                  {"{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v + 1)", R"({"b":3})"},
                  {"{'a': 'b'}.transformMapEntry(k, v, {v: k})", R"({"b":"a"})"},
                  {"['a', 'b'].transformMapEntry(i, v, i > 0, {v: i})", R"({"b":1})"},
                  {"['a', 'b'].transformMapEntry(i, v, {'k': i})", "insert failed: key k already exists"},
                  {"[1].map(x, [2].transformList(i, x, x))", "[[2]]"}});
}

TEST(CelLibrary, Strings) {
  expect_results(
      {{"'a/b/c'.split('/', 2)", R"(["a","b/c"])"},
       {"'a/b/c'.split('/', 0)", "[]"},
       {"'a/b/c'.split('/', -1)", R"(["a","b","c"])"},
       {"'äbc'.split('', 2)", R"(["ä","bc"])"},
       {"''.split('') + ''.split(',')", R"([""])"},
       {"'*.b*.'.replace('*.', '', 1)", R"("b*.")"},
       {"'aa'.replace('a', 'b', -1) + 'aa'.replace('a', 'b', 0)", R"("bbaa")"},
       {"'äb'.replace('', '-') + 'ab'.replace('', '-', 2)", R"("-ä-b--a-b")"},
       {"['hello'.indexOf('l', 3), 'hello'.indexOf('l', 9), 'hello'.indexOf('', 3)]", "[3,-1,3]"},
       {"['hello'.lastIndexOf('l', 2), 'hello'.lastIndexOf(''), 'a'.lastIndexOf('bc')]", "[2,5,-1]"},
       {"'hello'.indexOf('l', -1)", "index out of range: -1"},
       {R"('\u00a0 x\u2003'.trim() + '|')", R"("x|")"},
       {R"(strings.quote('a"b\n'))", R"("\"a\\\"b\\n\"")"},
       {"'a1b2'.findAll('[0-9]', 1) + 'a1'.findAll('[0-9]', 0) + 'a1b2'.findAll('[0-9]', -1)",
        R"(["1","1","2"])"},
       {"[b'\\xff\\101'.size(), bytes('ä').size(), br'\\n'.size()]", "[2,2,2]"},
       {"bytes('a') == b'a' && b'a' < b'b' && string(b'a' + b'b') == 'ab'", "true"},
       {"string(b'\\xff')", "invalid UTF-8 in bytes, cannot convert to string"}});
}

TEST(CelLibrary, Formats) {
  expect_results(
      {{"'%s-%d %%'.format(['a', 1])", R"("a-1 %")"},
       {"'%x %X %o %b %b'.format([255, 'hi~', 8, 5, true])", R"("ff 68697E 10 101 1")"},
       {"'%.2f %f'.format([1234567.891, 0.5])", R"("1,234,567.89 0.500000")"},
       {"'%.3e'.format([1052.032911275])", "\"1.052033×10⁰³\""},
       {"'%s'.format([[1, 'a', 2.5, true, null]])", R"("[1, \"a\", 2.500000, true, null]")"},
       {"'%s'.format([{'b': 1, 'a': duration('90m')}])", R"("{\"a\":duration(\"5400s\"), \"b\":1}")"},
       {"'%s %s'.format([1])", "index 1 out of range"},
       {"'%d'.format(['a'])",
        "error during formatting: decimal clause can only be used on integers, was given string"},
       {"'%z'.format([1])", "could not parse formatting clause: unrecognized formatting clause \"z\""}});
}

TEST(CelLibrary, ListsAndSets) {
  expect_results(
      {{"[3, 1, 2].sort() + ['b', 'a'].sortBy(x, x == 'b' ? 0 : 1).map(x, size(x))", "[1,2,3,1,1]"},
       {"[{'n': 2}, {'n': 1}].sortBy(x, x.n).map(x, x.n)", "[1,2]"},
       {"[1, 2, 1].distinct() + [1, 2].reverse() + [1, 2, 3].slice(1, 3)", "[1,2,2,1,2,3]"},
       {"[[1], [2, [3]]].flatten(2) + lists.range(2)", "[1,2,3,0,1]"},
       {"[1].slice(0, 2)", "cannot slice(0, 2), list is length 1"},
       {"sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
        "true"},
       {"[duration('1s'), duration('2s')].sum() == duration('3s')", "true"},
       {"[timestamp('2020-01-01T00:00:00Z'), timestamp('2021-01-01T00:00:00Z')].max().getFullYear()", "2021"},
       {"[duration('1s'), duration('2s')].indexOf(duration('2s')) + [1, 1].lastIndexOf(1)", "2"},
       {"[].max()", "max called on empty list"},
       {"{1: 'a', 2: 'b'}[2] + {true: 'c'}[true]", R"("bc")"},
       {"1 in {1: 'a'} && !(2 in {1: 'a'})", "true"},
       {"{'a': 1, 'a': 2}", R"({"a":2})"}});
}

TEST(CelLibrary, TimesAndConversions) {
  const std::string_view self = R"({"t": "2020-01-01T00:00:00Z"})";
  expect_results(
      {{"timestamp(self.t).getHours('America/New_York')", "19"},
       {"timestamp('2020-07-01T00:00:00Z').getHours('America/New_York')", "20"},
       {"timestamp(self.t).getDate('-05:30') + timestamp(self.t).getMinutes('+05:30')", "61"},
       {"timestamp(self.t).getDayOfYear('Asia/Tokyo')", "0"},
       {"timestamp(self.t).getHours('Nowhere/X')", "unknown time zone Nowhere/X"},
       {"string(timestamp(5)) + string(timestamp('9999-12-31T23:59:59.5Z'))",
        R"("1970-01-01T00:00:05Z9999-12-31T23:59:59.5Z")"},
       {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "timestamp overflow"},
       {"string(timestamp('2020-01-01T00:00:00+01:00') + duration('1s'))", R"("2020-01-01T00:00:01+01:00")"},
       {"timestamp('2020-01-01T00:00:00+01:00').getHours()", "23"},
       {"timestamp(self.t) - timestamp('2019-12-31T00:00:00Z') == duration('24h')", "true"},
       {"duration('1d')", "type conversion error from 'string' to 'google.protobuf.Duration'"},
       {"[bool('t'), bool('FALSE')]", "[true,false]"},
       {"bool('yes')", "type conversion error from 'string' to 'bool'"},
       {"[int('+5'), int(duration('1us')), int(5u)]", "[5,1000,5]"},
       {"string(1e6) + ' ' + string(1.5) + ' ' + string(100000.0)", R"("1e+06 1.5 100000")"},
       {"1u + 2u == 3 && type(1u) == uint && 1u < 1.5", "true"},
       {"1u - 2u", "unsigned integer overflow"},
       {"1 + 1.0", "no such overload"}},
      self);
}

TEST(CelLibrary, Networks) {
  expect_results(
      {{"string(cidr('10.1.2.3/8').masked()) + string(cidr('2001:DB8::1/32').ip())",
        R"("10.0.0.0/82001:db8::1")"},
       {"cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').prefixLength() == 8",
        "true"},
       {"ip.isCanonical('::1') && !ip.isCanonical('0:0:0:0:0:0:0:1')", "true"},
       {"isIP('::ffff:1.2.3.4') || isCIDR('10.0.0.0/08') || isIP('01.2.3.4')", "false"},
       {"isIP('::1.2.3.4') && string(ip('::1.2.3.4')) == '::102:304'", "true"},
       {"ip('169.254.0.1').isGlobalUnicast() || !ip('240.0.0.1').isGlobalUnicast()", "false"},
       {"cidr('10.0.0.0/8').containsIP(ip('10.9.9.9')) && cidr('0.0.0.0/0').containsCIDR(cidr('10.0.0.0/8'))",
        "true"}});
}

TEST(CelLibrary, UrlsAsGoParsesThem) {
  for (const char* good : {"mailto:x", "/p", "*", "http://", "http://[::1]:80/", "http://a/b c",
                           "http://u:p@h/", "http://a?b c", "tcp://h:80:80", "http://%e4/"})
    EXPECT_EQ(result_of("isURL(self)", Json(good).dump()), "true") << good;
  for (const char* bad :
       {"", "h", ":a", "http://[::1", "http://[1.2.3.4]", "http://h:port", "http://h/%zz", "http://#%b$#@",
        "http://a b", "http://%41/", "http://h:80:80/", "#%blah$#@", "http://a\x7f"})
    EXPECT_EQ(result_of("isURL(self)", Json(bad).dump()), "false") << bad;
  expect_results(
      {{"url('http://u@[::1]:80/a%20b?x=1+2#f').getHost()", R"("[::1]:80")"},
       {"url('http://u@[::1]:80/a b?x=1#f').getHostname()", R"("::1")"},
       {"url('HTTP://h/a b?x=1#f').getScheme() + url('http://h/a b#f').getEscapedPath()", R"("http/a%20b")"},
       {"url('http://h/?x=1+2&y&x=%41').getQuery()", R"({"x":["1 2","A"],"y":[""]})"}});
}

TEST(CelLibrary, VersionsQuantitiesAndNamedFormats) {
  expect_results(
      {{"isSemver('v1.2', true) && !isSemver('v1.2') && isSemver('01.2.3', true)", "true"},
       {"semver('v1.2', true) == semver('1.2.0') && isSemver('1.2.3-rc.01') == false", "true"},
       {"quantity('0.1').add(quantity('0.2')) == quantity('300m')", "true"},
       {"['1.5k', '1.0', '1Mi', '1.5Gi', '1e30'].map(q, quantity(q).isInteger())",
        "[true,false,true,false,false]"},
       {"quantity('100E').asApproximateFloat() == 1e20 && quantity('1.5Ki').asApproximateFloat() == 1536.0",
        "true"},
       {"sign(quantity('-1')) + (isQuantity('1ki') ? 1 : 0)", "-1"},
       {"format.named('uuid').hasValue() && !format.named('foo').hasValue()", "true"},
       {"format.uuid().validate('c8a6b3f0-1b1c-41ee-be56-0242ac120002').hasValue()", "false"},
       {"format.uuid().validate('c8').value()", R"(["does not match the UUID format"])"},
       {"format.dns1123LabelPrefix().validate('a-').hasValue()", "false"},
       {"[format.date().validate('2020-01-01'), format.byte().validate('aGk'), "
        "format.uri().validate('a'), format.datetime().validate('2020-01-01T00:00:00Z')]"
        ".map(x, x.hasValue())",
        "[false,true,true,false]"}});
}

/// Returns the value of an expression on a value with a schema, or the error.
std::string typed(std::string_view schema, std::string_view expression, std::string_view value) {
  SchemaPool pool;
  const Schema& object_meta = pool.add();
  const Schema& root = read_custom_schema(pool, parse(schema), object_meta);
  const auto document = std::make_shared<const Json>(parse(value));
  try {
    const CelExpression::Variables variables{{"self", cel_value_of(document, *document, &root)}};
    std::int64_t budget = 1'000'000;
    return CelExpression(expression).evaluate(variables, budget).to_json().dump();
  } catch (const CelError& error) {
    return error.what();
  }
}

TEST(CelTypes, ValuesHaveTheTypesOfTheirSchema) {
  EXPECT_EQ(typed(R"({"type": "number"})", "type(self) == double && self + 0.5 == 1.5", "1"), "true");
  EXPECT_EQ(typed(R"({"type": "integer"})", "type(self) == int && self == 1.0", "1"), "true");
  EXPECT_EQ(
      typed(R"({"type": "string", "format": "byte"})", "self == b'hi' && self.size() == 2", R"("aGk=")"),
      "true");
  EXPECT_EQ(typed(R"({"type": "string", "format": "duration"})", "self == duration('24h')", R"("1d")"),
            "true");
  EXPECT_EQ(typed(R"({"type": "string", "format": "date-time"})", "self == timestamp('0001-01-01T00:00:00Z')",
                  R"("0001-01-01T00:00:00Z")"),
            "true");
  EXPECT_EQ(typed(R"({"type": "string", "format": "byte"})", "self.size()", R"("/+8=")"),
            "Invalid byte formatted string /+8=");
  EXPECT_EQ(typed(R"({"type": "array", "items": {"type": "string", "format": "duration"}})",
                  "self.max() == duration('2h') && self.sum() == duration('3h')", R"(["1h", "2h"])"),
            "true");
}

TEST(CelTypes, NullFieldsAreAbsent) {
  const std::string_view schema =
      R"({"type": "object", "properties": {"n": {"type": "string", "nullable": true}}})";
  EXPECT_EQ(typed(schema, "has(self.n) || self.?n.hasValue()", R"({"n": null})"), "false");
  EXPECT_EQ(typed(schema, "self.n", R"({"n": null})"), "no such key: n");
  EXPECT_EQ(typed(R"({"type": "object", "additionalProperties": {"type": "string", "nullable": true}})",
                  "has(self.n) && self.n == null", R"({"n": null})"),
            "true");
}

TEST(CelTypes, ListsOfTypeSetAndMapHaveNoOrder) {
  const std::string_view set =
      R"({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})";
  EXPECT_EQ(typed(set, "self == ['b', 'a'] && self + ['b', 'c'] == ['c', 'a', 'b'] && ['b', 'a'] != self",
                  R"(["a", "b"])"),
            "true");
  EXPECT_EQ(typed(R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "properties": {"k": {"type": "string"}}}})",
                  "(self + self).size()", R"([{"k": "a"}, {"k": "b"}])"),
            "2");
}

/// Returns the errors of a CRD whose property `p` has a rule.
std::string errors_of(std::string_view schema, const std::string& rule, const std::string& message = "") {
  Json property = parse(schema);
  Json entry = Json::object({{"rule", rule}});
  if (!message.empty()) entry["messageExpression"] = message;
  property["x-kubernetes-validations"] = Json::array({entry});
  const Json root = Json::object({{"type", "object"}, {"properties", Json::object({{"p", property}})}});
  std::string text;
  for (const FieldError& error : check_structural(root, "s")) {
    EXPECT_EQ(error.reason, "FieldValueInvalid");
    text += error.field.substr(error.field.rfind('.') + 1) + ": " +
            error.message.substr(error.message.find("}: ") + 3);
  }
  return text;
}

constexpr std::string_view object_schema = R"({"type": "object", "properties": {
  "s": {"type": "string"}, "n": {"type": "integer"}, "any": {"x-kubernetes-int-or-string": true},
  "my-key": {"type": "string"}, "namespace": {"type": "string"},
  "o": {"type": "object", "properties": {"x": {"type": "integer"}}}, "o2": {"type": "object", "properties": {}},
  "l": {"type": "array", "items": {"type": "string"}}, "free": {"x-kubernetes-preserve-unknown-fields": true},
  "m": {"type": "object", "additionalProperties": {"type": "integer"}}}})";

TEST(CelTypes, RulesThatDoNotCompileAreErrorsOfTheCrd) {
  const std::pair<const char*, const char*> problems[] = {
      {"self.zz == 1", "rule: compilation failed: ERROR: <input>:1:5: undefined field 'zz'"},
      {"self.free == 1", "rule: compilation failed: ERROR: <input>:1:5: undefined field 'free'"},
      {"self.n.x == 1",
       "rule: compilation failed: ERROR: <input>:1:7: type 'int' does not support field selection"},
      {"nobody",
       "rule: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')"},
      {"nobody(1)",
       "rule: compilation failed: ERROR: <input>:1:7: undeclared reference to 'nobody' (in container '')"},
      {"self.s.nobody()",
       "rule: compilation failed: ERROR: <input>:1:14: undeclared reference to 'nobody' (in container '')"},
      {"self.s.startsWith()",
       "rule: compilation failed: ERROR: <input>:1:18: found no matching overload for 'startsWith' applied "
       "to "
       "'string.()'"},
      {"self.n.startsWith('a')",
       "rule: compilation failed: ERROR: <input>:1:18: found no matching overload for 'startsWith' applied "
       "to "
       "'int.(string)'"},
      {"duration('1x') > duration('1s')",
       "rule: compilation failed: ERROR: <input>:1:9: invalid duration argument"},
      {"self.n", "rule: cel expression must evaluate to a bool"}};
  for (const auto& [rule, problem] : problems) EXPECT_EQ(errors_of(object_schema, rule), problem) << rule;
  for (const char* rule : {"self.s + 1 == 'a'",
                           "self.s == null",
                           "self.o == self.o2",
                           "self.l == ['a', 1]",
                           "self.n ? true : false",
                           "[1, 'a'].size() == 2",
                           "self.s.all(c, c == 'a')",
                           "self.l.all(x, x)",
                           "self.l.map(x, y).size() == 0",
                           "true ? 1 : 'a'",
                           "self.n == self.s",
                           "self.m['a'] == 'b'",
                           "self.l['a'] == 'b'",
                           "1 + 1.0 == 2.0",
                           "1 +",
                           "loop == 1",
                           "has(self)",
                           "self.l.sortBy(x, [x]).size() == 1",
                           "self.s.matches('[')",
                           "'a'.reverse() == 'a'",
                           "self.?s.orValue(1) == 1",
                           "[?self.s].size() == 1"})
    EXPECT_NE(errors_of(object_schema, rule), "") << rule;
  EXPECT_EQ(errors_of(object_schema, "true", "1"),
            "messageExpression: messageExpression must evaluate to a string");
  EXPECT_EQ(
      errors_of(object_schema, "true", "self.zz"),
      "messageExpression: messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'zz'");
}

TEST(CelTypes, RulesThatCompileAreAccepted) {
  for (const char* rule : {"self.any == 1 || self.any == 'a' || self.any.size() > 1",
                           "self.o == null",
                           "has(self.o) && self.o.x > 1.5",
                           "self.my__dash__key == self.__namespace__ && self.namespace == ''",
                           "self.l == [] || self.m == {}",
                           "[[], [self.n]].size() == 2",
                           "self.l.all(i, v, i > 0 && v != '')",
                           "(self.n > 1 ? self.l : []).size() == 0",
                           "'%s %d'.format(['a', 1]) == ''",
                           "self.?o.?x.orValue(1) == 1",
                           "self.l[?0].orValue('') == ''",
                           "self.l.sortBy(x, size(x)) == self.l",
                           "self.m.transformMap(k, v, v * 2)['a'] == 2",
                           "dyn(self.s) == 1",
                           "oldSelf.n == self.n",
                           "self.l.map(x, {'a': x}).all(m, m.a == '')",
                           "optional.none().orValue(self.n) == 1",
                           "type(self.s) == string",
                           "self.any + 1 == 2",
                           "google.protobuf.Duration == type(duration('1s'))",
                           "self.l.exists_one(x, x == 'a')"})
    EXPECT_EQ(errors_of(object_schema, rule), "") << rule;
}

TEST(CelTypes, RootHasNameAndKind) {
  const auto errors = [](const std::string& rule) {
    Json schema = parse(R"({"type": "object", "properties": {"spec": {"type": "object"}}})");
    schema["x-kubernetes-validations"] = Json::array({Json::object({{"rule", rule}})});
    return check_structural(schema, "s").size();
  };
  EXPECT_EQ(errors("self.metadata.name == self.kind && has(self.apiVersion)"), 0U);
  EXPECT_EQ(errors("has(self.metadata.labels)"), 1U);
}

}  // namespace
}  // namespace evenkeel::apiserver
