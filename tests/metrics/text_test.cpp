// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(PrometheusText, WritesEachFamilyOnceWithAllItsSeries) {
  PrometheusText text;
  text.gauge("depth", "How many.", {{"name", "a"}}, 3);
  text.counter("adds_total", "Adds.", {}, 7);
  text.gauge("depth", "How many.", {{"name", "b"}}, 0.25);
  EXPECT_EQ(text.str(),
            "# HELP depth How many.\n"
            "# TYPE depth gauge\n"
            "depth{name=\"a\"} 3\n"
            "depth{name=\"b\"} 0.25\n"
            "# HELP adds_total Adds.\n"
            "# TYPE adds_total counter\n"
            "adds_total 7\n");
}

TEST(PrometheusText, WritesHistogramsCumulatively) {
  PrometheusText text;
  const std::array<double, 2> bounds{0.5, 1};
  const std::array<std::uint64_t, 3> counts{1, 2, 4};
  const HistogramView view{
      .bounds = bounds.data(), .counts = counts.data(), .size = bounds.size(), .sum = 9.5};
  text.histogram("seconds", "Time.", {{"name", "a"}}, view);
  EXPECT_EQ(text.str(),
            "# HELP seconds Time.\n"
            "# TYPE seconds histogram\n"
            "seconds_count{name=\"a\"} 7\n"
            "seconds_sum{name=\"a\"} 9.5\n"
            "seconds_bucket{name=\"a\",le=\"0.5\"} 1\n"
            "seconds_bucket{name=\"a\",le=\"1\"} 3\n"
            "seconds_bucket{name=\"a\",le=\"+Inf\"} 7\n");
}

TEST(PrometheusText, EscapesWhatIsInALabel) {
  PrometheusText text;
  text.gauge("g", "h", {{"l", "a\"b\\c\nd"}}, 1);
  EXPECT_NE(text.str().find("g{l=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos);
}

// Regression: Prometheus rejects a page with a byte that is not UTF-8.
TEST(PrometheusText, ReplacesWhatIsNotUtf8) {
  PrometheusText text;
  text.gauge("g", "h\xff", {{"l", "a\xff\xc3\xa9\xe2\x82 \xf0\x9f\x98\x80\xc3"}}, 1);
  EXPECT_EQ(text.str(),
            "# HELP g h\xef\xbf\xbd\n"
            "# TYPE g gauge\n"
            "g{l=\"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd \xf0\x9f\x98\x80\xef\xbf\xbd\"} 1\n");
}

// The numbers of prometheus-cpp 1.0: sixteen digits in the C locale.
TEST(PrometheusText, WritesNumbersInSixteenDigits) {
  const auto written = [](double value) {
    PrometheusText text;
    text.gauge("n", "", {}, value);
    std::string all = text.str();
    return all.substr(all.find("\nn ") + 3);
  };
  EXPECT_EQ(written(0.1), "0.1\n");
  EXPECT_EQ(written(0.1 + 0.2), "0.3\n");
  EXPECT_EQ(written(0.1 + 0.7), "0.7999999999999999\n");
  EXPECT_EQ(written(1e15), "1000000000000000\n");
  EXPECT_EQ(written(1e16), "1e+16\n");
  EXPECT_EQ(written(1.5e300), "1.5e+300\n");
  EXPECT_EQ(written(-0.0), "-0\n");
  EXPECT_EQ(written(1e-5), "1e-05\n");
  EXPECT_EQ(written(123456789.123456789), "123456789.1234568\n");
  EXPECT_EQ(written(static_cast<double>(UINT64_MAX)), "1.844674407370955e+19\n");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "+Inf\n");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), "-Inf\n");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "Nan\n");
}

// A line break in a help text would end the comment, and the rest would be read as a sample.
TEST(PrometheusText, EscapesWhatIsInAHelpText) {
  PrometheusText text;
  text.counter("c", "a \"b\"\\\nc", {}, 1);
  EXPECT_EQ(text.str(), "# HELP c a \"b\"\\\\\\nc\n# TYPE c counter\nc 1\n");
}

TEST(PrometheusText, ChecksNames) {
  for (const char* name : {"", "__a", "9a", "a b", "\xC3\xA4", "a-b"})
    EXPECT_THROW(PrometheusText().gauge(name, "", {}, 1), std::invalid_argument) << name;
  for (const char* name : {"", "__a", "9a", "a b", "a:b"})
    EXPECT_THROW(PrometheusText().gauge("g", "", {{name, "x"}}, 1), std::invalid_argument) << name;
  for (const char* name : {"a", "_a", ":a", "a:b", "a9", "_"})
    EXPECT_NO_THROW(PrometheusText().gauge(name, "", {}, 1)) << name;
}

TEST(PrometheusText, RefusesWhatPrometheusWouldNotTake) {
  PrometheusText text;
  text.gauge("known", "help", {}, 1);
  EXPECT_THROW(text.gauge("no-name", "help", {}, 1), std::invalid_argument);
  EXPECT_THROW(text.gauge("g", "help", {{"no-label", "x"}}, 1), std::invalid_argument);
  EXPECT_THROW(text.counter("known", "help", {}, 1), std::invalid_argument);
  EXPECT_THROW(text.gauge("known", "other help", {}, 1), std::invalid_argument);
  EXPECT_THROW(text.gauge("known", "help", {}, 2), std::invalid_argument);
  EXPECT_EQ(text.str(), "# HELP known help\n# TYPE known gauge\nknown 1\n");
}

TEST(PrometheusText, IsEmptyIfNothingWasCollected) {
  EXPECT_EQ(PrometheusText().str(), "");
}

TEST(PrometheusText, ShowsQueuesUnderTheNamesOfClientGo) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string> pods({.name = "pods", .clock = clock});
  WorkQueue<std::string> nodes({.name = "nodes", .clock = clock});
  pods.add("default/web");
  clock->advance(50us);
  const auto held = pods.get();
  clock->advance(2s);
  PrometheusText text;
  pods.collect(text);
  nodes.collect(text);
  const std::string page = text.str();
  for (const char* line :
       {"# TYPE workqueue_depth gauge\n",
        "workqueue_depth{name=\"pods\",controller=\"pods\",priority=\"0\"} 0\n",
        "# TYPE workqueue_adds_total counter\n",
        "workqueue_adds_total{name=\"pods\",controller=\"pods\"} 1\n",
        "workqueue_adds_total{name=\"nodes\",controller=\"nodes\"} 0\n",
        "# HELP workqueue_queue_duration_seconds How long in seconds an item stays in workqueue before being "
        "requested\n",
        "# TYPE workqueue_queue_duration_seconds histogram\n",
        "workqueue_queue_duration_seconds_bucket{name=\"pods\",controller=\"pods\",le=\"0.0001\"} 1\n",
        "workqueue_work_duration_seconds_count{name=\"pods\",controller=\"pods\"} 0\n",
        "workqueue_unfinished_work_seconds{name=\"pods\",controller=\"pods\"} 2\n",
        "workqueue_longest_running_processor_seconds{name=\"pods\",controller=\"pods\"} 2\n",
        "workqueue_retries_total{name=\"pods\",controller=\"pods\"} 0\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "is not in\n" << page;
  }
}

}  // namespace
}  // namespace evenkeel
