// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::coordination {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Pair;

/// Series by their text: name{label="value",...}.
class Series final : public MetricSink {
 public:
  void counter(std::string_view name, std::string_view, MetricLabels labels, double value) override {
    add(name, labels, value);
  }
  void gauge(std::string_view name, std::string_view, MetricLabels labels, double value) override {
    add(name, labels, value);
  }
  void histogram(std::string_view, std::string_view, MetricLabels, const HistogramView&) override {
    FAIL() << "there is none";
  }
  std::map<std::string, double> all;

 private:
  void add(std::string_view name, MetricLabels labels, double value) {
    constexpr std::string_view prefix = "evenkeel_coordination_";
    ASSERT_TRUE(name.starts_with(prefix)) << name;
    std::string text(name.substr(prefix.size()));
    for (const MetricLabel& label : labels) {
      if (label.name == "domain") {
        EXPECT_EQ(label.value, "/db");
      } else {
        text += " " + std::string(label.value);
      }
    }
    EXPECT_TRUE(all.emplace(text, value).second) << text << " is listed twice";
  }
};

TEST(MeteredStore, CountsWhatIsAskedAndHowItEnds) {
  auto faulty = std::make_shared<testing::FaultyStore>(std::make_shared<MemoryStore>());
  MeteredStore store(faulty);
  const auto put = [&] { return store.commit({.puts = {{"key", "value"}}}); };
  put();
  faulty->script(
      {testing::StoreFault::conflict, testing::StoreFault::unknown_lost, testing::StoreFault::unavailable});
  for (int times = 0; times < 3; ++times) put();
  const auto snapshot = store.snapshot();
  EXPECT_TRUE(snapshot->get("key"));
  EXPECT_FALSE(snapshot->get("other"));
  EXPECT_EQ(snapshot->scan_all(prefix_range("k")).size(), 1U);
  faulty->set_cut(true);
  EXPECT_THROW(store.snapshot(), StoreUnavailable);
  EXPECT_THROW(snapshot->get("key"), StoreUnavailable);

  const StoreFigures wanted{.snapshots = 1,
                            .reads = 3,
                            .read_bytes = 16,
                            .failed_reads = 2,
                            .written_bytes = 8,
                            .committed = 1,
                            .conflicts = 1,
                            .unknowns = 1,
                            .unavailable = 1};
  EXPECT_EQ(store.figures(), wanted);
  Series series;
  collect(store.figures(), "/db", series);
  EXPECT_THAT(series.all, AllOf(Contains(Pair("store_commits_total conflict", 1.0)),
                                Contains(Pair("store_commits_total committed", 1.0)),
                                Contains(Pair("store_read_bytes_total", 16.0))));
  EXPECT_THROW(MeteredStore(nullptr), std::invalid_argument);
}

TEST(CoordinationMeter, ShowsTheLastView) {
  CoordinationMeter meter("/db");
  const TimePoint now(seconds{100});
  View view{.action = "restart"};
  view.pending = {{.ref = {"dc1", "a"}, .seen = now - seconds{40}},
                  {.ref = {"dc1", "b"}, .seen = now - seconds{7}}};
  view.ready = {{.ref = {"dc1", "a"}, .seen = now - seconds{30}}};
  view.instances = {{.scope = "dc1", .record = {.mode = Mode::global}, .presence = Presence::live},
                    {.scope = "dc2", .record = {.mode = Mode::global}, .presence = Presence::silent},
                    {.scope = "dc3", .record = {.moved_to = "dc4"}}};
  view.claim = ClaimView{.record = {.epoch = 7}};
  meter.on_view(view, now);
  Series series;
  collect(meter.figures(), series);
  EXPECT_THAT(series.all,
              AllOf(Contains(Pair("members restart dc1 pending", 2.0)),
                    Contains(Pair("members restart dc1 ready", 1.0)),
                    Contains(Pair("members restart dc2 pending", 0.0)),
                    Contains(Pair("oldest_pending_seconds restart dc1", 40.0)),
                    Contains(Pair("claim_epoch restart", 7.0)), Contains(Pair("instances global live", 1.0)),
                    Contains(Pair("instances global silent", 1.0))));
  EXPECT_FALSE(series.all.contains("members restart dc3 pending"));
  // Members that are gone are no longer exported.
  meter.on_view({.action = "restart"}, now);
  EXPECT_TRUE(meter.figures().actions.at("restart").scopes.empty());
}

TEST(CoordinationMeter, CountsVerdictsAndSteps) {
  CoordinationMeter meter("/db");
  Verdict blocked;
  blocked.outcome = Blocked{.who = {}, .why = "not all processes are ready"};
  meter.on_verdict("restart", blocked);
  meter.on_verdict("restart", blocked);
  meter.on_step("restart", StepReport::Kind::waits);
  meter.on_step("restart", StepReport::Kind::unavailable);
  Verdict go;
  go.outcome = Proceed{.targets = {}, .partial = false};
  meter.on_verdict("restart", go);
  meter.on_step("restart", StepReport::Kind::acted);
  Series series;
  collect(meter.figures(), series);
  EXPECT_THAT(series.all, AllOf(Contains(Pair("verdicts_total restart blocked", 2.0)),
                                Contains(Pair("verdicts_total restart proceed", 1.0)),
                                Contains(Pair("steps_total restart waits", 1.0)),
                                Contains(Pair("steps_total restart unavailable", 1.0)),
                                Contains(Pair("steps_total restart acted", 1.0))));
}

TEST(LockFigures, AreSeries) {
  Series series;
  collect(
      LockFigures{
          .taken = 2, .yielded = 1, .refused = 5, .waited = seconds{42}, .held = seconds{8}, .holds = true},
      "/db", "dc1", series);
  EXPECT_THAT(series.all,
              AllOf(Contains(Pair("lock_held dc1", 1.0)), Contains(Pair("lock_taken_total dc1", 2.0)),
                    Contains(Pair("lock_refused_total dc1", 5.0)),
                    Contains(Pair("lock_wait_seconds_total dc1", 42.0)),
                    Contains(Pair("lock_held_seconds_total dc1", 8.0))));
}

}  // namespace
}  // namespace evenkeel::coordination
