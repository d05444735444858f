// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/wait.hpp>
#include <evenkeel/client/watch.hpp>

#include "fake_transport.hpp"
#include "token_file.hpp"
#include "widget.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::FakeTransport;
using tests::Widget;
using Stream = FakeTransport::StreamCall;

std::string event(const std::string& type, const std::string& name, const std::string& version,
                  int replicas = 1) {
  return R"({"type":")" + type +
         R"(","object":{"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":")" + name +
         R"(","namespace":"default","resourceVersion":")" + version + R"("},"spec":{"replicas":)" +
         std::to_string(replicas) + R"(,"unknown":"{\"\n}"}}})" + "\n";
}

std::string bookmark(const std::string& version) {
  return R"({"type":"BOOKMARK","object":{"kind":"Widget","apiVersion":"test.dev/v1","metadata":{"resourceVersion":")" +
         version + "\"}}}\n";
}

class WatchTest : public ::testing::Test {
 protected:
  WatchTest() {
    // Each connection is fed by the next entry of `connections`; without one it stays silent.
    transport->on_stream = [this](const http::Request&, Stream& stream) {
      if (next_connection >= connections.size()) return;
      const auto feed = connections[next_connection++];  // a copy: the test may replace them meanwhile
      feed(stream);
    };
  }
  static std::function<void(Stream&)> feed(std::string text, bool end = true, int status = 200) {
    return [=](Stream& stream) {
      stream.respond(status);
      stream.data(text);
      if (end) stream.end();
    };
  }
  static std::exception_ptr transport_error(TransportErrorCode code) {
    return std::make_exception_ptr(TransportError(code, "scripted"));
  }
  std::string target(std::size_t index) { return transport->requests().at(index).target; }
  std::string next(Watch<Widget>& watch) {
    const auto event = watch.next(stop.get_token());
    if (!event) return "end";
    static constexpr const char* words[] = {"added", "modified", "deleted", "bookmark", "gone"};
    std::string text = words[static_cast<int>(event->type)];
    if (event->object) text += " " + event->object->metadata.name;
    return text + " " + event->resource_version;
  }

  template <class Call>
  static std::string error_of(Call call) {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  }
  template <class AnyWatch>
  std::string error_of_next(AnyWatch& watch) {
    return error_of([&] { watch.next(stop.get_token()); });
  }

  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Client client{Config{.server = "https://h"}, ClientOptions{.transport = transport, .clock = clock}};
  std::stop_source stop;
  std::vector<std::function<void(Stream&)>> connections;
  std::size_t next_connection = 0;
};

TEST_F(WatchTest, DeliversEventsWithTheirWireForm) {
  connections = {feed(event("ADDED", "a", "6", 3) + event("DELETED", "a", "7"), false)};
  Watch<Widget> watch(client, {.namespace_ = "default", .label_selector = "x=y", .resource_version = "5"});
  const auto first = watch.next(stop.get_token());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->type, WatchEventType::added);
  EXPECT_EQ(first->object->spec.replicas, 3);
  EXPECT_THAT(std::string(first->object.raw()), HasSubstr("\"unknown\""));
  EXPECT_EQ(next(watch), "deleted a 7");
  EXPECT_THAT(target(0),
              HasSubstr("/apis/test.dev/v1/namespaces/default/widgets?watch=true&allowWatchBookmarks=true&"
                        "labelSelector=x%3Dy&resourceVersion=5&timeoutSeconds="));
}

TEST_F(WatchTest, DeliversObjectsWithoutACppType) {
  connections = {feed(event("ADDED", "a", "6", 3), false)};
  ResourceWatch watch(client, Widget::resource, {.resource_version = "5", .metadata_only = true});
  const auto first = watch.next(stop.get_token());
  ASSERT_TRUE(first);
  EXPECT_EQ((*first->object)["spec"]["replicas"], Json(3));
  EXPECT_EQ(first->resource_version, "6");
  EXPECT_EQ(*transport->requests().at(0).headers.find("Accept"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
}

TEST_F(WatchTest, AnyCutOfTheStreamGivesTheSameEvents) {
  const std::string text = event("ADDED", "a", "6") + bookmark("7") + "\n" + event("MODIFIED", "b", "8");
  for (std::size_t size = 1; size <= text.size(); size += size < 16 ? 1 : 37) {
    connections.push_back([&, size](Stream& stream) {
      stream.respond(200);
      for (std::size_t at = 0; at < text.size(); at += size) stream.data(text.substr(at, size));
    });
    Watch<Widget> watch(client, {.resource_version = "5"});
    EXPECT_EQ(next(watch), "added a 6") << size;
    EXPECT_EQ(next(watch), "modified b 8") << size;
  }
}

// Sends a byte each time `gap` has passed.
void trickle(Stream& stream, ManualClock& clock, const std::string& text, Duration gap) {
  for (const char byte : text) {
    clock.advance(gap);
    stream.data({&byte, 1});
  }
}

TEST_F(WatchTest, AnEventThatNeverEndsIsABreak) {
  const std::string endless = event("ADDED", "b", "7").substr(0, 122);
  connections = {[&](Stream& stream) {
                   stream.respond(200);
                   stream.data(event("ADDED", "a", "6"));
                   trickle(stream, *clock, endless.substr(0, 120), 1s);
                   EXPECT_TRUE(stream.is_open());
                   trickle(stream, *clock, endless.substr(120), 1s);
                   EXPECT_FALSE(stream.is_open());
                 },
                 feed(event("ADDED", "b", "7"), false)};
  Watch<Widget> watch(client, {.resource_version = "5"});
  EXPECT_EQ(next(watch), "added a 6");
  std::thread thread([&] { EXPECT_EQ(next(watch), "added b 7"); });
  clock->wait_for_waiters(1);
  clock->advance(1s);
  thread.join();
  EXPECT_THAT(target(1), HasSubstr("resourceVersion=6"));
}

TEST_F(WatchTest, EventsThatArriveSlowlyAreComplete) {
  connections = {[&](Stream& stream) {
    stream.respond(200);
    for (const char* version : {"6", "7", "8"}) {
      const std::string text = event("ADDED", "a", version);
      trickle(stream, *clock, text.substr(0, 100), 1s);
      clock->advance(24h);  // a reader that has paused the stream
      stream.data(text.substr(100, 10));
      stream.data(text.substr(110));
    }
    EXPECT_TRUE(stream.is_open());
  }};
  Watch<Widget> watch(client, {.resource_version = "5"});
  for (const char* version : {"6", "7", "8"}) EXPECT_EQ(next(watch), std::string("added a ") + version);
}

TEST_F(WatchTest, ReconnectsAfterTheServersTimeLimitFromTheLastVersion) {
  connections = {feed(event("ADDED", "a", "6") + bookmark("9")), feed(event("MODIFIED", "a", "10"))};
  Watch<Widget> watch(client, {.resource_version = "5"});
  EXPECT_EQ(next(watch), "added a 6");
  EXPECT_EQ(next(watch), "modified a 10");
  EXPECT_THAT(target(1), HasSubstr("resourceVersion=9&"));
}

TEST_F(WatchTest, BookmarksAreDeliveredIfAskedFor) {
  connections = {feed(bookmark("9"), false)};
  Watch<Widget> watch(client, {.resource_version = "5", .bookmarks = true});
  EXPECT_EQ(next(watch), "bookmark 9");
}

TEST_F(WatchTest, AnEventTornAtAnyByteIsAskedForAgain) {
  const std::string torn = event("MODIFIED", "a", "7");
  for (std::size_t size = 0; size < torn.size(); ++size) {
    SCOPED_TRACE(size);
    const std::size_t before = transport->requests().size();
    next_connection = 0;
    connections = {[&](Stream& stream) {
                     stream.respond(200);
                     stream.data(event("ADDED", "a", "6") + torn.substr(0, size));
                     stream.end(transport_error(TransportErrorCode::interrupted));
                   },
                   feed(torn, false)};
    Watch<Widget> watch(client, {.resource_version = "5"});
    EXPECT_EQ(next(watch), "added a 6");
    std::thread thread([&] { EXPECT_EQ(next(watch), "modified a 7"); });
    clock->wait_for_waiters(1);
    clock->advance(1s);
    thread.join();
    EXPECT_THAT(target(before + 1), HasSubstr("resourceVersion=6&"));
  }
}

TEST_F(WatchTest, ExpiredHistoryIsSignalledForEveryFormOfTheError) {
  const std::string expired =
      R"({"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410})";
  for (const bool as_event : {true, false}) {
    connections = {
        as_event ? feed(R"({"type":"ERROR","object":)" + expired + "}\n", false) : feed(expired, true, 410),
        feed(event("ADDED", "b", "101"), false)};
    next_connection = 0;
    const std::size_t before = transport->requests().size();
    Watch<Widget> watch(client, {.resource_version = "5"});
    EXPECT_EQ(next(watch), "gone 5");
    EXPECT_THROW(next(watch), std::invalid_argument) << "restart() comes first";
    watch.restart("100");
    EXPECT_EQ(next(watch), "added b 101");
    EXPECT_THAT(target(before + 1), HasSubstr("resourceVersion=100&"));
  }
}

// kubeclipper and others omit the kind of a Status, or all but its reason.
TEST_F(WatchTest, AnErrorEventKeepsItsCodeWithoutAKind) {
  for (const char* object :
       {R"({"metadata":{},"status":"Failure","reason":"Expired","code":410})",
        R"({"metadata":null,"code":410,"message":"too old"})", R"({"kind":"Failure","code":410})",
        R"({"kind":"Status","reason":"Expired"})", R"({"status":"Failure","reason":"Gone"})"}) {
    connections = {feed(R"({"type":"ERROR","object":)" + std::string(object) + "}\n", false)};
    next_connection = 0;
    Watch<Widget> watch(client, {.resource_version = "5"});
    EXPECT_EQ(next(watch), "gone 5") << object;
  }
}

TEST_F(WatchTest, ARefusalAtTheStartIsThrown) {
  for (const int code : {403, 404}) {
    connections.push_back(
        feed(R"({"kind":"Status","reason":"Because","message":"no","code":)" + std::to_string(code) + "}",
             true, code));
    Watch<Widget> watch(client, {.namespace_ = "default", .resource_version = "5"});
    try {
      next(watch);
      FAIL();
    } catch (const ApiError& error) {
      EXPECT_EQ(error.what(), "watch Widget in default: " + std::to_string(code) + " Because: no");
    }
    EXPECT_THROW(next(watch), ApiError);
  }
}

TEST_F(WatchTest, RefusesWhatNoPathCanContain) {
  EXPECT_THROW(Watch<Widget>(client, {.namespace_ = "a/b"}), std::invalid_argument);
  EXPECT_THROW(ResourceWatch(client, {"", "v1", "Pod", ""}), std::invalid_argument);
}

// For example if there are no more threads for a program that gets a token.
TEST_F(WatchTest, MayBeAskedAgainAfterAnErrorOfTheSystem) {
  connections = {[](Stream&) { throw std::system_error(EAGAIN, std::generic_category()); },
                 feed(event("ADDED", "a", "6"), false)};
  Watch<Widget> watch(client, {.resource_version = "5"});
  EXPECT_THROW(next(watch), std::system_error);
  EXPECT_EQ(next(watch), "added a 6");
}

TEST_F(WatchTest, OutlastsAServerThatIsAwayForAWhile) {
  connections = {feed(event("ADDED", "a", "6")),
                 [](Stream& stream) { stream.end(transport_error(TransportErrorCode::connect)); },
                 feed("", true, 503), feed("", true, 403), feed(event("MODIFIED", "a", "7"), false)};
  Watch<Widget> watch(client, {.resource_version = "5"});
  EXPECT_EQ(next(watch), "added a 6");
  std::thread thread([&] { EXPECT_EQ(next(watch), "modified a 7"); });
  for (const Duration wait : {1000ms, 2000ms, 4000ms}) {
    clock->wait_for_waiters(1);
    clock->advance(wait);
  }
  thread.join();
}

TEST_F(WatchTest, ABadObjectIsNamedAndDoesNotEndTheWatch) {
  connections = {feed(
      R"({"type":"ADDED","object":{"metadata":{"name":"bad","namespace":"default","resourceVersion":"6"},)"
      R"("spec":{"replicas":"many"}}})"
      "\n" +
          event("ADDED", "b", "7"),
      false)};
  Watch<Widget> watch(client, {.resource_version = "5"});
  try {
    next(watch);
    FAIL();
  } catch (const DecodeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("widgets/default/bad: spec.replicas"));
  }
  EXPECT_EQ(next(watch), "added b 7");
}

TEST_F(WatchTest, GarbageIsABreak) {
  for (const char* garbage : {"<html>\n", "{}\n", "{\"type\":5,\"object\":{}}\n", "{\"type\":\"ADDED\"}\n",
                              "{\"type\":\"NEW\",\"object\":{}}\n", "{\"type\":\"ADDED\",\"object\":[]}\n"}) {
    connections = {feed(garbage, false), feed(event("ADDED", "a", "6"), false)};
    next_connection = 0;
    Watch<Widget> watch(client, {.resource_version = "5"});
    std::thread thread([&] { EXPECT_EQ(next(watch), "added a 6") << garbage; });
    clock->wait_for_waiters(1);
    clock->advance(1s);
    thread.join();
  }
}

TEST_F(WatchTest, StopEndsTheWaitForEventsAndForTheNextTry) {
  Watch<Widget> silent(client, {.resource_version = "5"});
  std::thread thread([&] { EXPECT_EQ(next(silent), "end"); });
  clock->wait_for_waiters(1);
  stop.request_stop();
  thread.join();
  stop = {};
  connections = {[](Stream& stream) { stream.end(transport_error(TransportErrorCode::connect)); }};
  next_connection = 0;
  Watch<Widget> waiting(client, {.resource_version = "5"});
  std::thread second([&] { EXPECT_EQ(next(waiting), "end"); });
  clock->wait_for_waiters(1);
  stop.request_stop();
  second.join();
}

TEST_F(WatchTest, ASlowReaderHoldsTheServerBack) {
  const std::string one = event("MODIFIED", "a", "6");
  connections = {[&](Stream& stream) {
    stream.respond(200);
    for (int i = 0; i < 10; ++i) stream.data(one);
  }};
  Watch<Widget> watch(client, {.resource_version = "5", .max_buffered_bytes = 5 * one.size()});
  next(watch);
  Stream& stream = *transport->streams[0];
  EXPECT_EQ(stream.pauses, 1);
  stream.on_resume = [&] { stream.data(event("DELETED", "a", "7")); };  // a transport may deliver immediately
  int seen = 1;
  while (next(watch) != "deleted a 7") ++seen;
  EXPECT_EQ(seen, 10);
  EXPECT_EQ(stream.resumes, 1);
}

TEST_F(WatchTest, DestructionCancelsTheConnection) {
  connections = {feed(event("ADDED", "a", "6"), false)};
  {
    Watch<Widget> watch(client, {.resource_version = "5"});
    next(watch);
  }
  transport->streams[0]->data("x");  // no caller is there to read it
  EXPECT_EQ(transport->streams.size(), 1U);
}

/// Records lines of level info and above.
struct WatchLines final : LogSink {
  bool enabled(LogLevel level) const noexcept override { return level != LogLevel::debug; }
  void write(LogLevel level, std::string_view message, LogFields, LogFields fields) noexcept override {
    if (level == LogLevel::debug) return;
    std::string line(message);
    for (const LogField& field : fields) {
      if (field.key == "reason") line += ": " + std::string(std::get<std::string_view>(field.value.get()));
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

/// Runs the loop of the documentation on a thread for one virtual minute, against connections answered by
/// `serve`. Returns the number of connections.
template <class Serve>
std::size_t connections_in_a_minute(const std::shared_ptr<WatchLines>& lines, Serve serve) {
  const auto transport = std::make_shared<FakeTransport>();
  const auto clock = std::make_shared<ManualClock>();
  transport->on_stream = [&](const http::Request&, Stream& stream) { serve(stream); };
  const Client client(Config{.server = "https://h"},
                      ClientOptions{.transport = transport, .clock = clock, .log = Log(lines)});
  std::stop_source stop;
  std::thread follower([&] {
    Watch<Widget> watch(client, {.resource_version = "5"});
    while (auto event = watch.next(stop.get_token())) {
      if (event->type == WatchEventType::gone) watch.restart("6");
    }
  });
  const TimePoint end = clock->now() + 60s;
  while (clock->now() < end && transport->requests().size() < 1000) {
    clock->wait_for_waiters(1);
    clock->advance(1s);
  }
  stop.request_stop();
  follower.join();
  return transport->requests().size();
}

TEST(WatchLoopConcurrency, RepeatedGonesAreFollowedByAPauseAndLoggedOnce) {
  const auto lines = std::make_shared<WatchLines>();
  EXPECT_LE(connections_in_a_minute(lines,
                                    [](Stream& stream) {
                                      stream.respond(410);
                                      stream.end();
                                    }),
            12U);
  ASSERT_EQ(lines->lines.size(), 1U);
  EXPECT_THAT(
      lines->lines[0],
      HasSubstr("watch interrupted: watch Widget: the history is gone again, without an event since"));
}

TEST(WatchLoopConcurrency, AnErrorEventAfterABookmarkIsFollowedByAPause) {
  const auto lines = std::make_shared<WatchLines>();
  EXPECT_LE(connections_in_a_minute(
                lines,
                [](Stream& stream) {
                  stream.respond(200);
                  stream.data(bookmark("9"));
                  stream.data(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                              "\n");
                }),
            14U);
  EXPECT_EQ(lines->lines.size(), 1U);
}

TEST(WatchLoopConcurrency, AServerThatNeverAnswersTheWatchIsLoggedOnce) {
  const auto lines = std::make_shared<WatchLines>();
  EXPECT_LE(connections_in_a_minute(lines, [](Stream&) {}), 3U);
  ASSERT_EQ(lines->lines.size(), 1U);
  EXPECT_THAT(lines->lines[0],
              HasSubstr("watch interrupted: watch Widget: the server took the request and did not "
                        "answer within 30 s"));
}

/// Ways in which servers and proxies end the watch of an expired version at once.
const std::vector<std::function<void(Stream&)>>& empty_ends() {
  static const std::vector<std::function<void(Stream&)>> all = {
      [](Stream& stream) {
        stream.respond(200);
        stream.end();
      },
      [](Stream& stream) {
        stream.respond(200);
        stream.end(std::make_exception_ptr(TransportError(TransportErrorCode::interrupted, "cut")));
      },
      [](Stream& stream) {
        stream.respond(200);
        stream.data(R"({"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}})"
                    "\n");
      },
      [](Stream& stream) {
        stream.respond(200);
        stream.data("<html>\n");
      }};
  return all;
}

class WatchTestConcurrency : public WatchTest {};

TEST_F(WatchTestConcurrency, ThreeEmptyEndsInARowAreGone) {
  for (const auto& end : empty_ends()) {
    const auto lines = std::make_shared<WatchLines>();
    const Client logged(Config{.server = "https://h"},
                        ClientOptions{.transport = transport, .clock = clock, .log = Log(lines)});
    connections = {end, end, end, feed(event("ADDED", "b", "101"), false)};
    next_connection = 0;
    Watch<Widget> watch(logged, {.resource_version = "5"});
    std::thread thread([&] {
      EXPECT_EQ(next(watch), "gone 5");
      watch.restart("100");
      EXPECT_EQ(next(watch), "added b 101");
    });
    for (const Duration wait : {1s, 2s}) {
      clock->wait_for_waiters(1);
      clock->advance(wait);
    }
    thread.join();
    EXPECT_EQ(lines->lines.size(), 1U) << "logged once";
  }
}

TEST_F(WatchTestConcurrency, AnEmptyEndIsLogged) {
  const auto lines = std::make_shared<WatchLines>();
  EXPECT_LE(connections_in_a_minute(lines, empty_ends().front()), 12U);
  ASSERT_GE(lines->lines.size(), 1U);
  EXPECT_LE(lines->lines.size(), 2U);
  EXPECT_THAT(lines->lines[0], HasSubstr("watch Widget: the server ended the watch immediately"));
}

// There is no version that could have expired: each watch begins with what exists.
TEST_F(WatchTestConcurrency, AWatchFromTheBeginningIsNeverGone) {
  const auto& end = empty_ends().front();
  connections = {end, end, end, end, feed(event("ADDED", "b", "101"), false)};
  Watch<Widget> watch(client, {});
  std::thread thread([&] { EXPECT_EQ(next(watch), "added b 101"); });
  for (const Duration wait : {1s, 2s, 4s, 8s}) {
    clock->wait_for_waiters(1);
    clock->advance(wait);
  }
  thread.join();
}

TEST_F(WatchTestConcurrency, TheDeadlineOfTheClientEndsEachOfItsWaits) {
  for (const bool accepted : {false, true}) {
    connections = {[=](Stream& stream) {
      if (accepted) stream.respond(200);
    }};
    next_connection = 0;
    Watch<Widget> watch(client.with({.deadline = clock->now() + 3s}), {.resource_version = "5"});
    std::thread thread([&] { EXPECT_EQ(error_of_next(watch), "watch Widget: deadline exceeded"); });
    clock->wait_for_waiters(1);
    clock->advance(3s);
    thread.join();
    EXPECT_FALSE(transport->streams.back()->is_open());
    EXPECT_EQ(error_of_next(watch), "watch Widget: deadline exceeded");
  }
  // Between two connections, and of a watch without a C++ type.
  connections = {feed("", true, 503)};
  next_connection = 0;
  ResourceWatch watch(client.with({.deadline = clock->now() + 100ms}), Widget::resource, {});
  std::thread thread([&] { EXPECT_EQ(error_of_next(watch), "watch Widget: deadline exceeded"); });
  clock->wait_for_waiters(1);
  clock->advance(100ms);
  thread.join();
}

TEST_F(WatchTestConcurrency, TheStopTokenOfTheClientEndsIt) {
  connections = {feed("", false)};
  std::stop_source bound;
  Watch<Widget> watch(client.with({.stop = bound.get_token()}), {.resource_version = "5"});
  std::thread thread([&] { EXPECT_EQ(error_of_next(watch), "watch Widget: cancelled"); });
  clock->wait_for_waiters(1);
  bound.request_stop();
  thread.join();
  stop.request_stop();
  EXPECT_EQ(next(watch), "end") << "its own token comes first";
}

TEST_F(WatchTestConcurrency, AFirst401IsRepeatedOnceWithNewCredentials) {
  const tests::TokenFile token("rejected");
  const Client refreshing(Config{.server = "https://h", .token_file = token.path()},
                          ClientOptions{.transport = transport, .clock = clock});
  const auto refuse = [&](const char* next_token) {
    return [&token, next_token](Stream& stream) {
      token.write(next_token);
      feed(R"({"kind":"Status","reason":"Unauthorized","message":"no","code":401})", true, 401)(stream);
    };
  };
  connections = {refuse("good"), feed(event("ADDED", "a", "6"), false)};
  Watch<Widget> watch(refreshing, {.resource_version = "5"});
  EXPECT_EQ(next(watch), "added a 6");
  EXPECT_EQ(*transport->requests().at(0).headers.find("Authorization"), "Bearer rejected");
  EXPECT_EQ(*transport->requests().at(1).headers.find("Authorization"), "Bearer good");

  connections = {refuse("other"), refuse("third"), feed("", false)};
  next_connection = 0;
  Watch<Widget> twice(refreshing, {.resource_version = "5"});
  EXPECT_EQ(error_of_next(twice), "watch Widget: 401 Unauthorized: no");

  connections = {refuse("third"), feed("", false)};
  next_connection = 0;
  Watch<Widget> same(refreshing, {.resource_version = "5"});
  EXPECT_EQ(error_of_next(same), "watch Widget: 401 Unauthorized: no") << "there is no other token";
}

TEST_F(WatchTestConcurrency, AWaitEndsWithTheLimitsOfItsClient) {
  const std::string list = R"({"metadata":{"resourceVersion":"5"},"items":[]})";
  const auto exists = [](const Snapshot<Widget>& widget) { return static_cast<bool>(widget); };
  const auto error_of_wait = [&](const Client& bound) {
    return error_of([&] { wait_until<Widget>(bound, {"default", "web"}, exists, stop.get_token()); });
  };
  transport->reply(200, list);
  std::thread late([&] {
    EXPECT_EQ(error_of_wait(client.with({.deadline = clock->now() + 3s})),
              "watch Widget in default: deadline exceeded");
  });
  clock->wait_for_waiters(1);
  clock->advance(3s);
  late.join();

  std::stop_source bound;
  transport->reply(200, list);
  std::thread stopped([&] {
    EXPECT_EQ(error_of_wait(client.with({.stop = bound.get_token()})), "watch Widget in default: cancelled");
  });
  clock->wait_for_waiters(1);
  bound.request_stop();
  stopped.join();

  transport->hang();  // the list, too, ends with the token of the wait
  transport->on_request = [&](const http::Request&) { stop.request_stop(); };
  EXPECT_EQ(wait_until<Widget>(client, {"default", "web"}, exists, stop.get_token()), std::nullopt);
}

TEST_F(WatchTestConcurrency, AWaitListsAgainWhenNoWatchWorks) {
  const auto list = [](const std::string& items) {
    return R"({"metadata":{"resourceVersion":"5"},"items":[)" + items + "]}";
  };
  transport->reply(200, list(""));
  transport->reply(200, list(R"({"metadata":{"name":"web","namespace":"default","resourceVersion":"6"}})"));
  const auto& end = empty_ends().front();
  connections = {end, end, end};
  std::thread thread([&] {
    const auto found = wait_until<Widget>(
        client, {"default", "web"}, [](const auto& widget) { return static_cast<bool>(widget); },
        stop.get_token());
    ASSERT_TRUE(found);
    EXPECT_EQ((*found)->metadata.resource_version, "6");
  });
  for (const Duration wait : {1s, 2s}) {
    clock->wait_for_waiters(1);
    clock->advance(wait);
  }
  thread.join();
}

}  // namespace
}  // namespace evenkeel
