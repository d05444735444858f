// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/manager/log.hpp>

#include "../support/temporary_directory.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const WallTime noon = WallTime{} + std::chrono::sys_days{std::chrono::year{2026} / 1 / 2}.time_since_epoch() +
                      12h + 34min + 5s + 678901us;

std::string line(LogFormat format, std::initializer_list<LogField> bound,
                 std::initializer_list<LogField> fields, std::string_view message = "reconciling",
                 LogLevel level = LogLevel::info) {
  return format_log_line(format, noon, level, message, {bound.begin(), bound.size()},
                         {fields.begin(), fields.size()});
}

TEST(LogLine, TextIsOneLineThatPeopleRead) {
  EXPECT_EQ(line(LogFormat::text, {{"controller", "demo"}, {"object", "default/web"}}, {{"replicas", 3}}),
            "2026-01-02T12:34:05.678Z INFO  reconciling controller=demo object=default/web replicas=3");
  EXPECT_EQ(
      line(LogFormat::text, {}, {{"ok", true}, {"share", 0.5}, {"error", "two words"}}, "no", LogLevel::warn),
      R"(2026-01-02T12:34:05.678Z WARN  no ok=true share=0.5 error="two words")");
}

TEST(LogLine, TextQuotesWhatWouldBeMisread) {
  EXPECT_THAT(line(LogFormat::text, {}, {{"empty", ""}}), EndsWith(R"( empty="")"));
  EXPECT_THAT(line(LogFormat::text, {}, {{"e", "a=b"}}), EndsWith(R"( e="a=b")"));
  EXPECT_THAT(line(LogFormat::text, {}, {{"e", "first\nsecond \"x\""}}),
              EndsWith(R"( e="first\nsecond \"x\"")"));
  EXPECT_THAT(line(LogFormat::text, {}, {}, "two\nlines"), EndsWith(R"( two\nlines)"));
}

TEST(LogLine, ShowsWhatATerminalWouldObey) {
  const char* text = "\x1b]0;x\x07\u009b31m\u202eabc\u2028\x7f";
  EXPECT_THAT(line(LogFormat::text, {}, {}, text),
              EndsWith(R"( INFO  \x1b]0;x\x07\u009b31m\u202eabc\u2028\x7f)"));
  EXPECT_THAT(line(LogFormat::text, {}, {{"e", text}}),
              EndsWith(R"( e="\u001b]0;x\u0007\u009b31m\u202eabc\u2028\u007f")"));
  EXPECT_THAT(line(LogFormat::text, {}, {{text, 1}}),
              EndsWith(R"( \x1b]0;x\x07\u009b31m\u202eabc\u2028\x7f=1)"));
  const std::string json = line(LogFormat::json, {}, {{"e", text}}, text);
  EXPECT_THAT(json, HasSubstr(R"("msg":"\u001b]0;x\u0007\u009b31m\u202eabc\u2028\u007f")"));
  EXPECT_THAT(json, EndsWith(R"("e":"\u001b]0;x\u0007\u009b31m\u202eabc\u2028\u007f"})"));
  EXPECT_EQ(Json::parse(json)["e"].as_string(), text);
}

TEST(LogLine, AMessageAndAValueAreBounded) {
  const std::string long_text(5'000'000, 'x');
  const std::string cut = std::string(16384, 'x') + "... (5000000 bytes)";
  for (const LogFormat format : {LogFormat::text, LogFormat::json}) {
    EXPECT_THAT(line(format, {}, {{"e", long_text}}), HasSubstr("\"" + cut + "\""));
    EXPECT_THAT(line(format, {}, {}, long_text), HasSubstr(cut));
    EXPECT_LT(line(format, {}, {{"e", std::string(5'000'000, '\\')}}).size(), 33'000U);
    EXPECT_LT(line(format, {}, {{"e", std::string(5'000'000, '\x1b')}}).size(), 99'000U);
  }
}

TEST(LogLine, JsonIsADocumentWithTimeLevelAndMessageFirst) {
  const std::string text =
      line(LogFormat::json, {{"controller", "demo"}}, {{"n", -7}, {"ok", false}, {"x", 1.25}});
  EXPECT_EQ(text,
            R"({"ts":"2026-01-02T12:34:05.678901Z","level":"info","msg":"reconciling","controller":"demo",)"
            R"("n":-7,"ok":false,"x":1.25})");
  EXPECT_EQ(Json::parse(text)["n"].as_integer(), -7);
}

TEST(LogLine, JsonStaysWellFormedWhateverIsLogged) {
  const std::string text = line(LogFormat::json, {},
                                {{"control", std::string_view("\x01\x1f\x7f", 3)},
                                 {"broken", "ok\xC3(\xE2\x82"},
                                 {"good", "gr\xC3\xBC\xC3\x9F \xF0\x9F\x9A\xA2"},
                                 {"nan", std::numeric_limits<double>::quiet_NaN()},
                                 {"inf", -std::numeric_limits<double>::infinity()}});
  const Json document = Json::parse(text);
  EXPECT_EQ(document["control"].as_string(), "\x01\x1f\x7f");
  EXPECT_EQ(document["broken"].as_string(), "ok\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(document["good"].as_string(), "gr\xC3\xBC\xC3\x9F \xF0\x9F\x9A\xA2");
  EXPECT_EQ(document["nan"].as_string(), "nan");
  EXPECT_EQ(document["inf"].as_string(), "-inf");
}

TEST(LogLine, AKeySaidTwiceKeepsTheLastValueOnly) {
  EXPECT_EQ(line(LogFormat::json, {{"a", 1}, {"b", 2}, {"a", 3}}, {{"b", 4}, {"c", 5}, {"c", 6}}),
            R"({"ts":"2026-01-02T12:34:05.678901Z","level":"info","msg":"reconciling","a":3,"b":4,"c":6})");
}

TEST(StandardLog, WritesWhatPassesTheLevelWhichMayChange) {
  std::vector<std::string> lines;
  const auto sink =
      make_log({.level = LogLevel::warn, .writer = [&](std::string_view text) { lines.emplace_back(text); }});
  const Log log(sink);
  log.info("dropped");
  log.warn("kept");
  sink->set_level(LogLevel::debug);
  log.debug("kept too");
  sink->set_level(LogLevel::off);
  log.error("silenced");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], MatchesRegex(".*Z WARN  kept"));
  EXPECT_THAT(lines[1], MatchesRegex(".*Z DEBUG kept too"));
}

TEST(StandardLog, AppendsToAFileAndNamesOneThatCannotBeOpened) {
  const tests::TemporaryDirectory folder;
  const std::string path = folder.path / "log";
  for (const char* text : {"first", "second"}) {
    Log(make_log({.format = LogFormat::json, .file = path})).with({{"n", 1}}).info(text);
  }
  std::ifstream file(path);
  std::vector<std::string> messages;
  for (std::string text; std::getline(file, text);) messages.push_back(Json::parse(text)["msg"].as_string());
  EXPECT_THAT(messages, ElementsAre("first", "second"));
  try {
    make_log({.file = "/proc/no/such/place.log"});
    FAIL() << "a file that cannot be opened was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/proc/no/such/place.log"));
  }
}

TEST(StandardLogConcurrency, LinesOfManyThreadsStayWhole) {
  Mutex mutex;
  std::size_t whole = 0;
  const auto sink = make_log({.format = LogFormat::json, .writer = [&](std::string_view text) {
                                const Json document = Json::parse(text);
                                MutexLock lock(mutex);
                                whole += document["msg"].as_string() == "line" ? 1 : 0;
                              }});
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&sink, t] {
        const Log log = Log(sink).with({{"thread", t}});
        for (int i = 0; i < 500; ++i) log.info("line", {{"i", i}});
      });
    }
  }
  EXPECT_EQ(whole, 2000U);
}

}  // namespace
}  // namespace evenkeel
