// SPDX-License-Identifier: Apache-2.0
// Precedence of settings, and the parsing of their values.
#include "manager/settings.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::ControllerSettings;
using detail::Settings;
using detail::SettingsSource;
using ::testing::HasSubstr;

SettingsSource for_all(ControllerSettings settings) {
  return {.defaults = std::move(settings)};
}
SettingsSource for_demo(ControllerSettings settings) {
  return {.controllers = {{"demo", {.settings = std::move(settings), .where = "somewhere"}}}};
}
ControllerOptions applied(const SettingsSource& flags, const SettingsSource& file,
                          ControllerOptions options = {}) {
  options.name = "demo";
  Settings(flags, file).apply(options);
  return options;
}
Duration first_delay(const ControllerOptions& options) {
  KeyTable keys;
  return options.limiter().when(keys.intern("", "ns", "a"), TimePoint{});
}

TEST(Settings, OfTheEndpointAreTheFlagsThenTheFileThenTheProgram) {
  const detail::EndpointSettings flags{.metrics_address = ":1"};
  const detail::EndpointSettings file{.metrics_address = ":2",
                                      .metrics_token_file = "file",
                                      .probe_address = "0",
                                      .explanations = Explanations::on};
  const EndpointOptions all = detail::endpoint_options(flags, file,
                                                       {.metrics_address = ":3",
                                                        .metrics_tls = {"crt", "key"},
                                                        .metrics_token_file = "program",
                                                        .probe_address = ":4"});
  EXPECT_EQ(all.metrics_address, ":1");
  EXPECT_EQ(all.metrics_token_file, "file");
  EXPECT_EQ(all.explanations, Explanations::on);
  EXPECT_EQ(all.metrics_tls.certificate, "crt");
  EXPECT_EQ(all.metrics_tls.key, "key");
  EXPECT_TRUE(all.serves_metrics());
  EXPECT_FALSE(all.serves_probes());
}

TEST(Settings, WithoutAnyTheProgramsOptionsStay) {
  EXPECT_FALSE(applied({}, {}).workers);
  EXPECT_FALSE(applied({}, {}).limiter);
  EXPECT_EQ(applied({}, {}, {.workers = 3}).workers, 3U);
}

// Each source overrides the one before.
TEST(Settings, TheFlagThatNamesTheControllerCountsThenItsSectionThenTheProgramThenDefaults) {
  const auto workers = [](std::size_t number) { return ControllerSettings{.workers = number}; };
  SettingsSource file = for_all(workers(1));
  SettingsSource flags;
  ControllerOptions program;
  EXPECT_EQ(applied(flags, file, program).workers, 1U);
  flags.defaults = workers(2);
  EXPECT_EQ(applied(flags, file, program).workers, 2U);
  program.workers = 3;
  EXPECT_EQ(applied(flags, file, program).workers, 3U);
  file.controllers["demo"].settings = workers(4);
  EXPECT_EQ(applied(flags, file, program).workers, 4U);
  flags.controllers["demo"].settings = workers(5);
  EXPECT_EQ(applied(flags, file, program).workers, 5U);
  EXPECT_EQ(applied(flags, for_all(workers(1)), {}).workers, 5U);
}

TEST(Settings, EachSettingIsDecidedAlone) {
  const ControllerOptions options =
      applied(for_demo({.workers = 2}), for_demo({.workers = 3, .reconcile_timeout = 5s}),
              {.workers = 1, .reconcile_timeout = 1s, .gate = EventGate::off});
  EXPECT_EQ(options.workers, 2U);
  EXPECT_EQ(options.reconcile_timeout, 5s);
  EXPECT_EQ(options.gate, EventGate::off);
}

TEST(Settings, EverySettingArrives) {
  const ControllerOptions options = applied({}, for_demo({.workers = 2,
                                                          .rate_limiter = LimiterText("exponential(7ms, 1s)"),
                                                          .reconcile_timeout = 5s,
                                                          .event_gate = EventGate::off,
                                                          .store = "fifo",
                                                          .debounce = Debounce{.quiet = 1s, .max_wait = 2s},
                                                          .min_interval = 3s,
                                                          .requeue_priority = Lane::slow,
                                                          .stuck_after = 4min,
                                                          .on_stuck = OnStuck::report,
                                                          .flight_recorder = 4096}));
  EXPECT_EQ(options.workers, 2U);
  EXPECT_EQ(first_delay(options), 7ms);
  EXPECT_EQ(options.reconcile_timeout, 5s);
  EXPECT_EQ(options.gate, EventGate::off);
  EXPECT_TRUE(options.store);
  EXPECT_EQ(options.debounce.quiet, 1s);
  EXPECT_EQ(options.debounce.max_wait, 2s);
  EXPECT_EQ(options.min_interval, 3s);
  ASSERT_TRUE(options.requeue_priority);
  EXPECT_EQ(options.requeue_priority->value, Priority(Lane::slow).value);
  EXPECT_EQ(options.stuck_after, 4min);
  EXPECT_EQ(options.on_stuck, OnStuck::report);
  EXPECT_EQ(options.flight_recorder_bytes, 4096U);
}

TEST(Settings, DefaultsOnlyFillWhatTheProgramLeftOpen) {
  const ControllerSettings defaults{.workers = 2,
                                    .rate_limiter = LimiterText("exponential(7ms, 1s)"),
                                    .reconcile_timeout = 5s,
                                    .event_gate = EventGate::off,
                                    .store = "fifo",
                                    .debounce = Debounce{.quiet = 1s, .max_wait = 2s},
                                    .min_interval = 3s,
                                    .requeue_priority = Lane::slow,
                                    .stuck_after = 4min,
                                    .on_stuck = OnStuck::report,
                                    .flight_recorder = 4096};
  const ControllerOptions program{.workers = 1,
                                  .reconcile_timeout = 1s,
                                  .gate = EventGate::on,
                                  .limiter = [] { return exponential(9ms, 1s); },
                                  .store = [] { return FifoStore(); },
                                  .requeue_priority = Lane::fast,
                                  .debounce = {.quiet = 1ms, .max_wait = 1ms},
                                  .min_interval = 1ms,
                                  .stuck_after = 1min,
                                  .flight_recorder_bytes = 8192};
  const ControllerOptions kept = applied(for_all(defaults), {}, program);
  EXPECT_EQ(kept.workers, 1U);
  EXPECT_EQ(first_delay(kept), 9ms);
  EXPECT_EQ(kept.reconcile_timeout, 1s);
  EXPECT_EQ(kept.gate, EventGate::on);
  EXPECT_EQ(kept.debounce.quiet, 1ms);
  EXPECT_EQ(kept.min_interval, 1ms);
  EXPECT_EQ(kept.requeue_priority->value, 0);
  EXPECT_EQ(kept.stuck_after, 1min);
  EXPECT_EQ(kept.flight_recorder_bytes, 8192U);
  const ControllerOptions filled = applied(for_all(defaults), {});
  EXPECT_EQ(filled.workers, 2U);
  EXPECT_EQ(first_delay(filled), 7ms);
  EXPECT_EQ(filled.gate, EventGate::off);
  EXPECT_EQ(filled.min_interval, 3s);
  EXPECT_EQ(filled.requeue_priority->value, Priority(Lane::slow).value);
  EXPECT_EQ(filled.stuck_after, 4min);
  EXPECT_EQ(filled.on_stuck, OnStuck::report);
  EXPECT_EQ(filled.flight_recorder_bytes, 4096U);
}

TEST(Settings, TellsTheLimiterThatIsInForce) {
  ControllerOptions options{.name = "demo"};
  EXPECT_EQ(Settings({}, {}).apply(options), "default()");
  EXPECT_EQ(Settings(for_demo({.rate_limiter = LimiterText("exponential( 7ms,1s )")}), {}).apply(options),
            "exponential(7ms, 1s)");
  ControllerOptions own{.name = "demo", .limiter = [] { return exponential(9ms, 1s); }};
  EXPECT_EQ(Settings({}, {}).apply(own), "the program's own");
}

TEST(Settings, ANameThatNoControllerHasIsTold) {
  Settings settings(for_demo({.workers = 1}),
                    {.controllers = {{"demoo", {.where = "op.yaml:3: controllers.demoo"}}}});
  EXPECT_EQ(settings.unknown_name(), "somewhere: there is no controller \"demo\"; there are none");
  ControllerOptions demo{.name = "demo"};
  settings.apply(demo);
  EXPECT_EQ(settings.unknown_name(),
            "op.yaml:3: controllers.demoo: there is no controller \"demoo\"; there is demo");
  ControllerOptions other{.name = "other"};
  settings.apply(other);
  EXPECT_THAT(*settings.unknown_name(), HasSubstr("there are demo, other"));
  ControllerOptions misspelt{.name = "demoo"};
  settings.apply(misspelt);
  EXPECT_FALSE(settings.unknown_name());
}

template <class Parse>
std::string refusal(Parse parse, const char* text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "taken";
}

TEST(Settings, RefuseValuesThatMakeNoSense) {
  EXPECT_EQ(refusal(detail::parse_workers, "0"), "\"0\" is not a number from 1 to 4096");
  EXPECT_EQ(refusal(detail::parse_workers, "4097"), "\"4097\" is not a number from 1 to 4096");
  EXPECT_EQ(refusal(detail::parse_workers, "3x"), "\"3x\" is not a number from 1 to 4096");
  EXPECT_EQ(detail::parse_workers("4096"), 4096U);
  EXPECT_EQ(refusal(detail::parse_timeout, "10"), "\"10\" is not a duration such as 500ms, 30s, 2m or 1h30m");
  EXPECT_EQ(refusal(detail::parse_timeout, "-1s"),
            "\"-1s\" is not a duration such as 500ms, 30s, 2m or 1h30m");
  EXPECT_EQ(detail::parse_timeout("1h30m"), 90min);
  EXPECT_EQ(detail::parse_timeout("1.5s"), 1500ms);
  EXPECT_EQ(refusal(detail::parse_event_gate, "maybe"), "\"maybe\" is neither on nor off");
  EXPECT_EQ(refusal(detail::parse_store, "lifo"), "\"lifo\" is none of priority, fifo, two-lane, fair");
}

// Each name in the file creates that store: they are distinguished by the order of a slow key, a fast one,
// and a slow one that is raised.
TEST(Settings, StoresGoByTheirWords) {
  const auto order = [](const char* word) {
    AnyStore<RequestKey> store = detail::make_store(detail::parse_store(word));
    KeyTable keys;
    RequestQueue queue({.store = std::move(store), .readd = Readd::at_back});
    queue.add(keys.intern("", "", "low"), Priority(-5));
    queue.add(keys.intern("", "", "lower"), Priority(-7));
    queue.add(keys.intern("", "", "lowest"), Priority(-9));
    queue.add(keys.intern("", "", "high"), Priority(5));
    queue.add(keys.intern("", "", "lowest"), Priority(-1));
    std::string text;
    while (auto claim = queue.try_get()) text += std::string(claim->key().name()) + " ";
    return text;
  };
  EXPECT_EQ(order("fifo"), "low lower lowest high ");
  EXPECT_EQ(order("two-lane"), "high low lower lowest ");
  EXPECT_EQ(order("priority"), "high lowest low lower ");
}

TEST(Settings, TheFairStoreServesNamespacesInTurn) {
  KeyTable keys;
  RequestQueue queue({.store = detail::make_store("fair")});
  for (const char* name : {"1", "2", "3"}) queue.add(keys.intern("", "busy", name));
  queue.add(keys.intern("", "idle", "1"));
  std::string text;
  while (auto claim = queue.try_get()) text += claim->key().str() + " ";
  EXPECT_EQ(text, "busy/1 idle/1 busy/2 busy/3 ");
}

}  // namespace
}  // namespace evenkeel
