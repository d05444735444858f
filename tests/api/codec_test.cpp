// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/metadata.hpp>

namespace ek = evenkeel;

namespace shop {

enum class Policy { always, on_failure, none };
EVENKEEL_ENUM(Policy, always, on_failure, (none, "-"))

struct Port {
  int container_port = 0;
  std::optional<std::string> host_ip = {};
  bool operator==(const Port&) const = default;
};

struct Tree {
  std::string name = {};
  std::vector<Tree> children = {};
  std::map<std::string, Tree> by_name = {};
  bool operator==(const Tree&) const = default;
};

struct Options {
  std::optional<bool> fast = {};
  bool operator==(const Options&) const = default;
};

struct Spec {
  bool enabled = true;
  int replicas = 1;
  std::int64_t total = 0;
  std::uint64_t huge = 0;
  std::uint8_t tiny = 0;
  double ratio = 0.5;
  std::string image = {};
  std::optional<int> limit = {};
  std::optional<std::vector<int>> numbers = {};
  std::vector<Port> ports = {};
  std::vector<std::string> args = {};
  std::map<std::string, std::string> labels = {};
  std::unordered_map<std::string, int> counts = {};
  Policy policy = Policy::always;
  ek::IntOrString target = {};
  std::optional<ek::Time> since = {};
  std::optional<ek::MicroTime> renewed = {};
  std::optional<ek::Duration> wait = {};
  ek::Json extra = {};
  Options options = {};
  std::optional<Options> more = {};
  Tree tree = {};
  std::string class_ = {};
  bool operator==(const Spec&) const = default;
};

struct Flags {
  std::vector<bool> all = {};
  std::optional<std::vector<bool>> more = {};
  std::map<std::string, std::vector<bool>> by_name = {};
  std::vector<std::vector<bool>> rows = {};
  bool operator==(const Flags&) const = default;
};

struct Shop {
  static constexpr ek::ResourceInfo resource{
      .group = "example.dev", .version = "v1", .kind = "Shop", .plural = "shops"};
  ek::ObjectMeta metadata = {};
  Spec spec = {};
  bool operator==(const Shop&) const = default;
};

}  // namespace shop

// Outside the types' namespace; Policy above is inside.
EVENKEEL_FIELDS(shop::Port, container_port, (host_ip, ek::wire("hostIP")))
EVENKEEL_FIELDS(shop::Tree, name, children, by_name)
EVENKEEL_FIELDS(shop::Options, fast)
EVENKEEL_FIELDS(shop::Spec, enabled, replicas, total, huge, tiny, ratio, (image, ek::omit_empty), limit,
                numbers, ports, args, labels, counts, policy, target, since, renewed, wait, extra, options,
                more, tree, (class_, ek::omit_empty))
EVENKEEL_FIELDS(shop::Flags, all, more, by_name, rows)
EVENKEEL_FIELDS(shop::Shop, metadata, spec)

namespace {

using shop::Shop;
using shop::Spec;

static_assert(ek::ObjectType<Shop>);
static_assert(ek::Described<Spec> && !ek::ObjectType<Spec>);
static_assert(!ek::Described<int> && !ek::Described<std::string> && !ek::Described<std::vector<Spec>>);

std::string problem_of(std::string_view text, std::string_view what = "shops/default/corner") {
  try {
    static_cast<void>(ek::from_json<Shop>(text, what));
  } catch (const ek::DecodeError& error) {
    // The tree is walked in the same way and must give the same errors.
    try {
      static_cast<void>(ek::from_tree<Shop>(ek::Json::parse(text), what));
    } catch (const ek::DecodeError& again) {
      EXPECT_STREQ(error.what(), again.what());
      return error.what();
    }
    ADD_FAILURE() << "text refused, tree accepted: " << error.what();
  }
  return "accepted";
}

TEST(Codec, PlainScalarsAreAlwaysWrittenAndTheRestOnlyWhenSet) {
  EXPECT_EQ(
      ek::to_json(Spec{}),
      R"({"enabled":true,"replicas":1,"total":0,"huge":0,"tiny":0,"ratio":0.5,"policy":"Always","target":0,)"
      R"("tree":{"name":""}})");
}

// Its items have no address.
TEST(Codec, AListOfBooleansIsAListLikeOthers) {
  const std::string text =
      R"({"all":[true,false,true],"more":[],"byName":{"a":[false]},"rows":[[true],[false,true]]})";
  const auto flags = ek::from_json<shop::Flags>(text);
  EXPECT_EQ(flags.all, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(flags.rows.at(1), (std::vector<bool>{false, true}));
  EXPECT_EQ(ek::from_tree<shop::Flags>(ek::Json::parse(text)), flags);
  EXPECT_EQ(ek::to_json(flags), text);
  EXPECT_EQ(ek::from_json<shop::Flags>(R"({"all":[null,true]})").all, (std::vector<bool>{false, true}));
  try {
    static_cast<void>(ek::from_json<shop::Flags>(R"({"all":[true,"x"]})", "flags"));
    ADD_FAILURE();
  } catch (const ek::DecodeError& error) {
    EXPECT_STREQ(error.what(), R"(flags: all[1]: expected boolean, found string "x")");
  }
}

TEST(Codec, ObjectsBeginWithApiVersionAndKindAndCarryMetadata) {
  EXPECT_EQ(ek::to_json(Shop{}).substr(0, 76),
            R"({"apiVersion":"example.dev/v1","kind":"Shop","metadata":{},"spec":{"enabled")");
  EXPECT_EQ(ek::to_tree(Shop{})["kind"], ek::Json("Shop"));
}

TEST(Codec, AnOptionalThatIsSetIsWrittenEvenIfEmpty) {
  Spec spec;
  spec.more.emplace();
  spec.numbers.emplace();
  const ek::Json tree = ek::to_tree(spec);
  EXPECT_EQ(tree["more"], ek::Json::object());
  EXPECT_EQ(tree["numbers"], ek::Json::array());
  EXPECT_FALSE(tree.contains("options"));
}

Shop full() {
  Shop shop;
  shop.metadata.name = "corner";
  shop.metadata.namespace_ = "default";
  shop.metadata.labels = {{"a/b", "c"}, {"x", "\"quoted\"\n\t\x01"}};
  shop.metadata.creation_timestamp = ek::Time::parse("2026-01-31T08:00:00Z");
  shop.metadata.managed_fields = {ek::Json::object({{"manager", "m"}})};
  Spec& spec = shop.spec;
  spec.enabled = false;
  spec.replicas = -7;
  spec.total = std::numeric_limits<std::int64_t>::min();
  spec.huge = std::numeric_limits<std::uint64_t>::max();
  spec.tiny = 255;
  spec.ratio = 1.0 / 3;
  spec.image = "nginx:1 \u00e4\u20ac\U0001F600";
  spec.limit = 0;
  spec.numbers = {{1, 2, 3}};
  spec.ports = {{80, "10.0.0.1"}, {443, {}}};
  spec.args = {"", "-v"};
  spec.labels = {{"", "empty"}, {"k", "v"}};
  spec.counts = {{"z", 1}, {"a", 2}, {"m", 3}};
  spec.policy = shop::Policy::on_failure;
  spec.target = "http";
  spec.since = ek::Time::parse("1999-12-31T23:59:59Z");
  spec.renewed = ek::MicroTime::parse("2026-01-31T08:00:00.000001Z");
  spec.wait = std::chrono::seconds(90);
  spec.extra = ek::Json::parse(R"({"a":[1,2.5,null,{"b":true}],"c":"d"})");
  spec.more = shop::Options{.fast = true};
  spec.tree = {"root", {{"left", {}, {}}, {"right", {{"leaf", {}, {}}}, {}}}, {{"k", {"named", {}, {}}}}};
  spec.class_ = "c";
  return shop;
}

TEST(Codec, EverythingThatIsSetComesBack) {
  const Shop shop = full();
  const std::string text = ek::to_json(shop);
  EXPECT_EQ(ek::from_json<Shop>(text), shop) << text;
}

TEST(Codec, TextAndTreeAreTheSameDocument) {
  Shop shop = full();
  shop.spec.huge = 5;  // trees hold signed integers
  EXPECT_EQ(ek::Json::parse(ek::to_json(shop)), ek::to_tree(shop));
  EXPECT_EQ(ek::from_tree<Shop>(ek::to_tree(shop)), shop);
}

TEST(Codec, WireNamesAreCamelCaseUnlessGiven) {
  const ek::Json spec = ek::to_tree(full().spec);
  EXPECT_EQ(spec["class"], ek::Json("c"));
  EXPECT_EQ(spec["ports"][std::size_t{0}]["containerPort"], ek::Json(80));
  EXPECT_EQ(spec["ports"][std::size_t{0}]["hostIP"], ek::Json("10.0.0.1"));
  EXPECT_EQ(ek::to_tree(full())["metadata"]["creationTimestamp"], ek::Json("2026-01-31T08:00:00Z"));
}

TEST(Codec, MapsAreWrittenInTheOrderOfTheirKeys) {
  Spec spec;
  spec.counts = {{"z", 1}, {"a", 2}, {"m", 3}};
  EXPECT_NE(ek::to_json(spec).find(R"("counts":{"a":2,"m":3,"z":1})"), std::string::npos);
}

TEST(Codec, UnknownFieldsAreSkippedAtAnyDepth) {
  const Shop shop = ek::from_json<Shop>(
      R"({"zzz":{"deep":[1,{"a":"}"}]},"spec":{"unknown":[[[]]],"replicas":3,"ports":[{"x":{},"containerPort":8}],
          "esc\"aped\\":1}, "status":null})");
  EXPECT_EQ(shop.spec.replicas, 3);
  ASSERT_EQ(shop.spec.ports.size(), 1U);
  EXPECT_EQ(shop.spec.ports[0].container_port, 8);
}

TEST(Codec, EscapedNamesAreTheirMeaning) {
  EXPECT_EQ(ek::from_json<Shop>(R"({"spec":{"\u0072eplicas":4}})").spec.replicas, 4);
  EXPECT_EQ(ek::from_json<Shop>(R"({"spec":{"labels":{"a\"b":"c\u0041"}}})").spec.labels,
            (std::map<std::string, std::string>{{"a\"b", "cA"}}));
}

TEST(Codec, NullIsTheSameAsAbsentEverywhere) {
  const Shop shop = ek::from_json<Shop>(
      R"({"metadata":null,"spec":{"enabled":null,"replicas":null,"image":null,"limit":null,"ports":null,
          "labels":null,"policy":null,"target":null,"since":null,"extra":null,"options":null,"tree":null}})");
  EXPECT_EQ(shop, Shop{});
}

TEST(Codec, NullItemsKeepTheirPlace) {
  const Shop shop = ek::from_json<Shop>(
      R"({"spec":{"ports":[null,{"containerPort":5}],"args":["a",null],"labels":{"a":null}}})");
  ASSERT_EQ(shop.spec.ports.size(), 2U);
  EXPECT_EQ(shop.spec.ports[0], shop::Port{});
  EXPECT_EQ(shop.spec.args, (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(shop.spec.labels, (std::map<std::string, std::string>{{"a", ""}}));
}

TEST(Codec, FreeFormKeepsNulls) {
  EXPECT_EQ(ek::from_json<Shop>(R"({"spec":{"extra":{"a":null,"b":[null]}}})").spec.extra,
            ek::Json::parse(R"({"a":null,"b":[null]})"));
}

struct Refusal {
  const char* text;
  const char* error;
};

TEST(Codec, ErrorsNameTheObjectTheFieldAndWhatWasFound) {
  const Refusal refusals[] = {
      {R"({"spec":{"replicas":"three"}})", R"(spec.replicas: expected integer, found string "three")"},
      {R"({"spec":{"replicas":1.5}})", "spec.replicas: expected integer, found number 1.5"},
      {R"({"spec":{"replicas":1e+21}})", "spec.replicas: expected integer, found number 1e+21"},
      {R"({"spec":{"replicas":true}})", "spec.replicas: expected integer, found boolean true"},
      {R"({"spec":{"replicas":[1]}})", "spec.replicas: expected integer, found array"},
      {R"({"spec":{"replicas":{}}})", "spec.replicas: expected integer, found object"},
      {R"({"spec":{"replicas":3000000000}})",
       "spec.replicas: expected integer from -2147483648 to 2147483647, found 3000000000"},
      {R"({"spec":{"tiny":-1}})", "spec.tiny: expected integer from 0 to 255, found -1"},
      {R"({"spec":{"tiny":256}})", "spec.tiny: expected integer from 0 to 255, found 256"},
      {R"({"spec":{"huge":-1}})", "spec.huge: expected integer from 0 to 18446744073709551615, found -1"},
      {R"({"spec":{"enabled":"yes"}})", R"(spec.enabled: expected boolean, found string "yes")"},
      {R"({"spec":{"enabled":0}})", "spec.enabled: expected boolean, found integer 0"},
      {R"({"spec":{"ratio":"x"}})", R"(spec.ratio: expected number, found string "x")"},
      {R"({"spec":{"image":5}})", "spec.image: expected string, found integer 5"},
      {R"({"spec":{"limit":"x"}})", R"(spec.limit: expected integer, found string "x")"},
      {R"({"spec":{"ports":{}}})", "spec.ports: expected array, found object"},
      {R"({"spec":{"ports":[{},{"containerPort":"x"}]}})",
       R"(spec.ports[1].containerPort: expected integer, found string "x")"},
      {R"({"spec":{"ports":[{},7]}})", "spec.ports[1]: expected object, found integer 7"},
      {R"({"spec":{"labels":{"a.b/c":1}}})", R"(spec.labels["a.b/c"]: expected string, found integer 1)"},
      {R"({"spec":{"labels":{"plain":1}}})", "spec.labels.plain: expected string, found integer 1"},
      {R"({"spec":{"labels":[]}})", "spec.labels: expected object, found array"},
      {R"({"spec":{"policy":"Sometimes"}})",
       R"(spec.policy: expected one of "Always", "OnFailure", "-", found string "Sometimes")"},
      {R"({"spec":{"policy":1}})",
       R"(spec.policy: expected one of "Always", "OnFailure", "-", found integer 1)"},
      {R"({"spec":{"target":[]}})", "spec.target: expected integer or string, found array"},
      {R"({"spec":{"target":2147483648}})",
       "spec.target: expected integer from -2147483648 to 2147483647, found 2147483648"},
      {R"({"spec":{"since":"today"}})", R"(spec.since: expected an RFC 3339 time, found string "today")"},
      {R"({"spec":{"since":5}})", "spec.since: expected an RFC 3339 time, found integer 5"},
      {R"({"spec":{"wait":"1 day"}})",
       R"(spec.wait: expected a duration such as "1h30m", found string "1 day")"},
      {R"({"spec":{"tree":{"children":[{"byName":{"k":{"name":1}}}]}}})",
       "spec.tree.children[0].byName.k.name: expected string, found integer 1"},
      {R"({"kind":"Pod"})", R"(kind: expected "Shop", found "Pod")"},
      {R"({"kind":7})", R"(kind: expected "Shop", found integer 7)"},
      {R"({"apiVersion":"example.dev/v2"})",
       R"(apiVersion: expected "example.dev/v1", found "example.dev/v2")"},
      {R"({"metadata":{"generation":"1"}})", R"(metadata.generation: expected integer, found string "1")"},
  };
  for (const auto& [text, error] : refusals)
    EXPECT_EQ(problem_of(text), std::string("shops/default/corner: ") + error) << text;
}

TEST(Codec, RootsOfTheWrongKindAreNamedByTheObjectAlone) {
  EXPECT_EQ(problem_of("[]"), "shops/default/corner: expected object, found array");
  EXPECT_EQ(problem_of("null"), "shops/default/corner: expected object, found null");
  EXPECT_EQ(problem_of("5", ""), "expected object, found integer 5");
  EXPECT_EQ(problem_of(R"({"spec":{"replicas":"x"}})", ""),
            R"(spec.replicas: expected integer, found string "x")");
}

// Field and type are named, its bytes are not: by the type, by the object's name, and by what it contains.
TEST(Codec, ErrorsOfSecretsShowNoValue) {
  const auto problem = [](auto decode) {
    try {
      decode();
    } catch (const ek::DecodeError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::vector<std::pair<std::string, std::string>> secrets = {
      {R"({"data":{"password":"hunter2!"}})", "s: data.password: expected base64, found string"},
      {R"({"data":{"password":22771}})", "s: data.password: expected base64, found number"},
      {R"({"data":"hunter2"})", "s: data: expected object, found string"},
      {R"({"stringData":{"pin":22771}})", "s: stringData.pin: expected string, found integer"},
      {R"({"stringData":{"pin":true}})", "s: stringData.pin: expected string, found boolean"},
      {R"({"stringData":["hunter2"]})", "s: stringData: expected object, found array"},
      {R"({"metadata":{"annotations":{"a":22771}}})",
       "s: metadata.annotations.a: expected string, found integer"},
      {R"({"metadata":{"generation":"hunter2"}})", "s: metadata.generation: expected integer, found string"},
      {R"({"metadata":{"generation":22771227712277122771}})",
       "s: metadata.generation: expected integer from -9223372036854775808 to 9223372036854775807, found "
       "another number"},
      {R"({"immutable":"hunter2"})", "s: immutable: expected boolean, found string"},
      {R"({"kind":"Pod"})", R"(s: kind: expected "Secret", found "Pod")"},
  };
  for (const auto& each : secrets) {
    const std::string text = each.first;  // clang captures no structured binding
    EXPECT_EQ(problem([&] { static_cast<void>(ek::from_json<ek::Secret>(text, "s")); }), each.second);
    EXPECT_EQ(problem([&] { static_cast<void>(ek::from_tree<ek::Secret>(ek::Json::parse(text), "s")); }),
              each.second);
  }
  EXPECT_EQ(problem_of(R"({"spec":{"image":5},"items":[{"kind":"Secret"}]})"),
            "shops/default/corner: spec.image: expected string, found integer");
  EXPECT_EQ(problem_of(R"({"spec":{"image":5}})", "Secret a/b"),
            "Secret a/b: spec.image: expected string, found integer");
}

TEST(Codec, LongTextsAreCutInErrors) {
  const std::string text = R"({"spec":{"replicas":")" + std::string(500, 'x') + R"("}})";
  EXPECT_EQ(problem_of(text), "shops/default/corner: spec.replicas: expected integer, found string \"" +
                                  std::string(60, 'x') + "\"...");
}

TEST(Codec, InvalidJsonIsRefusedWithLineAndColumn) {
  for (const char* text : {"", "{", "{\"spec\":", "{\"spec\":{\"replicas\":1}", "{}}", "{} x", "{\"spec\" 1}",
                           "{\"spec\":{\"replicas\":01}}", "{\"spec\":{\"enabled\":trux}}", "{\"spec\":nul}",
                           "{\"spec\":{\"image\":\"\\x\"}}", "{\"spec\":{\"args\":[\"a\" \"b\"]}}", "nope"}) {
    try {
      static_cast<void>(ek::from_json<Shop>(text, "shops/default/corner"));
      ADD_FAILURE() << "accepted: " << text;
    } catch (const ek::DecodeError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("shops/default/corner: ", 0), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find("column"), std::string::npos) << text << ": " << error.what();
    }
  }
}

TEST(Codec, DeepNestingIsRefusedNotFollowed) {
  std::string text = R"({"spec":{"tree":)";
  for (int i = 0; i < 5000; ++i) text += R"({"children":[)";
  EXPECT_THROW(static_cast<void>(ek::from_json<Shop>(text)), ek::DecodeError);
  std::string free = R"({"spec":{"extra":)" + std::string(600, '[') + std::string(600, ']') + "}}";
  try {
    static_cast<void>(ek::from_json<Shop>(free, "x"));
    ADD_FAILURE();
  } catch (const ek::DecodeError& error) {
    EXPECT_STREQ(error.what(), "x: nested deeper than 512 levels");
  }
}

TEST(Codec, LargeIntegersInFreeFormBecomeNumbers) {
  const ek::Json extra =
      ek::from_json<Shop>(
          R"({"spec":{"extra":[9223372036854775807,9223372036854775808,123456789012345678901234567890]}})")
          .spec.extra;
  EXPECT_EQ(extra[std::size_t{0}].as_integer(), 9223372036854775807);
  EXPECT_EQ(extra[std::size_t{1}].kind(), ek::Json::Kind::number);
  EXPECT_DOUBLE_EQ(extra[std::size_t{2}].as_number(), 1.2345678901234568e29);
}

TEST(Codec, ValuesThatAreNotRecordsAreReadToo) {
  EXPECT_EQ(ek::from_json<int>("5"), 5);
  EXPECT_EQ(ek::from_json<std::vector<int>>("[1,2]"), (std::vector<int>{1, 2}));
  EXPECT_EQ(ek::to_json(std::vector<std::string>{"a"}), R"(["a"])");
}

TEST(Codec, BytesThatAreNotUtf8AreReplacedNotSent) {
  EXPECT_EQ(ek::to_json(std::string("a\xff"
                                    "b\xc3")),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
}

}  // namespace
