// SPDX-License-Identifier: Apache-2.0
#include "manager/flags.hpp"

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/repository.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

detail::FlagsOutcome parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv = {"/bin/demo-operator"};
  argv.insert(argv.end(), arguments);
  return detail::parse_flags(
      static_cast<int>(argv.size()), argv.data(),
      {.name = "demo-operator", .version = "1.2.3", .description = "Reconciles Demos."});
}

TEST(Flags, AllMayBeLeftOut) {
  const auto outcome = parse({});
  EXPECT_FALSE(outcome.exit_code);
  EXPECT_EQ(outcome.flags.kubeconfig, "");
  EXPECT_EQ(outcome.flags.kube_api_qps, 0);
  EXPECT_EQ(outcome.flags.config, "");
  EXPECT_FALSE(outcome.flags.settings.defaults.workers);
  EXPECT_TRUE(outcome.flags.settings.controllers.empty());
  EXPECT_EQ(outcome.flags.log_level, LogLevel::info);
  EXPECT_EQ(outcome.flags.log_format, LogFormat::text);
  EXPECT_TRUE(outcome.flags.streaming_lists);
  EXPECT_FALSE(outcome.flags.print_crds);
}

TEST(Flags, EachIsRead) {
  const auto outcome = parse({"--kubeconfig",
                              "k.yaml",
                              "--context=c",
                              "--namespace",
                              "ns",
                              "--kube-api-qps",
                              "2.5",
                              "--kube-api-burst=4",
                              "--streaming-lists=false",
                              "--workers",
                              "8",
                              "--log-level=debug",
                              "--log-format",
                              "json",
                              "--log-file=l.log",
                              "--grace-period",
                              "1m30s",
                              "--sync-timeout=500ms",
                              "--reconcile-timeout",
                              "2h",
                              "--config",
                              "op.yaml",
                              "--rate-limiter",
                              "exponential(1s, 60s)",
                              "--requeue-priority=slow",
                              "--otlp-endpoint",
                              "http://collector:4318",
                              "--trace-ratio=0.1",
                              "--print-crds"});
  ASSERT_FALSE(outcome.exit_code) << outcome.text;
  EXPECT_EQ(outcome.flags.kubeconfig, "k.yaml");
  EXPECT_EQ(outcome.flags.context, "c");
  EXPECT_EQ(outcome.flags.namespace_, "ns");
  EXPECT_EQ(outcome.flags.kube_api_qps, 2.5);
  EXPECT_EQ(outcome.flags.kube_api_burst, 4);
  EXPECT_EQ(outcome.flags.otlp_endpoint, "http://collector:4318");
  EXPECT_EQ(outcome.flags.trace_ratio, 0.1);
  EXPECT_FALSE(outcome.flags.streaming_lists);
  EXPECT_EQ(outcome.flags.config, "op.yaml");
  EXPECT_EQ(outcome.flags.settings.defaults.workers, 8U);
  EXPECT_EQ(outcome.flags.settings.defaults.rate_limiter->text(), "exponential(1s, 60s)");
  EXPECT_EQ(outcome.flags.settings.defaults.requeue_priority, Lane::slow);
  EXPECT_EQ(outcome.flags.log_level, LogLevel::debug);
  EXPECT_EQ(outcome.flags.log_format, LogFormat::json);
  EXPECT_EQ(outcome.flags.log_file, "l.log");
  EXPECT_EQ(outcome.flags.grace_period, 90s);
  EXPECT_EQ(outcome.flags.sync_timeout, 500ms);
  EXPECT_EQ(outcome.flags.settings.defaults.reconcile_timeout, 2h);
  EXPECT_TRUE(outcome.flags.print_crds);
}

TEST(Flags, TheDivisionOfTheKeysIsAWord) {
  EXPECT_EQ(parse({"--shards"}).flags.shards.by, std::nullopt);
  EXPECT_EQ(parse({"--shards", "--shards-by=object"}).flags.shards.by, ShardBy::object);
  EXPECT_EQ(parse({"--shards", "--shards-by=namespace"}).flags.shards.by, ShardBy::namespace_);
  EXPECT_EQ(parse({"--shards", "--shards-by=namespace-range"}).flags.shards.by, ShardBy::namespace_range);
  const auto wrong = parse({"--shards", "--shards-by=name"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.text, HasSubstr("--shards-by: \"name\" is none of namespace, namespace-range, object"));
  EXPECT_EQ(parse({"--shards-by=object"}).exit_code, 2) << "without --shards it has no effect";
}

TEST(Flags, TheEndpointIsOffUnlessAskedFor) {
  const detail::EndpointSettings none = parse({}).flags.settings.endpoint;
  EXPECT_FALSE(none.metrics_address || none.probe_address || none.metrics_cert_file ||
               none.metrics_token_file || none.explanations || none.access_reviews || none.console);
  const auto outcome =
      parse({"--metrics-bind-address=:8080", "--metrics-cert-file", "c", "--metrics-key-file", "k",
             "--metrics-token-file=t", "--health-probe-bind-address", "0", "--debug-endpoints",
             "--metrics-access-reviews", "--console"});
  ASSERT_FALSE(outcome.exit_code) << outcome.text;
  const detail::EndpointSettings& given = outcome.flags.settings.endpoint;
  EXPECT_EQ(given.metrics_address, ":8080");
  EXPECT_EQ(given.metrics_cert_file, "c");
  EXPECT_EQ(given.metrics_key_file, "k");
  EXPECT_EQ(given.metrics_token_file, "t");
  EXPECT_EQ(given.probe_address, "0");
  EXPECT_EQ(given.explanations, Explanations::on);
  EXPECT_EQ(given.access_reviews, AccessReviews::on);
  EXPECT_EQ(given.console, Console::on);
}

TEST(Flags, AnAddressThatIsNoneIsRefused) {
  const auto outcome = parse({"--metrics-bind-address", "8080"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text,
              HasSubstr("--metrics-bind-address: \"8080\" is not an address such as :8080, 127.0.0.1:8080, "
                        "[::1]:8080 or localhost:8080"));
}

TEST(Flags, SettingsOfOneControllerCarryItsName) {
  const auto outcome = parse({"--workers", "demo=4", "--workers", "2", "--workers=other=8", "--rate-limiter",
                              "demo=max_of(exponential(5ms, 1000s), token_bucket(10, 100))",
                              "--reconcile-timeout=demo=1m30s", "--requeue-priority=demo=fast"});
  ASSERT_FALSE(outcome.exit_code) << outcome.text;
  const auto& settings = outcome.flags.settings;
  EXPECT_EQ(settings.defaults.workers, 2U);
  ASSERT_EQ(settings.controllers.size(), 2U);
  EXPECT_EQ(settings.controllers.at("demo").settings.workers, 4U);
  EXPECT_EQ(settings.controllers.at("demo").settings.rate_limiter->text(),
            "max_of(exponential(5ms, 1000s), token_bucket(10, 100))");
  EXPECT_EQ(settings.controllers.at("demo").settings.reconcile_timeout, 90s);
  EXPECT_EQ(settings.controllers.at("demo").settings.requeue_priority, Lane::fast);
  EXPECT_EQ(settings.controllers.at("other").settings.workers, 8U);
  EXPECT_FALSE(settings.controllers.at("other").settings.rate_limiter);
}

TEST(Flags, ASettingTakesOneValueAtATime) {
  EXPECT_EQ(parse({"--workers", "4", "5"}).exit_code, 2);
}

TEST(Flags, HelpAndVersionEndWithCodeZero) {
  EXPECT_EQ(parse({"--version"}).exit_code, 0);
  EXPECT_EQ(parse({"--version"}).text, "demo-operator 1.2.3\n");
  EXPECT_EQ(parse({"--help"}).exit_code, 0);
  EXPECT_THAT(parse({"-h"}).text, HasSubstr("Reconciles Demos."));
}

struct Wrong {
  std::vector<const char*> arguments;
  const char* says;
};

TEST(Flags, AWrongOneEndsWithCodeTwoAndIsNamed) {
  const std::vector<Wrong> all = {
      {{"--colour"}, "--colour"},
      {{"stray"}, "stray"},
      {{"--kubeconfig"}, "--kubeconfig"},
      {{"--kube-api-qps", "0"}, "--kube-api-qps"},
      {{"--kube-api-qps", "many"}, "--kube-api-qps"},
      {{"--kube-api-burst", "5"}, "--kube-api-burst requires --kube-api-qps"},
      {{"--trace-ratio", "0.5"}, "--trace-ratio requires --otlp-endpoint"},
      {{"--otlp-endpoint", "http://c:4318", "--trace-ratio", "2"}, "--trace-ratio"},
      {{"--workers", "0"}, "--workers: \"0\" is not a number from 1 to 4096"},
      {{"--workers", "4097"}, "\"4097\""},
      {{"--workers", "two"}, "\"two\""},
      {{"--workers", "3x"}, "\"3x\""},
      {{"--workers", "demo="}, "\"\" is not a number from 1 to 4096"},
      {{"--workers", "=4"}, "--workers: \"=4\" names no controller before the ="},
      {{"--workers", "4", "--workers", "5"}, "--workers: was given twice for all controllers"},
      {{"--workers", "demo=4", "--workers", "demo=4"}, "--workers: was given twice for demo"},
      {{"--rate-limiter", "demo=exponential(soon, 1s)"},
       "--rate-limiter: limiter, column 13: found \"soon\""},
      {{"--rate-limiter", "exponential(1s, 1ms)"}, "--rate-limiter: limiter, column 1: "},
      {{"--requeue-priority", "-100"}, "--requeue-priority: \"-100\" is neither fast nor slow"},
      {{"--log-level", "loud"}, "--log-level: \"loud\" is none of debug, error, info, off, warn"},
      {{"--log-format", "xml"}, "--log-format: \"xml\" is none of json, text"},
      {{"--grace-period", "soon"}, "--grace-period: \"soon\" is not a duration"},
      {{"--sync-timeout", "10"}, "--sync-timeout: \"10\" is not a duration"},
      {{"--reconcile-timeout", "-1s"}, "--reconcile-timeout"},
  };
  for (const Wrong& wrong : all) {
    std::vector<const char*> argv = {"x"};
    argv.insert(argv.end(), wrong.arguments.begin(), wrong.arguments.end());
    const auto outcome = detail::parse_flags(static_cast<int>(argv.size()), argv.data(), {.name = "demo"});
    EXPECT_EQ(outcome.exit_code, 2) << wrong.says;
    EXPECT_THAT(outcome.text, HasSubstr(wrong.says));
    EXPECT_THAT(outcome.text, HasSubstr("See demo --help."));
  }
}

// The table for users must list exactly the existing flags.
TEST(Flags, TheTableInTheDocumentationListsExactlyTheFlagsOfHelp) {
  const std::string table = tests::read_repository_file("docs/flags.md");
  const std::string help = parse({"--help"}).text;
  const auto flags_of = [](const std::string& text, const std::string& before) {
    std::vector<std::string> flags;
    for (std::size_t at = text.find(before + "--"); at != std::string::npos;
         at = text.find(before + "--", at + 1)) {
      const std::size_t begin = at + before.size();
      flags.push_back(
          text.substr(begin, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", begin) - begin));
    }
    return flags;
  };
  std::vector<std::string> in_help = flags_of(help, "  ");
  in_help.push_back("--help");  // printed as -h,--help
  EXPECT_THAT(flags_of(table, "| `"), ::testing::UnorderedElementsAreArray(in_help));
}

}  // namespace
}  // namespace evenkeel
