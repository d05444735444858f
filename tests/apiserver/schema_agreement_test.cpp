// SPDX-License-Identifier: Apache-2.0
// The schemas that are generated from types admit exactly what the decoder takes: values of all kinds, most
// of them almost right, are validated as the API server does it, and decoded.
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/time.hpp>

#include "apiserver/schema/schema_validation.hpp"
#include "schema_fixture.hpp"

namespace agreement {

namespace ek = evenkeel;

enum class Mode { fast, slow, none };
EVENKEEL_ENUM(Mode, fast, (slow, "slow-motion"), (none, ""))

struct Values {
  std::optional<bool> flag = {};
  std::optional<std::int8_t> int8 = {};
  std::optional<std::int16_t> int16 = {};
  std::optional<std::int32_t> int32 = {};
  std::optional<std::int64_t> int64 = {};
  std::optional<std::uint8_t> uint8 = {};
  std::optional<std::uint16_t> uint16 = {};
  std::optional<std::uint32_t> uint32 = {};
  std::optional<std::uint64_t> uint64 = {};
  std::optional<float> narrow = {};
  std::optional<double> wide = {};
  std::optional<std::string> text = {};
  std::optional<Mode> mode = {};
  std::optional<ek::Duration> duration = {};
  std::optional<ek::Time> time = {};
  std::optional<ek::MicroTime> micro_time = {};
  std::optional<ek::Quantity> quantity = {};
  std::optional<ek::IntOrString> port = {};
  std::optional<ek::Bytes> bytes = {};
  std::optional<ek::Json> free = {};
};
EVENKEEL_FIELDS(Values, flag, int8, int16, int32, int64, uint8, uint16, uint32, uint64, narrow, wide, text,
                mode, duration, time, micro_time, quantity, port, bytes, free)

// Plain members, lists and maps of such values.
struct Collections {
  Values nested = {};
  ek::Duration wait = std::chrono::seconds{5};
  std::vector<ek::Duration> waits = {};
  std::vector<ek::Time> times = {};
  std::vector<std::uint8_t> sizes = {};
  std::vector<Values> items = {};
  std::map<std::string, ek::Quantity> limits = {};
  std::map<std::string, std::vector<Mode>> modes = {};
  std::unordered_map<std::string, ek::IntOrString> ports = {};
  std::map<std::string, Values> by_name = {};
};
EVENKEEL_FIELDS(Collections, nested, wait, waits, times, sizes, items, limits, modes, ports, by_name)

// Fields whose own conditions must not replace those of their types.
struct Conditions {
  std::optional<ek::Duration> hours = {};
  std::optional<ek::Time> time = {};
  std::optional<ek::Quantity> gigabytes = {};
  std::optional<ek::Bytes> bytes = {};
  std::optional<std::uint8_t> uint8 = {};
  std::optional<std::int16_t> int16 = {};
  std::optional<std::int32_t> int32 = {};
  std::optional<float> narrow = {};
  std::optional<ek::IntOrString> port = {};
};
EVENKEEL_FIELDS(Conditions, (hours, ek::pattern("[hd]$")), (time, ek::pattern("Z"), ek::format("date")),
                (gigabytes, ek::pattern("[0-9]")), (bytes, ek::format("password"), ek::min_length(1)),
                (uint8, ek::minimum(-5), ek::maximum(1000)), (int16, ek::format("int64"), ek::minimum(1)),
                (int32, ek::format("int64")), (narrow, ek::format("double")), (port, ek::maximum(1e12)))

}  // namespace agreement

namespace evenkeel::apiserver {
namespace {

constexpr std::uint32_t seed = 20261128;

constexpr std::array texts{"",
                           "0",
                           "5",
                           "-5",
                           "1h30m",
                           "-1.5s",
                           "+1h",
                           ".5h",
                           "1.h",
                           "30d",
                           "1 h",
                           "1H",
                           "h",
                           "-",
                           "+0",
                           "00",
                           "1us",
                           "1\u00b5s",
                           "1\u03bcs",
                           "1h-1m",
                           "9999999h",
                           "1e3s",
                           "99999999999999999999h",
                           "-9999999h",
                           "720h",
                           "soon",
                           "500m",
                           "1536Mi",
                           "1Ki",
                           "2Gi",
                           "1e3",
                           "1E-3",
                           "1e1.5",
                           "1E",
                           "e3",
                           ".5",
                           "5.",
                           ".",
                           "1.2.3",
                           "1 GB",
                           "1k",
                           "1K",
                           "1ki",
                           "+1.5e+3",
                           "100%",
                           "http",
                           "YWI=",
                           "YWJj",
                           "YQ==",
                           "YQ=",
                           "Y===",
                           "YWI\n=",
                           "-_==",
                           "fast",
                           "Fast",
                           "Slow",
                           "slow-motion",
                           "true",
                           "null",
                           "2026-01-31T08:00:00Z",
                           "2026-01-31t08:00:00z",
                           "2026-01-31T08:00:00+02:00",
                           "2026-01-31T08:00:00+0200",
                           "2026-02-30T08:00:00Z",
                           "2024-02-29T08:00:00Z",
                           "2026-01-31T24:00:00Z",
                           "2026-01-31T08:00:60Z",
                           "2026-01-31T08:00:00.5Z",
                           "2026-01-31T08:00:00,5Z",
                           "2026-01-31T08:00:00.Z",
                           "2026-01-31T8:00:00Z",
                           "0000-01-01T00:00:00+10:00",
                           "9999-12-31T23:59:59-10:00",
                           "2026-01-31T08:00:00+99:99",
                           "2026-01-31",
                           "2026-01-31 08:00:00Z",
                           "2026-01-31T08:00:00ZTx",
                           "2026-01-31T08:00:00.123456789-23:59",
                           "yesterday"};

constexpr std::array numbers{"0",
                             "1",
                             "-1",
                             "80",
                             "127",
                             "128",
                             "-128",
                             "-129",
                             "255",
                             "256",
                             "32767",
                             "32768",
                             "-32769",
                             "65535",
                             "65536",
                             "2147483647",
                             "1.0",
                             "1.5",
                             "2147483648",
                             "-2147483648",
                             "-2147483649",
                             "4294967295",
                             "4294967296",
                             "1e2",
                             "3e9",
                             "1e300",
                             "-0.0",
                             "9007199254740991",
                             "9007199254740992.0",
                             "9223372036854775807",
                             "9223372036854775808",
                             "18446744073709551615",
                             "-9223372036854775808",
                             "1e39",
                             "-3.5e38",
                             "1e17"};

/// Changes texts by a letter or two.
class Generator {
 public:
  Json value() {
    switch (random_() % 12) {
      case 0:
        return Json(random_() % 2 == 0);
      case 1:
        return random_() % 2 == 0 ? Json::array() : Json::object();
      case 2:
      case 3:
      case 4:
        return Json::parse(pick(numbers));
      default:
        return Json(text());
    }
  }

 private:
  template <class Values>
  std::string pick(const Values& values) {
    return values[random_() % values.size()];
  }
  std::string text() {
    static constexpr std::string_view letters = "0123456789.+-:TZtzhmsuneEKMGip% =,/\n";
    std::string made = pick(texts);
    for (std::size_t changes = random_() % 3; changes > 0; --changes) {
      const std::size_t at = random_() % (made.size() + 1);
      const char letter = letters[random_() % letters.size()];
      const bool is_ascii = at < made.size() && static_cast<unsigned char>(made[at]) < 128;
      if (is_ascii && random_() % 2 == 0)
        random_() % 2 == 0 ? made.erase(at, 1) : made.replace(at, 1, 1, letter);
      else if (at == made.size() || is_ascii)
        made.insert(at, 1, letter);
    }
    return made;
  }

  std::mt19937 random_{seed};
};

class SchemaAgreement : public ::testing::Test {
 protected:
  template <class T>
  std::string refusal_of_server(const Json& value) {
    static const auto kind = shapes.with_spec(schema_of<T>().dump());
    std::string text;
    for (const FieldError& error : validate(Json::object({{"spec", value}}), *kind))
      text += error.text() + "\n";
    return text;
  }
  template <class T>
  static std::string refusal_of_decoder(const Json& value) {
    try {
      from_json<T>(value.dump(), "");
      from_tree<T>(value);
      return "";
    } catch (const DecodeError& error) {
      return error.what();
    }
  }
  /// Expects that what the schema of T admits decodes, and the reverse unless it is tolerated.
  template <class T>
  void compare(const Json& value, bool is_tolerated) {
    const std::string server = refusal_of_server<T>(value);
    const std::string decoder = refusal_of_decoder<T>(value);
    // Servers take lists where strings with a format are; no type does.
    const bool is_list = decoder.ends_with(", found array");
    EXPECT_FALSE(server.empty() && !decoder.empty() && !is_list) << value.dump() << "\n" << decoder;
    EXPECT_FALSE(!server.empty() && decoder.empty() && !is_tolerated) << value.dump() << "\n" << server;
    ++(server.empty() ? admitted : refused);
  }
  Shapes shapes;
  int admitted = 0;
  int refused = 0;
};

// Values that the decoder takes beyond the schema: line breaks in base64 and no bytes at all, as Go does;
// quantities that are numbers with a fraction, which no integer-or-string admits; unsigned integers that an
// API server cannot hold.
bool is_tolerated(std::string_view field, const Json& value) {
  if (field == "bytes")
    return value == Json("") || (value.is_string() && value.as_string().find('\n') != std::string::npos);
  if (field == "quantity" || field == "limits") return value.is_number();
  return field == "uint64" && value.is_number() && value.as_number() >= 0x1p63;
}

TEST_F(SchemaAgreement, OfEachTypeOfMember) {
  Generator generator;
  for (const Field& field : type_info<agreement::Values>().fields) {
    const int before = admitted;
    for (int round = 0; round < 3000; ++round) {
      const Json value = generator.value();
      compare<agreement::Values>(Json::object({{field.wire, value}}), is_tolerated(field.wire, value));
    }
    EXPECT_GT(admitted - before, 10) << field.wire;
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(SchemaAgreement, InListsMapsAndStructs) {
  Generator generator;
  const Json one = Json::array();
  for (int round = 0; round < 3000; ++round) {
    const Json value = generator.value();
    const bool tolerated = is_tolerated("limits", value);
    const auto list = [&] { return Json::array({value}); };
    const auto map = [&](Json item) { return Json::object({{"a", std::move(item)}}); };
    for (const Json& spec : {Json::object({{"wait", value}}), Json::object({{"waits", list()}}),
                             Json::object({{"times", list()}}), Json::object({{"sizes", list()}}),
                             Json::object({{"items", Json::array({Json::object({{"duration", value}})})}}),
                             Json::object({{"nested", Json::object({{"microTime", value}})}}),
                             Json::object({{"limits", map(value)}}), Json::object({{"modes", map(list())}}),
                             Json::object({{"ports", map(value)}}),
                             Json::object({{"byName", map(Json::object({{"int16", value}}))}})})
      compare<agreement::Collections>(spec, tolerated);
  }
  EXPECT_GT(admitted, 1000);
}

TEST_F(SchemaAgreement, WhereFieldsHaveTheirOwnConditions) {
  Generator generator;
  for (const Field& field : type_info<agreement::Conditions>().fields) {
    for (int round = 0; round < 3000; ++round)
      compare<agreement::Conditions>(Json::object({{field.wire, generator.value()}}), true);
  }
  EXPECT_EQ(refusal_of_server<agreement::Conditions>(Json::parse(R"({"hours": "1h", "uint8": 3})")), "");
  EXPECT_EQ(refusal_of_server<agreement::Conditions>(Json::parse(R"({"uint8": 300})")),
            "spec.uint8: Invalid value: 300: spec.uint8 in body should be less than or equal to 255\n");
}

TEST_F(SchemaAgreement, KeepsThePatternOfATypeBesideThatOfAField) {
  EXPECT_EQ(schema_of<agreement::Conditions>()["properties"]["hours"].dump(),
            "{\"allOf\":[{\"pattern\":\"[hd]$\"}],\"pattern\":\"^[+-]?(0|(([0-9]+(\\\\.[0-9]*)?|\\\\.[0-9]+)"
            "(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$\",\"type\":\"string\"}");
}

}  // namespace
}  // namespace evenkeel::apiserver
