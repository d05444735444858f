// SPDX-License-Identifier: Apache-2.0
#include "manager/settings_file.hpp"

#include <chrono>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/repository.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::parse_settings;
using detail::read_settings;
using detail::SettingsError;
using ::testing::StartsWith;

TEST(SettingsFile, ReadsEverySetting) {
  const auto source = parse_settings(R"(# For the big cluster.
defaults:
  workers: 2
controllers:
  demo:
    workers: 4
    rateLimiter: max_of(exponential(5ms, 1000s), token_bucket(10, 100))
    reconcileTimeout: 30s
    eventGate: off
    store: two-lane
    debounce: {quiet: 100ms, maxWait: 1s}
    minInterval: 1.5s
    requeuePriority: slow
    stuckAfter: 5m
    onStuck: report
    flightRecorder: 64Ki
  other: {workers: "8"}
)",
                                     "operator.yaml");
  EXPECT_EQ(source.defaults.workers, 2U);
  EXPECT_FALSE(source.defaults.rate_limiter);
  ASSERT_EQ(source.controllers.size(), 2U);
  const auto& demo = source.controllers.at("demo");
  EXPECT_EQ(demo.where, "operator.yaml:5: controllers.demo");
  EXPECT_EQ(demo.settings.workers, 4U);
  EXPECT_EQ(demo.settings.rate_limiter->text(), "max_of(exponential(5ms, 1000s), token_bucket(10, 100))");
  EXPECT_EQ(demo.settings.reconcile_timeout, 30s);
  EXPECT_EQ(demo.settings.event_gate, EventGate::off);
  EXPECT_EQ(demo.settings.store, "two-lane");
  EXPECT_EQ(demo.settings.debounce->quiet, 100ms);
  EXPECT_EQ(demo.settings.debounce->max_wait, 1s);
  EXPECT_EQ(demo.settings.min_interval, 1500ms);
  EXPECT_EQ(demo.settings.requeue_priority, Lane::slow);
  EXPECT_EQ(demo.settings.stuck_after, 5min);
  EXPECT_EQ(demo.settings.on_stuck, OnStuck::report);
  EXPECT_EQ(demo.settings.flight_recorder, 65536U);
  EXPECT_EQ(source.controllers.at("other").settings.workers, 8U);
}

// The example in the documentation is valid and contains all settings.
TEST(SettingsFile, OfTheDocumentationIsReadWhole) {
  const std::string text = tests::read_repository_file("docs/flags.md");
  const std::size_t begin = text.find("```yaml\n") + 8;
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  const auto source = parse_settings(example, "docs/flags.md");
  const auto& endpoint = source.endpoint;
  EXPECT_TRUE(endpoint.metrics_address && endpoint.metrics_cert_file && endpoint.metrics_key_file &&
              endpoint.metrics_token_file && endpoint.probe_address && endpoint.explanations &&
              endpoint.access_reviews && endpoint.console)
      << example;
  const auto settings = source.controllers.at("demo").settings;
  EXPECT_TRUE(settings.workers && settings.rate_limiter && settings.reconcile_timeout &&
              settings.event_gate && settings.store && settings.debounce && settings.min_interval &&
              settings.requeue_priority && settings.stuck_after && settings.on_stuck &&
              settings.flight_recorder)
      << example;
}

TEST(SettingsFile, ReadsTheEndpoint) {
  const auto endpoint = parse_settings(R"(endpoint:
  metricsBindAddress: ":8080"
  metricsTokenFile: /token
  healthProbeBindAddress: "0"
)",
                                       "f")
                            .endpoint;
  EXPECT_EQ(endpoint.metrics_address, ":8080");
  EXPECT_EQ(endpoint.metrics_token_file, "/token");
  EXPECT_EQ(endpoint.probe_address, "0");
  EXPECT_FALSE(endpoint.metrics_cert_file);
  try {
    parse_settings("endpoint:\n  metricsBindAddress: 8080\n", "f");
    FAIL() << "taken";
  } catch (const SettingsError& error) {
    EXPECT_THAT(error.what(),
                StartsWith("f:2: endpoint.metricsBindAddress: \"8080\" is not an address such as :8080"));
  }
}

TEST(SettingsFile, MayBeEmpty) {
  for (const char* text :
       {"", "# nothing\n", "---\n", "defaults:\n", "controllers:\n", "controllers: {demo: }\n"}) {
    EXPECT_FALSE(parse_settings(text, "f").defaults.workers) << text;
  }
}

struct WrongFile {
  const char* text;
  const char* says;
};

TEST(SettingsFile, NamesFileLineControllerAndFieldOfWhatIsWrong) {
  const std::vector<WrongFile> all = {
      {"controllers:\n  demo:\n    workers: none\n",
       "f.yaml:3: controllers.demo.workers: \"none\" is not a number from 1 to 4096"},
      {"controllers:\n  demo:\n    workers: [4]\n",
       "f.yaml:3: controllers.demo.workers: expected text, found a list"},
      {"controllers:\n  demo:\n    workers:\n",
       "f.yaml:3: controllers.demo.workers: expected text, found nothing"},
      {"controllers:\n  demo:\n    rateLimiter: exponential(soon, 1s)\n",
       "f.yaml:3: controllers.demo.rateLimiter: limiter, column 13: found \"soon\", expected a duration"},
      {"defaults:\n  reconcileTimeout: soon\n",
       "f.yaml:2: defaults.reconcileTimeout: \"soon\" is not a duration"},
      {"defaults:\n  eventGate: maybe\n", "f.yaml:2: defaults.eventGate: \"maybe\" is neither on nor off"},
      {"defaults:\n  store: lifo\n", "f.yaml:2: defaults.store: \"lifo\" is none of"},
      {"defaults:\n  debounce: 1s\n", "f.yaml:2: defaults.debounce: expected a map, found text"},
      {"defaults:\n  debounce:\n    quiet: 1\n",
       "f.yaml:3: defaults.debounce.quiet: \"1\" is not a duration"},
      {"defaults:\n  debounce: {quiet: 2s, maxWait: 1s}\n",
       "f.yaml:2: defaults.debounce: maxWait must be at least quiet"},
      {"defaults:\n  minInterval: -1s\n", "f.yaml:2: defaults.minInterval: \"-1s\" is not a duration"},
      {"defaults:\n  requeuePriority: low\n",
       "f.yaml:2: defaults.requeuePriority: \"low\" is neither fast nor slow"},
      {"defaults:\n  stuckAfter: 0s\n", "f.yaml:2: defaults.stuckAfter: \"0s\" is not more than 0"},
      {"defaults:\n  onStuck: panic\n",
       "f.yaml:2: defaults.onStuck: \"panic\" is neither failLiveness nor report"},
      {"defaults:\n  flightRecorder: 2Gi\n",
       "f.yaml:2: defaults.flightRecorder: \"2Gi\" is not a size from 0 to 1Gi"},
      {"defaults:\n  flightRecorder: much\n",
       "f.yaml:2: defaults.flightRecorder: \"much\" is not a size from 0 to 1Gi"},
      {"controllers:\n  demo:\n    wrokers: 4\n",
       "f.yaml:3: controllers.demo.wrokers: there is no such setting; there are: workers, rateLimiter, "
       "reconcileTimeout, eventGate, store, debounce, minInterval, requeuePriority, stuckAfter, onStuck, "
       "flightRecorder"},
      {"controler:\n  demo: {}\n",
       "f.yaml:1: controler: there is no such setting; there are: defaults, controllers"},
      {"controllers:\n  demo: {workers: 1}\n  demo: {workers: 2}\n",
       "f.yaml:3: controllers.demo: is given twice"},
      {"defaults:\n  workers: 1\n  workers: 1\n", "f.yaml:3: defaults.workers: is given twice"},
      {"controllers: [demo]\n", "f.yaml:1: controllers: expected a map, found a list"},
      {"controllers: {[1]: {}}\n", "f.yaml:1: controllers: expected a name, found a list"},
      {"just text\n", "f.yaml:1: expected a map, found text"},
      {"a: {\n", "f.yaml:2: "},
      {"a: 1\n---\nb: 2\n", "f.yaml:3: a second document; expected one"},
      {",", "f.yaml:1: the text after this position cannot be parsed"},
      {", defaults: {}", "f.yaml:1: the text after this position cannot be parsed"},
      {"--- ,\n---\n", "f.yaml:1: the text after this position cannot be parsed"},
  };
  for (const WrongFile& wrong : all) {
    try {
      parse_settings(wrong.text, "f.yaml");
      ADD_FAILURE() << "taken: " << wrong.text;
    } catch (const SettingsError& error) {
      EXPECT_THAT(error.what(), StartsWith(wrong.says));
    }
  }
}

TEST(SettingsFile, ThatCannotBeReadIsNamedWithTheReason) {
  const auto problem = [](const std::string& path) -> std::string {
    try {
      read_settings(path);
    } catch (const SettingsError& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_EQ(problem("/nonexistent/operator.yaml"),
            "/nonexistent/operator.yaml cannot be read: No such file or directory");
  EXPECT_EQ(problem("/"), "/ cannot be read: Is a directory");
}

TEST(SettingsFile, IsReadFromDisk) {
  const std::string path = ::testing::TempDir() + "evenkeel_settings_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << "defaults: {workers: 3}\n";
  EXPECT_EQ(read_settings(path).defaults.workers, 3U);
}

}  // namespace
}  // namespace evenkeel
