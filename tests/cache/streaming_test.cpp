// SPDX-License-Identifier: Apache-2.0
// Tests of streaming lists: servers and proxies that lack them, the memory of a server's informers, and what
// a relist over a stream tells. The test acts as the server, in virtual time.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cache/informer.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "cache/streaming_core.hpp"
#include "cache/streaming_memory.hpp"
#include "objects.hpp"
#include "scripted_source.hpp"

namespace evenkeel::streaming_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::bookmark;
using tests::frame;
using tests::list_of;
using tests::Notes;
using tests::ScriptedSource;
using Advice = detail::StreamingCore::Advice;
using News = detail::StreamingCore::News;

ResourceId kind(const std::string& group, const std::string& plural) {
  return {group, "v1", plural, plural};
}

const std::string gone = R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                         "\n";

bool streams(const ScriptedSource::Stream& stream) {
  const auto* watch = std::get_if<WatchRequest>(&stream.step);
  return watch != nullptr && watch->initial_events;
}
bool lists(const ScriptedSource::Stream& stream) {
  return std::holds_alternative<ListRequest>(stream.step);
}

// ---- The memory of a server

TEST(StreamingCore, OneInformerOfEachKindTries) {
  detail::StreamingCore core;
  const TimePoint now{};
  const ResourceId pods = kind("", "pods");
  EXPECT_EQ(core.on_request(pods, now), Advice::stream);
  EXPECT_EQ(core.on_request(pods, now), Advice::wait);
  EXPECT_EQ(core.on_request(kind("", "nodes"), now), Advice::stream);
  EXPECT_FALSE(core.on_complete(pods));
  EXPECT_EQ(core.on_request(pods, now), Advice::stream);
  EXPECT_EQ(core.on_request(pods, now), Advice::stream) << "no more waiting for one that is known to work";
}

TEST(StreamingCore, AFailureThatSaysNothingLetsTheNextOneTry) {
  detail::StreamingCore core;
  const ResourceId pods = kind("", "pods");
  core.on_request(pods, TimePoint{});
  core.on_failed(pods);
  EXPECT_EQ(core.on_request(pods, TimePoint{}), Advice::stream);
}

TEST(StreamingCore, RemembersAKindForAnHour) {
  detail::StreamingCore core;
  const TimePoint now{};
  const ResourceId pods = kind("", "pods");
  core.on_request(pods, now);
  EXPECT_EQ(core.on_unsupported(pods, now), News::kind);
  EXPECT_EQ(core.on_unsupported(pods, now), News::none) << "another informer that had begun before";
  EXPECT_EQ(core.on_request(pods, now + 1h - 1ns), Advice::list);
  EXPECT_EQ(core.on_request(kind("", "nodes"), now), Advice::stream);
  EXPECT_EQ(core.on_request(kind("metrics.k8s.io", "pods"), now), Advice::stream);
  EXPECT_EQ(core.on_request(pods, now + 1h), Advice::stream);
  EXPECT_EQ(core.on_request(pods, now + 1h), Advice::wait);
  EXPECT_TRUE(core.on_complete(pods)) << "the server was upgraded";
  EXPECT_FALSE(core.on_complete(pods));
}

TEST(StreamingCore, KindsOfTwoGroupsTellThatTheServerLacksThem) {
  detail::StreamingCore core;
  const TimePoint now{};
  EXPECT_EQ(core.on_unsupported(kind("", "pods"), now), News::kind);
  EXPECT_EQ(core.on_unsupported(kind("", "nodes"), now), News::kind)
      << "one group may have a server of its own";
  EXPECT_EQ(core.on_request(kind("example.com", "demos"), now), Advice::stream);
  EXPECT_EQ(core.on_unsupported(kind("apps", "deployments"), now + 1s), News::server);
  EXPECT_EQ(core.on_request(kind("batch", "jobs"), now + 1h), Advice::list);
  EXPECT_EQ(core.on_unsupported(kind("example.com", "demos"), now + 2s), News::none);
  EXPECT_EQ(core.on_request(kind("batch", "jobs"), now + 1h + 1s), Advice::stream);
}

TEST(StreamingCore, AKindThatWorksAcquitsTheServer) {
  detail::StreamingCore core;
  const TimePoint now{};
  core.on_complete(kind("", "pods"));
  EXPECT_EQ(core.on_unsupported(kind("one.example.com", "ones"), now), News::kind);
  EXPECT_EQ(core.on_unsupported(kind("two.example.com", "twos"), now), News::kind);
  EXPECT_EQ(core.on_request(kind("batch", "jobs"), now), Advice::stream);

  detail::StreamingCore later;
  later.on_request(kind("", "pods"), now);
  later.on_unsupported(kind("one.example.com", "ones"), now);
  EXPECT_EQ(later.on_unsupported(kind("two.example.com", "twos"), now), News::server);
  later.on_complete(kind("", "pods"));
  EXPECT_EQ(later.on_request(kind("batch", "jobs"), now), Advice::stream);
  EXPECT_EQ(later.on_request(kind("one.example.com", "ones"), now), Advice::list);
}

// ---- Informers

/// Keeps lines of level info and above, with their fields.
struct Lines final : LogSink {
  bool enabled(LogLevel level) const noexcept override { return level != LogLevel::debug; }
  void write(LogLevel, std::string_view message, LogFields, LogFields fields) noexcept override {
    std::string line(message);
    for (const LogField& field : fields) {
      if (const auto* text = std::get_if<std::string_view>(&field.value.get()))
        line.append(" ").append(field.key).append("=").append(*text);
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

/// Informers of one server without threads, each with a source of its own.
struct Rig {
  ScriptedSource& add(const ResourceId& resource, const std::string& namespace_ = {}) {
    InformerOptions options{.namespace_ = namespace_};
    options.reflector.random = [] { return 0.0; };
    sources.push_back(std::make_shared<ScriptedSource>());
    informers.push_back(std::make_unique<Informer>(Informer::Parts{.resource = resource,
                                                                   .source = sources.back(),
                                                                   .runner = runner,
                                                                   .log = Log(sink),
                                                                   .server_log = {},
                                                                   .streaming = memory},
                                                   options));
    informers.back()->start();
    return *sources.back();
  }
  void pump() { runner->pump(); }
  /// Lets time pass after what was sent has been read.
  void pass(Duration time) {
    pump();
    clock->advance(time);
    pump();
  }
  bool synced() const {
    for (const auto& informer : informers) {
      if (!informer->synced()) return false;
    }
    return true;
  }

  std::shared_ptr<Lines> sink = std::make_shared<Lines>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<detail::JobRunner> runner = std::make_shared<detail::JobRunner>(clock, 0);
  std::shared_ptr<detail::StreamingMemory> memory = std::make_shared<detail::StreamingMemory>();
  std::vector<std::shared_ptr<ScriptedSource>> sources;
  std::vector<std::unique_ptr<Informer>> informers;
};

class InformerStreaming : public ::testing::Test {
 protected:
  /// Adds an informer of ConfigMaps and returns its first request.
  ScriptedSource::Stream start() {
    source_ = &rig_.add({"", "v1", "ConfigMap", "configmaps"});
    rig_.pump();
    return source_->next();
  }
  ScriptedSource::Stream next() {
    rig_.pump();
    if (source_->waiting() == 0) throw std::runtime_error("the informer requests nothing");
    return source_->next();
  }
  const Informer& informer() const { return *rig_.informers.front(); }
  const ReflectorCounters counters() const { return informer().health().counters; }
  /// Expects a list in pages, answers it, and returns the watch that follows.
  ScriptedSource::Stream list_instead(const std::string& version = "10") {
    const auto list = next();
    EXPECT_TRUE(lists(list));
    list.answer(list_of({{.name = "b", .version = "6"}}, version));
    const auto watch = next();
    EXPECT_FALSE(streams(watch) || lists(watch));
    EXPECT_TRUE(informer().synced());
    EXPECT_TRUE(informer().store().find("default", "b"));
    return watch;
  }
  /// Lets the watch end so that the state is read again, and returns the request for it.
  ScriptedSource::Stream relist(const ScriptedSource::Stream& watch) {
    watch.open();
    watch.send(gone);
    rig_.pump();
    EXPECT_EQ(informer().health().activity, "waiting");
    rig_.clock->advance(*informer().health().next_attempt - rig_.clock->now());
    return next();
  }

  Rig rig_;
  ScriptedSource* source_ = nullptr;
};

TEST_F(InformerStreaming, IsTheDefaultAndNeedsNoList) {
  const auto stream = start();
  EXPECT_TRUE(streams(stream));
  stream.open();
  stream.send(frame("ADDED", {.name = "a", .version = "5"}));
  rig_.pump();
  EXPECT_FALSE(informer().synced());
  stream.send(bookmark("9", true));
  rig_.pump();
  EXPECT_TRUE(informer().synced());
  stream.send(frame("ADDED", {.name = "b", .version = "10"}));
  rig_.pass(2min);
  EXPECT_TRUE(informer().store().find("default", "b")) << "the same stream is the watch";
  EXPECT_FALSE(stream.call->cancelled);
  EXPECT_EQ(counters().lists, 0U);
  EXPECT_EQ(counters().streaming_lists, 1U);
  EXPECT_EQ(counters().streaming_fallbacks, 0U);
  EXPECT_THAT(rig_.sink->lines, IsEmpty());
}

// A server before 1.27, or a proxy that strips the parameters: what exists comes, then what changes, and the
// end of the one is never marked. The changes must not keep it waiting.
TEST_F(InformerStreaming, GivesUpAServerThatSendsEventsAndNeverTheBookmark) {
  const auto stream = start();
  stream.open();
  stream.send(frame("ADDED", {.name = "a", .version = "5"}));
  rig_.pass(20s);
  stream.send(frame("MODIFIED", {.name = "a", .version = "11"}));
  rig_.pass(5s);
  stream.send(bookmark("12"));
  stream.send(frame("ADDED", {.name = "c", .version = "13"}));
  rig_.pass(5s - 1ns);
  EXPECT_FALSE(stream.call->cancelled);
  rig_.pass(1ns);
  EXPECT_TRUE(stream.call->cancelled) << "30 s after the last event of the first state";
  list_instead();
  EXPECT_FALSE(informer().store().find("default", "a")) << "the unfinished state is forgotten";
  EXPECT_EQ(counters().streaming_fallbacks, 1U);
  EXPECT_EQ(counters().lists, 1U);
  EXPECT_THAT(rig_.sink->lines,
              ElementsAre("the server does not stream a kind; listing it in pages kind=ConfigMap namespace= "
                          "reason=the server did not finish its streamed list in time"));
}

TEST_F(InformerStreaming, GivesUpAServerThatAcceptsAndSendsNothing) {
  const auto stream = start();
  rig_.pass(10s);
  stream.open();
  rig_.pass(30s - 1ns);
  EXPECT_FALSE(stream.call->cancelled) << "the acceptance is progress";
  rig_.pass(1ns);
  EXPECT_TRUE(stream.call->cancelled);
  list_instead();
  EXPECT_THAT(rig_.sink->lines, ElementsAre(HasSubstr("the server does not stream a kind")));
}

// An aggregated server that sends bookmarks, but does not mark the one that ends the first state.
TEST_F(InformerStreaming, GivesUpAServerThatDoesNotMarkItsBookmark) {
  const auto stream = start();
  stream.open();
  stream.send(frame("ADDED", {.name = "a", .version = "5"}) + bookmark("9"));
  for (int second = 0; second < 29; ++second) {
    rig_.pass(1s);
    stream.send(bookmark(std::to_string(10 + second)));
  }
  EXPECT_FALSE(stream.call->cancelled);
  rig_.pass(1s);
  EXPECT_TRUE(stream.call->cancelled) << "bookmarks are no progress";
  list_instead();
}

// Additions for as long as anybody listens, to a kind in which objects are only created.
TEST_F(InformerStreaming, GivesUpAStreamThatOutlivesItsWatch) {
  const auto stream = start();
  stream.open();
  const std::chrono::seconds life = std::get<WatchRequest>(stream.step).timeout;
  EXPECT_EQ(life, 5min);
  for (Duration passed{}; passed < life; passed += 10s) {
    stream.send(frame("ADDED", {.name = "a" + std::to_string(passed / 1s), .version = "5"}));
    rig_.pass(10s);
    ASSERT_FALSE(stream.call->cancelled);
  }
  stream.send(frame("ADDED", {.name = "last", .version = "5"}));
  rig_.pass(30s);
  EXPECT_TRUE(stream.call->cancelled) << "the server should have ended it after five minutes";
  list_instead();
}

TEST_F(InformerStreaming, LeavesAListAloneAsLongAsItArrives) {
  const auto stream = start();
  stream.open();
  for (int at = 0; at < 10; ++at) {
    rig_.pass(30s - 1ns);
    stream.send(frame("ADDED", {.name = "a" + std::to_string(at), .version = "5"}));
    rig_.pump();
    ASSERT_FALSE(stream.call->cancelled);
  }
  stream.send(bookmark("9", true));
  rig_.pump();
  EXPECT_TRUE(informer().synced());
  EXPECT_EQ(informer().size(), 10U);
  EXPECT_EQ(counters().lists, 0U);
}

// Many aggregated servers and proxies end each watch after some seconds.
TEST_F(InformerStreaming, GivesUpAServerThatEndsTheStreamEarly) {
  const auto stream = start();
  stream.open();
  stream.send(frame("ADDED", {.name = "a", .version = "5"}));
  stream.end();
  const auto watch = list_instead();
  EXPECT_THAT(rig_.sink->lines, ElementsAre(HasSubstr("reason=the server ended its streamed list early")));
  EXPECT_TRUE(lists(relist(watch))) << "remembered";
}

TEST_F(InformerStreaming, ACutSaysNothingAboutTheServer) {
  const auto stream = start();
  stream.open();
  stream.send(frame("ADDED", {.name = "a", .version = "5"}));
  stream.end(std::make_exception_ptr(TransportError(TransportErrorCode::protocol, "scripted")));
  const auto watch = list_instead();
  EXPECT_THAT(rig_.sink->lines, IsEmpty());
  EXPECT_TRUE(streams(relist(watch)));
}

TEST_F(InformerStreaming, FallsBackAtOnceWhereTheServerRejectsIt) {
  for (const int status : {400, 403, 405, 422, 501}) {
    Rig rig;
    ScriptedSource& source = rig.add(kind("", "configmaps"));
    rig.pump();
    source.next().answer(R"({"kind":"Status","message":"not here","code":)" + std::to_string(status) + "}",
                         status);
    rig.pump();
    const auto list = source.next();
    EXPECT_TRUE(lists(list)) << status;
    EXPECT_EQ(rig.clock->now(), TimePoint{}) << "without a wait";
    EXPECT_THAT(rig.sink->lines, ElementsAre(HasSubstr("not here")));
    list.answer(list_of({}, "10"));
    rig.pump();
    EXPECT_EQ(rig.informers[0]->health().last_error, "");
  }
}

// The answer of a server whose etcd is too old.
TEST_F(InformerStreaming, RemembersAServerWhoseDatabaseCannot) {
  const auto stream = start();
  stream.open();
  stream.send(
      R"({"type":"ERROR","object":{"kind":"Status","code":500,"message":"RequestWatchProgress is disabled"}})"
      "\n");
  EXPECT_TRUE(lists(relist(list_instead())));
  EXPECT_THAT(rig_.sink->lines, ::testing::Contains(HasSubstr("reason=RequestWatchProgress is disabled")));
}

TEST_F(InformerStreaming, AMissingKindIsPolledWithListsOnly) {
  const std::string missing = R"({"kind":"Status","code":404})";
  start().answer(missing, 404);
  next().answer(missing, 404);
  for (int polls = 0; polls < 3; ++polls) {
    rig_.pump();
    rig_.pass(10s);
    const auto list = source_->next();
    EXPECT_TRUE(lists(list)) << "a stream and a list each time would be twice the requests";
    list.answer(polls < 2 ? missing : list_of({}, "10"), polls < 2 ? 404 : 200);
  }
  EXPECT_TRUE(streams(relist(next()))) << "a missing kind says nothing about streaming lists";
}

TEST_F(InformerStreaming, IsRetriedAfterAnHour) {
  start().answer(R"({"kind":"Status","code":422})", 422);
  auto watch = list_instead();
  watch.open();
  rig_.pass(1h - 1s);
  auto list = relist(watch);
  EXPECT_TRUE(lists(list));
  list.answer(list_of({{.name = "b", .version = "6"}}, "11"));
  watch = next();
  watch.open();
  rig_.pass(1s);
  const auto stream = relist(watch);
  EXPECT_TRUE(streams(stream));
  stream.open();
  stream.send(frame("ADDED", {.name = "b", .version = "6"}) + bookmark("20", true));
  rig_.pump();
  EXPECT_EQ(rig_.sink->lines.back(), "the server streams a kind again kind=ConfigMap namespace= reason=");
}

// Ten kinds in 50 namespaces on a server that accepts streaming lists and never ends them.
TEST_F(InformerStreaming, FiveHundredInformersDoNotEachTry) {
  for (int at = 0; at < 500; ++at) {
    const int number = at % 10;
    rig_.add(kind(number < 5 ? "" : "apps", "kinds" + std::to_string(number)),
             "ns-" + std::to_string(at / 10));
  }
  int streamed = 0;
  const auto serve = [&] {
    rig_.pump();
    for (const auto& source : rig_.sources) {
      while (source->waiting() != 0) {
        const auto stream = source->next();
        streamed += streams(stream) ? 1 : 0;
        if (lists(stream))
          stream.answer(list_of({}, "10"));
        else
          stream.open();
        rig_.pump();
      }
    }
  };
  serve();
  EXPECT_EQ(streamed, 10) << "one of each kind";
  for (int at = 0; at < 128; ++at) {
    rig_.pass(10ms);
    serve();
  }
  int synced = 0;
  for (const auto& informer : rig_.informers) synced += informer->synced() ? 1 : 0;
  EXPECT_EQ(synced, 490) << "the others do not wait for the deadline of these";
  rig_.pass(30s);
  serve();
  EXPECT_TRUE(rig_.synced());
  EXPECT_EQ(streamed, 10);
  EXPECT_THAT(rig_.sink->lines,
              ElementsAre(HasSubstr("does not stream a kind"), HasSubstr("does not stream a kind"),
                          HasSubstr("does not stream a kind"), HasSubstr("does not stream a kind"),
                          HasSubstr("does not stream a kind"), HasSubstr("does not stream lists")));
  ScriptedSource& late = rig_.add(kind("batch", "jobs"));
  rig_.pump();
  EXPECT_TRUE(lists(late.next())) << "the server is known";
}

TEST_F(InformerStreaming, InformersOfAKindStreamWhenTheFirstHas) {
  ScriptedSource& first = rig_.add(kind("", "pods"), "a");
  ScriptedSource& second = rig_.add(kind("", "pods"), "b");
  rig_.pump();
  const auto stream = first.next();
  EXPECT_TRUE(streams(stream));
  EXPECT_EQ(second.waiting(), 0U);
  stream.open();
  stream.send(bookmark("9", true));
  rig_.pass(10ms);
  EXPECT_TRUE(streams(second.next()));
}

TEST_F(InformerStreaming, AnInformerThatIsStoppedLetsTheNextOneTry) {
  rig_.add(kind("", "pods"), "a");
  ScriptedSource& second = rig_.add(kind("", "pods"), "b");
  rig_.pump();
  rig_.informers[0]->stop();
  rig_.pass(10ms);
  EXPECT_TRUE(streams(second.next()));
}

// One aggregated server lacks them.
TEST_F(InformerStreaming, OneKindDoesNotCondemnTheOthers) {
  ScriptedSource& aggregated = rig_.add(kind("metrics.example.com", "samples"));
  ScriptedSource& pods = rig_.add(kind("", "pods"));
  rig_.pump();
  aggregated.next().open();
  const auto stream = pods.next();
  stream.open();
  stream.send(bookmark("9", true));
  rig_.pass(30s);
  EXPECT_TRUE(lists(aggregated.next()));
  ScriptedSource& more = rig_.add(kind("metrics.example.com", "samples"), "a");
  ScriptedSource& jobs = rig_.add(kind("batch", "jobs"));
  rig_.pump();
  EXPECT_TRUE(lists(more.next()));
  EXPECT_TRUE(streams(jobs.next()));
}

TEST_F(InformerStreaming, ServersInTroubleAreAskedForAStreamAgain) {
  auto stream = start();
  stream.answer(R"({"kind":"Status","code":429,"reason":"TooManyRequests"})", 429);
  rig_.pump();
  EXPECT_EQ(informer().health().activity, "waiting");
  rig_.pass(800ms);
  stream = source_->next();
  EXPECT_TRUE(streams(stream)) << "a list by every client would make it worse";
  stream.end(std::make_exception_ptr(TransportError(TransportErrorCode::connect, "scripted")));
  rig_.pump();
  rig_.pass(1600ms);
  EXPECT_TRUE(streams(source_->next()));
  EXPECT_EQ(counters().streaming_fallbacks, 0U);
}

// Semantics of client-go's Replace: deletions that no event told are found, and what did not change is kept.
TEST_F(InformerStreaming, ARelistOverAStreamTellsWhatIsMissingAndKeepsTheRest) {
  const auto stream = start();
  const auto notes = std::make_shared<Notes>();
  rig_.informers[0]->add_handler(notes, {.delivery = Delivery::direct});
  stream.open();
  stream.send(frame("ADDED", {.name = "same", .version = "5"}) +
              frame("ADDED", {.name = "changed", .version = "6"}) +
              frame("ADDED", {.name = "deleted", .version = "7"}) +
              frame("ADDED", {.name = "replaced", .version = "8", .uid = "first"}) + bookmark("9", true));
  rig_.pump();
  const WireObject kept = informer().store().stored("default", "same");
  EXPECT_THAT(notes->now(), ElementsAre("added changed@6 initial", "added deleted@7 initial",
                                        "added replaced@8 initial", "added same@5 initial", "synced"));
  const auto second = relist(stream);
  EXPECT_TRUE(streams(second));
  EXPECT_EQ(std::get<WatchRequest>(second.step).resource_version, "9");
  second.open();
  second.send(frame("ADDED", {.name = "same", .version = "5"}) +
              frame("ADDED", {.name = "changed", .version = "16"}) +
              frame("ADDED", {.name = "replaced", .version = "18", .uid = "second"}));
  rig_.pump();
  EXPECT_EQ(notes->now().size(), 5U) << "not before the state is complete";
  second.send(bookmark("20", true));
  rig_.pump();
  const auto lines = notes->now();
  EXPECT_THAT(std::vector<std::string>(lines.begin() + 5, lines.end()),
              ::testing::UnorderedElementsAre("updated changed@16 from 6", "deleted deleted@7 unknown",
                                              "deleted replaced@8 unknown", "added replaced@18"));
  EXPECT_EQ(informer().store().stored("default", "same").raw().data(), kept.raw().data())
      << "the object in memory is the one of before";
}

TEST_F(InformerStreaming, TheLastEventOfAnObjectCounts) {
  const auto stream = start();
  stream.open();
  const auto event = [&](const char* type, const std::string& name, const std::string& version) {
    stream.send(frame(type, {.name = name, .version = version}));
  };
  event("ADDED", "deleted", "1");
  event("ADDED", "changed", "2");
  event("ADDED", "again", "3");
  event("DELETED", "deleted", "4");
  event("MODIFIED", "changed", "5");
  event("DELETED", "again", "6");
  event("ADDED", "again", "7");
  event("DELETED", "never", "8");
  stream.send(bookmark("9", true));
  rig_.pump();
  std::vector<std::string> held;
  for (const WireObject& object : informer().store().snapshot())
    held.push_back(std::string(object.name()) + "@" + std::string(object.resource_version()));
  EXPECT_THAT(held, ElementsAre("again@7", "changed@5"));
}

TEST_F(InformerStreaming, AStreamThatIsTooLargeIsGivenUp) {
  InformerOptions options;
  options.reflector.random = [] { return 0.0; };
  options.reflector.max_list_bytes = 2000;
  const auto source = std::make_shared<ScriptedSource>();
  Informer informer({.resource = kind("", "endless"), .source = source, .runner = rig_.runner}, options);
  informer.start();
  rig_.pump();
  const auto stream = source->next();
  stream.open();
  int count = 0;
  for (; !stream.call->cancelled && count < 1000; ++count) {
    stream.send(frame("ADDED", {.name = "o" + std::to_string(count), .version = "1"}));
    rig_.pump();
  }
  EXPECT_LT(count, 20);
  EXPECT_EQ(informer.health().last_error, "the list is longer than 2000 bytes");
  EXPECT_TRUE(lists(source->next()));
}

// On threads, with the deadline in virtual time.
TEST(InformerConcurrency, FallsBackToAListWhenAStreamingListMakesNoProgress) {
  const auto clock = std::make_shared<ManualClock>();
  const auto source = std::make_shared<ScriptedSource>();
  InformerOptions options;
  options.reflector.random = [] { return 0.0; };
  Informer informer({.resource = kind("", "configmaps"),
                     .source = source,
                     .runner = std::make_shared<detail::JobRunner>(clock, 1),
                     .log = {}},
                    options);
  informer.start();
  const auto stream = source->next();
  EXPECT_TRUE(streams(stream));
  stream.open();
  stream.send(frame("ADDED", {.name = "a", .version = "5"}));
  while (informer.health().counters.events == 0) std::this_thread::yield();
  clock->advance(30s);
  const auto list = source->next();
  EXPECT_TRUE(lists(list));
  EXPECT_TRUE(stream.call->cancelled);
  list.answer(list_of({{.name = "b", .version = "6"}}, "10"));
  EXPECT_TRUE(informer.wait_for_sync({}));
  EXPECT_FALSE(informer.store().find("default", "a"));
}

}  // namespace
}  // namespace evenkeel::streaming_tests
