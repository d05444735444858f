// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;

namespace {

TEST(Time, ReadsRfc3339AndPrintsSecondsInUtc) {
  const struct {
    const char *text, *printed, *micro;
  } rows[] = {
      {"2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000000Z"},
      {"2026-01-31T08:00:00.5Z", "2026-01-31T08:00:00Z", "2026-01-31T08:00:00.500000Z"},
      {"2026-01-31T08:00:00.123456789Z", "2026-01-31T08:00:00Z", "2026-01-31T08:00:00.123456Z"},
      {"2026-01-31T08:00:00+02:30", "2026-01-31T05:30:00Z", "2026-01-31T05:30:00.000000Z"},
      {"2025-12-31T23:00:00-05:00", "2026-01-01T04:00:00Z", "2026-01-01T04:00:00.000000Z"},
      {"1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.900000Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"},
  };
  for (const auto& [text, printed, micro] : rows) {
    ASSERT_TRUE(ek::Time::parse(text)) << text;
    EXPECT_EQ(ek::Time::parse(text)->str(), printed);
    EXPECT_EQ(ek::MicroTime::parse(text)->str(), micro);
  }
}

TEST(Time, RefusesInvalidTexts) {
  for (const char* text :
       {"", "2026-01-31", "2026-01-31T08:00:00", "2026-01-31 08:00:00Z", "2026-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T08:60:00Z",
        "2026-01-31T08:00:60Z", "2026-01-31T08:00:00.Z", "2026-01-31T08:00:00z", "2026-01-31T08:00:00+0200",
        "2026-01-31T08:00:00Zx", "26-01-31T08:00:00Z"})
    EXPECT_FALSE(ek::Time::parse(text)) << text;
}

TEST(Time, HasAYearOfFourDigitsInUtc) {
  for (const char* text : {"0000-01-01T00:00:00Z", "0000-01-01T00:01:00+00:01", "9999-12-31T23:59:59Z",
                           "9999-12-31T22:59:59-01:00"}) {
    const auto time = ek::MicroTime::parse(text);
    ASSERT_TRUE(time && ek::Time::parse(text)) << text;
    EXPECT_EQ(ek::MicroTime::parse(time->str()), time) << text;
  }
  EXPECT_EQ(ek::Time::parse("0000-01-01T00:00:00+00:01")->str(), "0000-01-01T00:00:00Z");
  EXPECT_EQ(ek::Time::parse("9999-12-31T23:59:59-00:01")->str(), "9999-12-31T23:59:59Z");
  EXPECT_EQ(ek::MicroTime::parse("9999-12-31T23:59:59-00:01")->str(), "9999-12-31T23:59:59.999999Z");
}

TEST(Time, ComparesAndConverts) {
  const auto earlier = *ek::Time::parse("2026-01-31T08:00:00Z");
  EXPECT_LT(earlier, *ek::Time::parse("2026-01-31T08:00:01Z"));
  EXPECT_EQ(ek::Time(earlier.value() + 999ms), earlier);
  EXPECT_NE(ek::MicroTime(earlier.value() + 1us), ek::MicroTime(earlier.value()));
}

TEST(Duration, PrintsAndReadsAsGoDoes) {
  const struct {
    ek::Duration duration;
    const char* text;
  } rows[] = {
      {0ns, "0s"},
      {1ns, "1ns"},
      {1100ns, "1.1\u00b5s"},
      {2200us, "2.2ms"},
      {3300ms, "3.3s"},
      {4min + 5s, "4m5s"},
      {4min + 5001ms, "4m5.001s"},
      {5h + 6min + 7001ms, "5h6m7.001s"},
      {8min + 1ns, "8m0.000000001s"},
      {1h, "1h0m0s"},
      {-90s, "-1m30s"},
      {ek::Duration::max(), "2562047h47m16.854775807s"},
  };
  for (const auto& [duration, text] : rows) {
    EXPECT_EQ(ek::format_duration(duration), text);
    EXPECT_EQ(ek::parse_duration(text), duration) << text;
  }
  EXPECT_EQ(ek::format_duration(ek::Duration::min()), "-2562047h47m16.854775808s");
  EXPECT_EQ(ek::parse_duration("0"), 0s);
  EXPECT_EQ(ek::parse_duration("+5s"), 5s);
  EXPECT_EQ(ek::parse_duration(".5s"), 500ms);
  EXPECT_EQ(ek::parse_duration("1h15m30.918273645s"), 1h + 15min + 30918273645ns);
  EXPECT_EQ(ek::parse_duration("10us"), 10us);
  for (const char* text :
       {"", "3", "-", "s", ".", "-.", ".s", "1d", "1 h", "3000000h", "9223372036854775808ns"})
    EXPECT_FALSE(ek::parse_duration(text)) << text;
}

TEST(Bytes, AreBase64OnTheWire) {
  const struct {
    const char *bytes, *text;
  } rows[] = {{"", ""},
              {"f", "Zg=="},
              {"fo", "Zm8="},
              {"foo", "Zm9v"},
              {"foob", "Zm9vYg=="},
              {"fooba", "Zm9vYmE="},
              {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : rows) {
    EXPECT_EQ(ek::Bytes(bytes).base64(), text);
    EXPECT_EQ(ek::Bytes::from_base64(text), ek::Bytes(bytes));
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(ek::Bytes::from_base64(ek::Bytes(all).base64()), ek::Bytes(all));
  EXPECT_EQ(ek::Bytes::from_base64("Zm9v\nYmFy\n"), ek::Bytes("foobar"));
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Z g=", "Zm9v-_==", "=Zg="})
    EXPECT_FALSE(ek::Bytes::from_base64(text)) << text;
}

TEST(Bytes, AreNotShownInErrors) {
  for (const char* text : {R"({"a":"hunter2!"})", R"({"a":12345})"}) {
    try {
      static_cast<void>(ek::from_json<std::map<std::string, ek::Bytes>>(text, "secrets/default/x"));
      ADD_FAILURE();
    } catch (const ek::DecodeError& error) {
      EXPECT_EQ(std::string(error.what()).find("secrets/default/x: a: expected base64, found "), 0U);
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find("12345"), std::string::npos);
    }
  }
}

TEST(IntOrString, ScalesPercentages) {
  using Round = ek::IntOrString::Round;
  EXPECT_EQ(ek::IntOrString(5).scaled(100, Round::up), 5);
  EXPECT_EQ(ek::IntOrString("25%").scaled(10, Round::up), 3);
  EXPECT_EQ(ek::IntOrString("25%").scaled(10, Round::down), 2);
  EXPECT_EQ(ek::IntOrString("100%").scaled(7, Round::down), 7);
  EXPECT_EQ(ek::IntOrString("http").scaled(7, Round::down), std::nullopt);
  EXPECT_EQ(ek::IntOrString("%").scaled(7, Round::down), std::nullopt);
  EXPECT_EQ(ek::to_json(std::vector<ek::IntOrString>{80, "http"}), R"([80,"http"])");
}

}  // namespace
