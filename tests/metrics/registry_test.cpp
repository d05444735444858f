// SPDX-License-Identifier: Apache-2.0
// A program's own metrics: registration, rejected input and error messages.
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>
#include <evenkeel/metrics/registry.hpp>
#include <evenkeel/metrics/text.hpp>

namespace evenkeel {
namespace {

std::string text_of(const MetricRegistry& registry) {
  PrometheusText text;
  registry.collect(text);
  return text.str();
}

/// Returns the error of the call; "" if there is none.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(MetricRegistry, GivesWhatIsCountedInTheOrderOfRegistration) {
  MetricRegistry registry;
  const Counter moves = registry.counter("demo_moves_total", "Moves.", {"from", "to"});
  const Gauge depth = registry.gauge("demo_depth", "How deep.");
  const Counter started = registry.counter("demo_started_total", "Starts.");
  moves.add(1, {{"from", "b"}, {"to", "c"}});
  moves.add(2, {{"to", "b"}, {"from", "a"}});
  moves.add(1, {{"from", "b"}, {"to", "c"}});
  depth.set(7);
  depth.add(-2.5);
  EXPECT_EQ(text_of(registry),
            "# HELP demo_moves_total Moves.\n"
            "# TYPE demo_moves_total counter\n"
            "demo_moves_total{from=\"a\",to=\"b\"} 2\n"
            "demo_moves_total{from=\"b\",to=\"c\"} 2\n"
            "# HELP demo_depth How deep.\n"
            "# TYPE demo_depth gauge\n"
            "demo_depth 4.5\n"
            "# HELP demo_started_total Starts.\n"
            "# TYPE demo_started_total counter\n"
            "demo_started_total 0\n");
  moves.remove({{"from", "a"}, {"to", "b"}});
  moves.remove({{"from", "never"}, {"to", "there"}});
  EXPECT_EQ(text_of(registry).find("from=\"a\""), std::string::npos);
  EXPECT_NE(text_of(registry).find("from=\"b\""), std::string::npos);
}

TEST(MetricRegistry, PutsABoundIntoItsOwnBucket) {
  MetricRegistry registry;
  const Histogram took = registry.histogram("demo_seconds", "Time.", {}, {0.5, 1});
  for (const double one : {0.25, 0.5, 1.0, 8.0}) took.observe(one);
  EXPECT_EQ(text_of(registry),
            "# HELP demo_seconds Time.\n"
            "# TYPE demo_seconds histogram\n"
            "demo_seconds_count 4\n"
            "demo_seconds_sum 9.75\n"
            "demo_seconds_bucket{le=\"0.5\"} 2\n"
            "demo_seconds_bucket{le=\"1\"} 3\n"
            "demo_seconds_bucket{le=\"+Inf\"} 4\n");
}

TEST(MetricRegistry, CallsRegisteredSources) {
  MetricRegistry registry;
  int held = 3;
  registry.add("locks", [&](MetricSink& sink) { sink.gauge("demo_locks", "Held.", {}, held); });
  EXPECT_NE(text_of(registry).find("demo_locks 3\n"), std::string::npos);
  held = 4;
  EXPECT_NE(text_of(registry).find("demo_locks 4\n"), std::string::npos);
}

TEST(MetricRegistry, NamesRefusedRegistrations) {
  MetricRegistry registry;
  const auto nothing = [](MetricSink&) {};
  registry.counter("demo_total", "help", {"zone"});
  registry.add("mine", nothing);
  const std::vector<std::pair<std::string, std::function<void()>>> table{
      {"demo_total is registered already", [&] { registry.counter("demo_total", "help", {"zone"}); }},
      {"demo_total is registered already", [&] { registry.gauge("demo_total", "other"); }},
      {"mine is registered already", [&] { registry.add("mine", nothing); }},
      {"a source needs a name and a function", [&] { registry.add("", nothing); }},
      {"a source needs a name and a function", [&] { registry.add("empty", nullptr); }},
      {"not a metric's name: \"demo-total\"", [&] { registry.counter("demo-total", "help"); }},
      {"not a metric's name: \"\"", [&] { registry.gauge("", "help"); }},
      {"workqueue_mine: the manager's own begin with workqueue_",
       [&] { registry.gauge("workqueue_mine", "help"); }},
      {"a: not a label's name: \"no-label\"", [&] { registry.gauge("a", "help", {"no-label"}); }},
      {"a: the label x is there twice",
       [&] {
         registry.gauge("a", "help", {"x", "x"});
       }},
      {"a: histograms have a label le already", [&] { registry.histogram("a", "help", {"le"}); }},
      {"a: a histogram needs bounds", [&] { registry.histogram("a", "help", {}, {}); }},
      {"a: bounds must be numbers that ascend", [&] {
         registry.histogram("a", "help", {}, {1, 1});
       }}};
  for (const auto& [why, call] : table) EXPECT_EQ(refusal(call), "MetricRegistry: " + why);
  // No part of it was registered.
  EXPECT_EQ(text_of(registry), "");
}

TEST(MetricRegistry, NamesMissingLabels) {
  MetricRegistry registry;
  const Counter moves = registry.counter("moves_total", "help", {"zone"});
  EXPECT_EQ(refusal([&] { moves.add(); }), "MetricRegistry: moves_total: the label zone is missing");
  EXPECT_EQ(refusal([&] {
              moves.add(1, {{"zone", "a"}, {"rack", "b"}});
            }),
            "MetricRegistry: moves_total: there are more labels than were registered");
  EXPECT_EQ(refusal([&] {
              moves.add(-1, {{"zone", "a"}});
            }),
            "MetricRegistry: moves_total: a counter only grows");
  EXPECT_EQ(text_of(registry), "");
}

TEST(MetricRegistry, NamesTheSourceThatFails) {
  MetricRegistry registry;
  registry.gauge("demo_depth", "How deep.");
  registry.add("disk", [](MetricSink&) { throw Error("cannot be read"); });
  try {
    text_of(registry);
    FAIL() << "it was collected";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the metrics of disk: cannot be read");
  }
}

TEST(MetricRegistry, NamesTheSourceThatRepeatsASeries) {
  MetricRegistry registry;
  registry.gauge("demo_depth", "How deep.", {"zone"}).set(1, {{"zone", "a"}});
  registry.add("again", [](MetricSink& sink) { sink.gauge("demo_depth", "How deep.", {{"zone", "a"}}, 2); });
  try {
    text_of(registry);
    FAIL() << "it was collected";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the metrics of again: PrometheusText: a series of demo_depth is there twice: zone=a");
  }
}

TEST(MetricRegistry, HandlesMayOutliveIt) {
  Counter kept = [] {
    MetricRegistry registry;
    return registry.counter("kept_total", "help");
  }();
  EXPECT_NO_THROW(kept.add());
  EXPECT_THROW(kept.add(-1), std::invalid_argument) << "it still knows its rules";
}

TEST(MetricRegistryConcurrency, CountsRegistersAndCollectsAtOnce) {
  MetricRegistry registry;
  const Counter moves = registry.counter("moves_total", "help", {"by"});
  const Histogram took = registry.histogram("took_seconds", "help");
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string name = std::to_string(thread % 2);
      for (int times = 0; times < 500; ++times) {
        moves.add(1, {{"by", name}});
        took.observe(0.001 * times);
        if (times % 100 == 0)
          registry.gauge("g" + std::to_string(thread) + "_" + std::to_string(times), "help").set(times);
        if (times % 50 == 0) {
          EXPECT_NE(text_of(registry), "");
        }
      }
    });
  }
  threads.clear();
  const std::string text = text_of(registry);
  for (const char* line : {"moves_total{by=\"0\"} 1000\n", "moves_total{by=\"1\"} 1000\n",
                           "took_seconds_count 2000\n", "g3_400 400\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
}

}  // namespace
}  // namespace evenkeel
