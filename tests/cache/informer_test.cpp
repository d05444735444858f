// SPDX-License-Identifier: Apache-2.0
// Tests of the informer with a scripted source: the test acts as the server, in virtual time.
#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cache/informer.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "cache/server_log.hpp"
#include "objects.hpp"
#include "scripted_source.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::frame;
using tests::list_of;
using tests::Notes;
using tests::object;
using tests::ScriptedSource;

/// Options of tests that answer lists in pages; streaming lists have tests of their own.
InformerOptions paged(InformerOptions options = {}) {
  options.reflector.streaming_list = false;
  return options;
}

struct Rig {
  explicit Rig(InformerOptions options = paged(), std::size_t threads = 1)
      : runner(std::make_shared<detail::JobRunner>(clock, threads)),
        informer({.resource = {"", "v1", "ConfigMap", "configmaps"},
                  .source = source,
                  .runner = runner,
                  .log = {}},
                 with_defaults(std::move(options))) {}

  static InformerOptions with_defaults(InformerOptions options) {
    options.reflector.random = [] { return 0.0; };
    return options;
  }
  std::shared_ptr<Notes> add_notes(Delivery delivery = Delivery::direct) {
    auto notes = std::make_shared<Notes>();
    ids[notes.get()] = informer.add_handler(notes, {.delivery = delivery});
    return notes;
  }
  /// Starts, answers the list, and returns the watch.
  ScriptedSource::Stream sync(const std::string& list) {
    informer.start();
    source->next().answer(list);
    auto watch = source->next();
    EXPECT_TRUE(std::holds_alternative<WatchRequest>(watch.step));
    EXPECT_TRUE(informer.wait_for_sync({}));
    // The source gets a stream before the informer has stored it.
    while (informer.health().activity != "watching") std::this_thread::yield();
    watch.open();
    return watch;
  }
  /// Blocks until the informer waits after one more failure.
  InformerHealth next_failure() {
    ++failures;
    while (true) {
      const InformerHealth health = informer.health();
      if (health.counters.failures >= failures && health.activity == "waiting") return health;
      std::this_thread::yield();
    }
  }
  void pass(Duration delay) {
    next_failure();
    clock->advance(delay);
  }

  std::uint64_t failures = 0;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<ScriptedSource> source = std::make_shared<ScriptedSource>();
  std::shared_ptr<detail::JobRunner> runner;
  Informer informer;
  std::map<Notes*, HandlerId> ids;
};

TEST(InformerConcurrency, ListsThenWatchesAndTellsHandlers) {
  Rig rig;
  auto notes = rig.add_notes();
  EXPECT_FALSE(rig.informer.synced());
  const auto watch = rig.sync(list_of({{.name = "b", .version = "2"}, {.name = "a", .version = "1"}}, "10"));
  EXPECT_EQ(std::get<WatchRequest>(watch.step).resource_version, "10");
  EXPECT_THAT(notes->now(), ElementsAre("added a@1 initial", "added b@2 initial", "synced"));
  EXPECT_TRUE(rig.informer.handler_synced(rig.ids[notes.get()]));
  watch.send(frame("ADDED", {.name = "c", .version = "11"}) +
             frame("MODIFIED", {.name = "a", .version = "12"}) +
             frame("DELETED", {.name = "b", .version = "13"}));
  const auto lines = notes->lines(6);
  EXPECT_THAT(std::vector(lines.begin() + 3, lines.end()),
              ElementsAre("added c@11", "updated a@12 from 1", "deleted b@13"));
  EXPECT_EQ(rig.informer.store().size(), 2u);
  EXPECT_EQ(rig.informer.store().find("default", "a").raw(), tests::json_of({.name = "a", .version = "12"}));
}

// A controller that starts on this event reads from the cache at once: no read is live any more.
TEST(InformerConcurrency, IsSyncedWhenItTellsSo) {
  class Asks final : public EventHandler {
   public:
    explicit Asks(const Informer& informer) : informer_(informer) {}
    void on_event(const ObjectEvent&) noexcept override {}
    void on_synced() noexcept override { was_synced = informer_.synced(); }
    std::atomic<bool> was_synced = false;

   private:
    const Informer& informer_;
  };
  Rig rig;
  auto asks = std::make_shared<Asks>(rig.informer);
  const HandlerId id = rig.informer.add_handler(asks, {.delivery = Delivery::direct});
  rig.sync(list_of({{.name = "a", .version = "1"}}, "10"));
  ASSERT_TRUE(rig.informer.handler_synced(id));
  EXPECT_TRUE(asks->was_synced);
}

TEST(InformerConcurrency, FollowsPagesAndShowsThemAllAtOnce) {
  Rig rig;
  auto notes = rig.add_notes();
  rig.informer.start();
  rig.source->next().answer(list_of({{.name = "a", .version = "1"}}, "10", "more"));
  const auto second = rig.source->next();
  EXPECT_EQ(std::get<ListRequest>(second.step).continue_token, "more");
  EXPECT_EQ(rig.informer.store().size(), 0u) << "half a list is nothing";
  second.answer(list_of({{.name = "b", .version = "2"}}, "10"));
  EXPECT_THAT(notes->lines(3), ElementsAre("added a@1 initial", "added b@2 initial", "synced"));
}

TEST(InformerConcurrency, ReadsBodiesCutAnywhere) {
  Rig rig;
  auto notes = rig.add_notes();
  rig.informer.start();
  const auto list = rig.source->next();
  list.open();
  for (const char c : list_of({{.name = "a", .version = "1"}}, "10")) list.send({&c, 1});
  list.end();
  const auto watch = rig.source->next();
  watch.open();
  for (const char c : frame("ADDED", {.name = "b", .version = "11"})) watch.send({&c, 1});
  EXPECT_THAT(notes->lines(3), ElementsAre("added a@1 initial", "synced", "added b@11"));
}

TEST(InformerConcurrency, ResumesWhereACutWatchEndedEvenInsideAnEvent) {
  Rig rig;
  auto notes = rig.add_notes();
  auto watch = rig.sync(list_of({}, "10"));
  watch.send(frame("ADDED", {.name = "a", .version = "11"}));
  watch.send(frame("ADDED", {.name = "b", .version = "12"}).substr(0, 70));
  watch.end(std::make_exception_ptr(TransportError(TransportErrorCode::interrupted, "connection reset")));
  const auto resumed = rig.source->next();
  EXPECT_EQ(std::get<WatchRequest>(resumed.step).resource_version, "11");
  resumed.open();
  resumed.send(frame("ADDED", {.name = "b", .version = "12"}));
  EXPECT_THAT(notes->lines(3), ElementsAre("synced", "added a@11", "added b@12"));
}

TEST(InformerConcurrency, TellsWhatARelistFoundMissing) {
  Rig rig;
  auto notes = rig.add_notes();
  auto watch = rig.sync(list_of(
      {{.name = "a", .version = "1"}, {.name = "b", .version = "2"}, {.name = "c", .version = "3"}}, "10"));
  watch.send(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
             "\n");
  rig.source->board.wait([&] { return watch.call->cancelled; });
  rig.pass(800ms);
  const auto list = rig.source->next();
  EXPECT_EQ(std::get<ListRequest>(list.step).resource_version, "10");
  list.answer(list_of({{.name = "b", .version = "2"},
                       {.name = "c", .version = "20", .uid = "other"},
                       {.name = "d", .version = "21"}},
                      "30"));
  const auto lines = notes->lines(8);
  EXPECT_THAT(std::vector(lines.begin() + 4, lines.end()),
              ElementsAre("deleted a@1 unknown", "deleted c@3 unknown", "added c@20", "added d@21"));
  EXPECT_EQ(rig.informer.health().counters.expired, 1u);
}

TEST(InformerConcurrency, LateHandlersHearWhatIsThereThenWhatChanges) {
  Rig rig;
  auto watch = rig.sync(list_of({{.name = "a", .version = "1"}}, "10"));
  watch.send(frame("ADDED", {.name = "b", .version = "11"}));
  auto first = rig.add_notes();
  EXPECT_THAT(first->lines(2)[0], "added a@1 initial");
  watch.send(frame("MODIFIED", {.name = "a", .version = "12"}));
  auto second = rig.add_notes();
  second->lines(3);
  watch.send(frame("DELETED", {.name = "b", .version = "13"}));
  // In any interleaving, both sequences of events must result in the same state, without repetitions.
  for (auto& notes : {first, second}) {
    std::map<std::string, std::string> state;
    for (const std::string& line : notes->until("deleted b@13")) {
      const std::string object = line.substr(line.find(' ') + 1);
      const std::string name = object.substr(0, 1);
      if (line != "synced") {
        EXPECT_EQ(state.contains(name), !line.starts_with("added")) << line;
      }
      if (line.starts_with("deleted"))
        state.erase(name);
      else if (line != "synced")
        state[name] = object.substr(0, object.find(' '));
    }
    EXPECT_EQ(state, (std::map<std::string, std::string>{{"a", "a@12"}}))
        << ::testing::PrintToString(notes->now());
  }
}

TEST(InformerConcurrency, ASlowHandlerHoldsUpNobody) {
  class Slow final : public EventHandler {
   public:
    void on_event(const ObjectEvent&) noexcept override { future.wait(); }
    std::promise<void> gate;
    std::shared_future<void> future = gate.get_future().share();
  };
  Rig rig;
  auto slow = std::make_shared<Slow>();
  rig.informer.add_handler(slow, {.delivery = Delivery::queued});
  auto queued = rig.add_notes(Delivery::queued);
  auto direct = rig.add_notes(Delivery::direct);
  auto watch = rig.sync(list_of({{.name = "a", .version = "1"}}, "10"));
  watch.send(frame("ADDED", {.name = "b", .version = "11"}));
  EXPECT_THAT(direct->lines(3), ElementsAre("added a@1 initial", "synced", "added b@11"));
  EXPECT_THAT(queued->lines(3), ElementsAre("added a@1 initial", "synced", "added b@11"));
  slow->gate.set_value();
}

TEST(InformerConcurrency, ARemovedHandlerHearsNothingMore) {
  Rig rig;
  auto gone = rig.add_notes(Delivery::queued);
  auto stays = rig.add_notes();
  auto watch = rig.sync(list_of({}, "10"));
  gone->lines(1);
  rig.informer.remove_handler(rig.ids[gone.get()]);
  watch.send(frame("ADDED", {.name = "a", .version = "11"}));
  stays->lines(2);
  EXPECT_THAT(gone->now(), ElementsAre("synced"));
  EXPECT_FALSE(rig.informer.handler_synced(rig.ids[gone.get()]));
}

TEST(InformerConcurrency, AHandlerMayRemoveItself) {
  class Once final : public EventHandler {
   public:
    explicit Once(Informer& informer) : informer_(informer) {}
    void on_event(const ObjectEvent&) noexcept override {
      ++calls;
      informer_.remove_handler(id.load());
    }
    std::atomic<HandlerId> id = 0;
    std::atomic<int> calls = 0;

   private:
    Informer& informer_;
  };
  for (const Delivery delivery : {Delivery::direct, Delivery::queued}) {
    Rig rig;
    auto once = std::make_shared<Once>(rig.informer);
    once->id = rig.informer.add_handler(once, {.delivery = delivery});
    auto notes = rig.add_notes();
    rig.sync(list_of({{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}, "10"));
    notes->lines(3);
    rig.informer.stop();
    EXPECT_LE(once->calls, 1);
    EXPECT_GE(once->calls, delivery == Delivery::direct ? 1 : 0);
  }
}

TEST(InformerConcurrency, ReportsARefusalAndGoesOnTrying) {
  Rig rig;
  rig.informer.start();
  rig.source->next().answer(
      R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no list for you"})", 403);
  const InformerHealth health = rig.next_failure();
  EXPECT_FALSE(health.synced);
  EXPECT_EQ(health.activity, "waiting");
  EXPECT_EQ(health.last_error, "list ConfigMap: 403 Forbidden: no list for you");
  EXPECT_EQ(health.problem, WatchProblem::forbidden);
  EXPECT_EQ(health.failing_since, rig.clock->now());
  EXPECT_EQ(health.next_attempt, rig.clock->now() + 800ms);
  rig.clock->advance(800ms);
  rig.source->next().answer(list_of({}, "10"));
  EXPECT_TRUE(rig.informer.wait_for_sync({}));
  EXPECT_EQ(rig.informer.health().last_error, "");
  EXPECT_EQ(rig.informer.health().problem, WatchProblem::none);
  EXPECT_FALSE(rig.informer.health().failing_since);
}

TEST(InformerConcurrency, UnderSuspicionASilentWatchIsBegunAgain) {
  Rig rig;
  auto watch = rig.sync(list_of({{.name = "a", .version = "1"}}, "10"));
  watch.send(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"11"}}})"
             "\n");
  while (rig.informer.health().resource_version != "11") std::this_thread::yield();
  rig.clock->advance(5s);
  rig.informer.suspect();
  rig.source->board.wait([&] { return watch.call->cancelled; });
  EXPECT_EQ(rig.next_failure().last_error, "the watch is silent, and the server has newer objects");
  rig.clock->advance(800ms);
  EXPECT_EQ(std::get<WatchRequest>(rig.source->next().step).resource_version, "11");
}

TEST(InformerConcurrency, NamesAnObjectThatItCannotReadAndRelists) {
  Rig rig;
  auto watch = rig.sync(list_of({{.name = "a", .version = "1"}}, "10"));
  watch.send(R"({"type":"ADDED","object":{"metadata":{"name":"bad","namespace":"ns","labels":[]}}})"
             "\n");
  rig.source->board.wait([&] { return watch.call->cancelled; });
  EXPECT_EQ(rig.next_failure().last_error, "ConfigMap ns/bad: metadata.labels: expected object, found array");
  EXPECT_EQ(rig.informer.health().counters.undecodable, 1u);
  EXPECT_EQ(rig.informer.store().size(), 1u) << "what was there stays readable";
  rig.clock->advance(800ms);
  EXPECT_TRUE(std::holds_alternative<ListRequest>(rig.source->next().step));
}

TEST(InformerConcurrency, TakesABodyThatIsNoListForAnError) {
  Rig rig;
  rig.informer.start();
  rig.source->next().answer("<html>a proxy's page</html>");
  EXPECT_THAT(rig.next_failure().last_error, HasSubstr("expected '{', found '<'"));
  rig.clock->advance(800ms);
  rig.source->next().answer(list_of({}, "10").substr(0, 40));
  EXPECT_THAT(rig.next_failure().last_error, HasSubstr("ends in the middle"));
}

TEST(InformerConcurrency, WaitsWithoutAListWhileTheServerIsAway) {
  Rig rig;
  auto watch = rig.sync(list_of({}, "10"));
  watch.end();  // short, without events: a list is due
  rig.pass(800ms);
  rig.source->next().answer(list_of({}, "12"));
  watch = rig.source->next();
  const auto away =
      std::make_exception_ptr(TransportError(TransportErrorCode::connect, "connection refused"));
  watch.end(away);
  rig.pass(1600ms);
  watch = rig.source->next();
  EXPECT_EQ(std::get<WatchRequest>(watch.step).resource_version, "12");
  EXPECT_EQ(rig.informer.health().last_error, "connection refused");
  watch.open();
  watch.send(frame("ADDED", {.name = "a", .version = "13"}));
  rig.source->board.wait([] { return true; });
}

TEST(InformerConcurrency, PausesAStreamThatIsFasterThanTheStore) {
  class Gate final : public EventHandler {
   public:
    void on_event(const ObjectEvent&) noexcept override { future.wait(); }
    std::promise<void> gate;
    std::shared_future<void> future = gate.get_future().share();
  };
  Rig rig(paged({.buffer_bytes = 1000}));
  auto gate = std::make_shared<Gate>();
  rig.informer.add_handler(gate, {.delivery = Delivery::direct});
  auto notes = rig.add_notes();
  auto watch = rig.sync(list_of({}, "10"));
  int version = 11;
  while (!watch.call->paused && version < 1000) {
    watch.send(frame("ADDED", {.name = "n" + std::to_string(version), .version = std::to_string(version)}));
    ++version;
  }
  EXPECT_LT(version, 20) << "a thousand bytes are less than ten objects";
  gate->gate.set_value();
  rig.source->board.wait([&] { return !watch.call->paused; });
  notes->lines(static_cast<std::size_t>(version - 11) + 1);
}

TEST(InformerConcurrency, StopsPromptlyWhateverItDoes) {
  for (int moment = 0; moment < 4; ++moment) {
    Rig rig;
    auto notes = rig.add_notes(moment % 2 == 0 ? Delivery::direct : Delivery::queued);
    if (moment == 0) rig.informer.start();
    if (moment == 1) {
      rig.informer.start();
      rig.source->next().open();
    }
    if (moment == 2) rig.sync(list_of({}, "10"));
    if (moment == 3) {
      rig.informer.start();
      rig.source->next().answer("", 500);
      rig.next_failure();
    }
    rig.informer.stop();
    EXPECT_EQ(rig.informer.wait_for_sync({}), moment == 2);
    EXPECT_EQ(rig.informer.health().activity, "stopped");
  }
}

TEST(InformerConcurrency, WhatAnEndedStreamStillSendsGoesNowhere) {
  Rig rig;
  auto notes = rig.add_notes();
  auto watch = rig.sync(list_of({}, "10"));
  watch.send("nonsense\n");
  rig.source->board.wait([&] { return watch.call->cancelled; });
  watch.send(frame("ADDED", {.name = "ghost", .version = "11"}));
  watch.end();
  rig.pass(800ms);
  rig.source->next().answer(list_of({{.name = "a", .version = "1"}}, "12"));
  EXPECT_THAT(notes->lines(2), ElementsAre("synced", "added a@1"));
  rig.informer.stop();
  watch.send(frame("ADDED", {.name = "ghost", .version = "13"}));
}

TEST(Informer, WithoutThreadsEverythingIsDoneByPump) {
  auto clock = std::make_shared<ManualClock>();
  auto runner = std::make_shared<detail::JobRunner>(clock, 0);
  const auto source = std::make_shared<ScriptedSource>();
  Informer informer(
      {.resource = {"", "v1", "ConfigMap", "configmaps"}, .source = source, .runner = runner, .log = {}},
      Rig::with_defaults(paged()));
  EXPECT_FALSE(runner->next_due());
  informer.start();
  EXPECT_EQ(runner->next_due(), clock->now());
  EXPECT_EQ(runner->pump(), 1u);
  source->next().answer(list_of({{.name = "a", .version = "1"}}, "10"));
  EXPECT_FALSE(informer.synced());
  EXPECT_GT(runner->pump(), 0u);
  EXPECT_TRUE(informer.synced());
  auto watch = source->next();
  watch.open();
  watch.send("nonsense\n");
  runner->pump();
  EXPECT_EQ(runner->next_due(), clock->now() + 800ms) << "the reflector backs off";
  clock->advance(800ms);
  EXPECT_EQ(runner->pump(), 1u);
  EXPECT_TRUE(std::holds_alternative<ListRequest>(source->next().step));
}

TEST(Informer, DrawsItsResyncPeriodWithinATenth) {
  for (const auto& [drawn, period] : std::map<double, Duration>{{0.0, 9s}, {0.25, 9500ms}, {0.5, 10s}}) {
    InformerOptions options = paged({.resync = 10s});
    options.reflector.random = [drawn = drawn] { return drawn; };
    const auto clock = std::make_shared<ManualClock>();
    const auto runner = std::make_shared<detail::JobRunner>(clock, 0);
    const auto source = std::make_shared<ScriptedSource>();
    Informer informer(
        {.resource = {"", "v1", "ConfigMap", "configmaps"}, .source = source, .runner = runner, .log = {}},
        options);
    const auto notes = std::make_shared<Notes>();
    informer.add_handler(notes, {.delivery = Delivery::direct});
    informer.start();
    const auto pass = [&](Duration time) {
      clock->advance(time);
      while (runner->pump() > 0) continue;
      return notes->now().size();
    };
    pass(0s);
    source->next().answer(list_of({{.name = "a", .version = "1"}}, "10"));
    EXPECT_EQ(pass(0s), 2u);
    source->next().open();
    EXPECT_EQ(pass(period - 1ns), 2u) << drawn;
    EXPECT_EQ(pass(1ns), 3u) << drawn;
    EXPECT_EQ(notes->now().back(), "updated a@1 from 1");
    EXPECT_EQ(pass(period - 1ns), 3u) << drawn;
    EXPECT_EQ(pass(1ns), 4u) << "the period is drawn once";
  }
}

TEST(InformerConcurrency, ManyInformersShareOneThread) {
  auto clock = std::make_shared<ManualClock>();
  auto runner = std::make_shared<detail::JobRunner>(clock, 1);
  std::vector<std::shared_ptr<ScriptedSource>> sources;
  std::vector<std::unique_ptr<Informer>> informers;
  for (int i = 0; i < 50; ++i) {
    sources.push_back(std::make_shared<ScriptedSource>());
    informers.push_back(
        std::make_unique<Informer>(Informer::Parts{.resource = {"", "v1", "ConfigMap", "configmaps"},
                                                   .source = sources.back(),
                                                   .runner = runner,
                                                   .log = {}},
                                   paged()));
    informers.back()->start();
  }
  for (auto& source : sources) source->next().answer(list_of({{.name = "a", .version = "1"}}, "10"));
  for (auto& informer : informers) EXPECT_TRUE(informer->wait_for_sync({}));
}

TEST(InformerConcurrency, WaitForSyncEndsWithItsToken) {
  Rig rig;
  rig.informer.start();
  std::stop_source stop;
  std::thread stopper([&stop] { stop.request_stop(); });
  EXPECT_FALSE(rig.informer.wait_for_sync(stop.get_token()));
  stopper.join();
}

/// Keeps lines of level info and above as "level message", and counts those below.
struct Lines final : LogSink {
  bool enabled(LogLevel) const noexcept override { return true; }
  void write(LogLevel level, std::string_view message, LogFields, LogFields) noexcept override {
    if (level == LogLevel::debug) {
      ++debug;
    } else {
      const char* const name = level == LogLevel::info   ? "info "
                               : level == LogLevel::warn ? "warn "
                                                         : "error ";
      lines.push_back(name + std::string(message));
    }
  }
  std::vector<std::string> lines;
  int debug = 0;
};

/// Informers of one server, on one thread and in virtual time.
struct ServerRig {
  explicit ServerRig(std::size_t kinds) {
    for (std::size_t i = 0; i < kinds; ++i) {
      InformerOptions options = paged();
      options.reflector.random = [] { return 0.0; };
      sources.push_back(std::make_shared<ScriptedSource>());
      informers.push_back(std::make_unique<Informer>(
          Informer::Parts{.resource = {"", "v1", "Kind" + std::to_string(i), "kinds" + std::to_string(i)},
                          .source = sources.back(),
                          .runner = runner,
                          .log = Log(sink),
                          .server_log = server_log},
          options));
      informers.back()->start();
    }
    runner->pump();
  }
  void pass(Duration time) {
    clock->advance(time);
    runner->pump();
  }
  /// Each informer gets an empty list and starts a watch, which is not answered yet.
  std::vector<ScriptedSource::Stream> sync() {
    for (const auto& source : sources) source->next().answer(list_of({}, "10"));
    runner->pump();
    return watches();
  }
  std::vector<ScriptedSource::Stream> watches() {
    std::vector<ScriptedSource::Stream> streams;
    for (const auto& source : sources) streams.push_back(source->next());
    return streams;
  }

  std::shared_ptr<Lines> sink = std::make_shared<Lines>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<detail::JobRunner> runner = std::make_shared<detail::JobRunner>(clock, 0);
  std::shared_ptr<detail::ServerLog> server_log = std::make_shared<detail::ServerLog>();
  std::vector<std::shared_ptr<ScriptedSource>> sources;
  std::vector<std::unique_ptr<Informer>> informers;
};

TEST(InformerServer, ARequestThatIsTakenAndNotAnsweredIsAFailure) {
  ServerRig rig(1);
  auto watch = rig.sync().front();
  rig.pass(30s - 1ns);
  EXPECT_FALSE(watch.call->cancelled);
  rig.pass(1ns);
  EXPECT_TRUE(watch.call->cancelled);
  InformerHealth health = rig.informers[0]->health();
  EXPECT_EQ(health.problem, WatchProblem::unreachable);
  EXPECT_EQ(health.last_error, "watch Kind0: the server took the request and did not answer within 30s");
  EXPECT_EQ(health.activity, "waiting");
  EXPECT_TRUE(health.failing_since);
  EXPECT_EQ(health.counters.failures, 1U);
  EXPECT_THAT(rig.sink->lines, ElementsAre("warn cannot reach the server; retrying"));
  rig.pass(800ms);
  watch = rig.sources[0]->next();
  watch.open();
  rig.pass(10min);
  EXPECT_FALSE(watch.call->cancelled) << "the head has come, and events may be rare";
  EXPECT_EQ(rig.informers[0]->health().problem, WatchProblem::none);
  EXPECT_EQ(rig.sink->lines.back(), "info the server can be reached again");
}

// Regression: the informer waited for the end of an error's body without a limit, and kept an old state.
TEST(InformerServer, ARefusedWatchWhoseErrorNeverEndsIsAFailure) {
  ServerRig rig(1);
  const auto watch = rig.sync().front();
  watch.open(503);
  rig.pass(0s);
  for (int second = 0; second < 29; ++second) {
    watch.send("x");
    rig.pass(1s);
  }
  EXPECT_FALSE(watch.call->cancelled);
  EXPECT_EQ(rig.informers[0]->health().activity, "watching");
  watch.send("x");
  rig.pass(1s);
  ASSERT_TRUE(watch.call->cancelled);
  const InformerHealth health = rig.informers[0]->health();
  EXPECT_EQ(health.problem, WatchProblem::other);
  EXPECT_THAT(health.last_error, HasSubstr("watch Kind0: 503"));
  EXPECT_EQ(health.activity, "waiting");
  rig.pass(800ms);
  EXPECT_TRUE(std::holds_alternative<ListRequest>(rig.sources[0]->next().step)) << "it starts again";
}

TEST(InformerServer, ARefusedListWhoseErrorNeverEndsIsAFailure) {
  ServerRig rig(1);
  const auto list = rig.sources[0]->next();
  list.open(503);
  rig.pass(0s);
  rig.pass(75s - 1ns);
  EXPECT_FALSE(list.call->cancelled);
  rig.pass(1ns);
  EXPECT_TRUE(list.call->cancelled);
  EXPECT_THAT(rig.informers[0]->health().last_error, HasSubstr("list Kind0: 503"));
}

// Regression: the bytes after the first 64 KiB were dropped, but their stream was read on.
TEST(InformerServer, AnErrorThatIsTooLongEndsTheWatch) {
  ServerRig rig(1);
  const auto watch = rig.sync().front();
  watch.open(503);
  for (int piece = 0; piece < 16; ++piece) {
    watch.send(std::string(64U << 10, 'x'));
    rig.pass(0s);
  }
  EXPECT_TRUE(watch.call->cancelled);
  EXPECT_THAT(rig.informers[0]->health().last_error, HasSubstr("watch Kind0: 503"));
  EXPECT_EQ(rig.informers[0]->health().counters.failures, 1U);
}

TEST(InformerServer, AnObjectThatNeverEndsIsAFailure) {
  ServerRig rig(1);
  auto list = rig.sources[0]->next();
  list.open();
  const auto trickle = [&](const ScriptedSource::Stream& stream, std::string_view text, int bytes) {
    for (int at = 0; at < bytes; ++at) {
      stream.send(at == 0 ? text : "x");
      rig.pass(1s);
    }
  };
  trickle(list, R"({"items":[{"metadata":{"name":")", 120);
  EXPECT_FALSE(list.call->cancelled);
  trickle(list, "x", 1);
  EXPECT_TRUE(list.call->cancelled);
  EXPECT_EQ(rig.informers[0]->health().last_error, "an object is still incomplete 2m0s after its first byte");
  EXPECT_EQ(rig.informers[0]->health().problem, WatchProblem::unreachable);
  rig.pass(800ms);
  rig.sources[0]->next().answer(list_of({}, "10"));
  rig.pass(0ms);
  const auto watch = rig.sources[0]->next();
  watch.open();
  trickle(watch, R"({"type":"ADDED","object":{"metadata":{"name":")", 120);
  EXPECT_FALSE(watch.call->cancelled);
  trickle(watch, "x", 1);
  EXPECT_TRUE(watch.call->cancelled);
  rig.pass(2s);
  EXPECT_EQ(std::get<WatchRequest>(rig.sources[0]->next().step).resource_version, "10") << "no list";
}

TEST(InformerServer, WhiteSpaceInsteadOfObjectsIsAFailureAndNamed) {
  ServerRig rig(1);
  auto list = rig.sources[0]->next();
  list.open();
  list.send(R"({"items":[)");
  for (int second = 0; second < 120; ++second) {
    list.send(" ");
    rig.pass(1s);
  }
  EXPECT_FALSE(list.call->cancelled);
  list.send(" ");
  rig.pass(1s);
  EXPECT_TRUE(list.call->cancelled);
  EXPECT_EQ(rig.informers[0]->health().last_error,
            "nothing but white space has come for 2m0s, and the list has not ended");
}

TEST(InformerServer, AMemberOfAListThatNeverEndsIsAFailureAndNamed) {
  ServerRig rig(1);
  auto list = rig.sources[0]->next();
  list.open();
  list.send(R"({"unknown":")");
  for (int second = 0; second < 121; ++second) {
    list.send("x");
    rig.pass(1s);
  }
  EXPECT_TRUE(list.call->cancelled);
  EXPECT_EQ(rig.informers[0]->health().last_error,
            "a member of the list is still incomplete 2m0s after its first byte");
}

TEST(InformerServer, AListThatNeverEndsIsAFailureThoughEachOfItsObjectsCameInTime) {
  ServerRig rig(1);
  auto list = rig.sources[0]->next();
  list.open();
  list.send(R"({"items":[{"metadata":{"name":"first"}})");
  for (int minute = 0; minute < 29; ++minute) {
    rig.pass(1min);
    list.send(R"(,{"metadata":{"name":"n)" + std::to_string(minute) + R"("}})");
  }
  rig.pass(1min - 1ns);
  EXPECT_FALSE(list.call->cancelled);
  rig.pass(1ns);
  EXPECT_TRUE(list.call->cancelled);
  EXPECT_EQ(rig.informers[0]->health().last_error, "list Kind0: the list did not end within 30m0s");
  EXPECT_EQ(rig.informers[0]->health().problem, WatchProblem::unreachable);
  rig.pass(800ms);
  rig.sources[0]->next().answer(list_of({}, "10"));
  rig.pass(0s);
  const auto watch = rig.sources[0]->next();
  watch.open();
  rig.pass(2h);
  EXPECT_FALSE(watch.call->cancelled) << "a watch has no end to wait for";
}

TEST(InformerServer, TheTimeOfAListIsThatOfAllItsPages) {
  ServerRig rig(1);
  for (int minute = 0; minute < 29; ++minute) {
    auto page = rig.sources[0]->next();
    rig.pass(1min);
    page.answer(R"({"metadata":{"resourceVersion":"5","continue":"next"},"items":[]})");
    rig.pass(0s);
  }
  auto last = rig.sources[0]->next();
  EXPECT_EQ(std::get<ListRequest>(last.step).continue_token, "next");
  rig.pass(1min - 1ns);
  EXPECT_FALSE(last.call->cancelled);
  rig.pass(1ns);
  EXPECT_TRUE(last.call->cancelled) << "before the 75 s of its head are over";
  EXPECT_EQ(rig.informers[0]->health().last_error, "list Kind0: the list did not end within 30m0s");
  rig.pass(800ms);
  const auto list = rig.sources[0]->next();
  EXPECT_EQ(std::get<ListRequest>(list.step).continue_token, "");
  rig.pass(1min);
  EXPECT_FALSE(list.call->cancelled) << "the next list has a time of its own";
}

TEST(InformerServer, AListHasMoreTimeForItsHead) {
  ServerRig rig(1);
  auto list = rig.sources[0]->next();
  rig.pass(75s - 1ns);
  EXPECT_FALSE(list.call->cancelled);
  rig.pass(1ns);
  EXPECT_TRUE(list.call->cancelled);
  EXPECT_EQ(rig.informers[0]->health().last_error,
            "list Kind0: the server took the request and did not answer within 1m15s");
  rig.pass(800ms);
  list = rig.sources[0]->next();
  list.open();
  rig.pass(10min);
  EXPECT_FALSE(list.call->cancelled) << "from here on the transport's idle time counts";
}

TEST(InformerServer, AServerThatGoesIsOneLineAndOneWhenItIsBack) {
  ServerRig rig(16);
  for (auto& watch : rig.sync()) watch.open();
  rig.runner->pump();
  EXPECT_THAT(rig.sink->lines, ElementsAre());
  // Half of the connections are refused, half of the requests get no response.
  const auto fail = [](ScriptedSource::Stream& stream, std::size_t i) {
    stream.end(std::make_exception_ptr(
        TransportError(i % 2 == 0 ? TransportErrorCode::connect : TransportErrorCode::timeout, "scripted")));
  };
  for (auto& source : rig.sources)
    source->last().end(std::make_exception_ptr(
        TransportError(TransportErrorCode::timeout, "nothing was received for 2m30s")));
  rig.runner->pump();
  for (int round = 0; round < 6; ++round) {
    rig.pass(1min);
    auto streams = rig.watches();
    for (std::size_t i = 0; i < streams.size(); ++i) fail(streams[i], i);
    rig.runner->pump();
  }
  EXPECT_THAT(rig.sink->lines, ElementsAre("warn cannot reach the server; retrying"));
  EXPECT_EQ(rig.sink->debug, 16 * 7 - 1) << "each failure of each kind is there at debug";
  rig.pass(1min);
  for (auto& watch : rig.watches()) watch.open();
  rig.runner->pump();
  EXPECT_THAT(rig.sink->lines,
              ElementsAre("warn cannot reach the server; retrying", "info the server can be reached again"));
}

TEST(InformerServer, AnObjectThatCannotBeReadIsOneErrorWhileItIsThere) {
  ServerRig rig(1);
  const std::string bad =
      R"({"type":"ADDED","object":{"metadata":{"name":"bad","namespace":"ns","labels":[]}}})"
      "\n";
  auto watches = rig.sync();
  for (int round = 0; round < 5; ++round) {
    watches.front().open();
    watches.front().send(bad);
    rig.runner->pump();
    rig.pass(1min);
    rig.sources.front()->next().answer(list_of({}, std::to_string(20 + round)));
    rig.runner->pump();
    watches = rig.watches();
  }
  EXPECT_EQ(
      std::count(rig.sink->lines.begin(), rig.sink->lines.end(), "error cannot read what the server sent"),
      1);
}

TEST(InformerServer, WatchesThatEndAtOnceWithABookmarkAreFewAndSaidOnce) {
  ServerRig rig(1);
  auto watch = rig.sync().front();
  int watches = 0;
  for (int version = 11; rig.clock->now() < TimePoint{} + 60s && watches < 1000; ++version) {
    ++watches;
    watch.open();
    watch.send(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + std::to_string(version) +
               "\"}}}\n");
    watch.end();
    rig.runner->pump();
    while (rig.sources[0]->waiting() == 0) rig.pass(100ms);
    watch = rig.sources[0]->next();
  }
  EXPECT_LE(watches, 12);
  EXPECT_THAT(rig.sink->lines, ::testing::Contains("warn cannot list or watch; retrying").Times(1));
  EXPECT_LE(rig.sink->lines.size(), 2U);
}

TEST(InformerServer, PagesWithoutEndAreGivenUp) {
  ServerRig rig(1);
  InformerOptions options = paged();
  options.reflector.random = [] { return 0.0; };
  options.reflector.max_list_bytes = 2000;
  const auto pages = std::make_shared<ScriptedSource>();
  Informer informer({.resource = {"", "v1", "Endless", "endless"}, .source = pages, .runner = rig.runner},
                    options);
  informer.start();
  rig.runner->pump();
  int count = 0;
  for (; informer.health().problem == WatchProblem::none && count < 1000; ++count) {
    const std::string name = "o" + std::to_string(count);
    const std::string page = list_of({{.name = name, .version = "1"}}, "10", "next");
    pages->next().answer(page);
    rig.runner->pump();
  }
  EXPECT_LT(count, 20);
  EXPECT_EQ(informer.health().last_error, "the list is longer than 2000 bytes");
  EXPECT_EQ(informer.size(), 0U);
}

}  // namespace
}  // namespace evenkeel
