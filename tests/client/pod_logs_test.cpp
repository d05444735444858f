// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/pod_logs.hpp>

#include "client/request/line_splitter.hpp"
#include "fake_transport.hpp"
#include "token_file.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::FakeTransport;
using Stream = FakeTransport::StreamCall;

TEST(LineSplitter, GivesTheSameLinesForEveryCut) {
  const std::string text = "one\n\ntwo\r\nthree";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    detail::LineSplitter splitter;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      splitter.feed(std::string_view(text).substr(at, size));
      while (auto line = splitter.next()) lines.push_back(*line);
    }
    EXPECT_THAT(lines, ElementsAre("one", "", "two\r")) << size;
    EXPECT_EQ(splitter.take_rest(), "three") << size;
    EXPECT_EQ(splitter.take_rest(), std::nullopt) << size;
  }
}

TEST(LineSplitter, DeliversALongLineInParts) {
  constexpr std::size_t longest = detail::LineSplitter::longest;
  for (const std::size_t length : {longest - 1, longest, longest + 1, 2 * longest, 2 * longest + 1}) {
    const std::string text = std::string(length, 'x') + "\nend\n";
    detail::LineSplitter splitter;
    splitter.feed(text);
    std::size_t got = 0;
    std::optional<std::string> line;
    while ((line = splitter.next()) && *line != "end") {
      EXPECT_LE(line->size(), longest);
      got += line->size();
    }
    EXPECT_EQ(got, length);
    EXPECT_EQ(line, "end") << length;
  }
}

class PodLogs : public ::testing::Test {
 protected:
  void answer(std::function<void(Stream&)> feed) {
    transport->on_stream = [feed = std::move(feed)](const http::Request&, Stream& stream) { feed(stream); };
  }
  static std::exception_ptr broken() {
    return std::make_exception_ptr(TransportError(TransportErrorCode::interrupted, "cut"));
  }

  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  Client client{Config{.server = "https://h"}, {.transport = transport}};
  const ObjectKey web{"default", "web-0"};
};

TEST_F(PodLogs, AreReadAsOneText) {
  transport->reply(200, "one\ntwo\n");
  EXPECT_EQ(client.run(calls::read_pod_logs(web, {.container = "main",
                                                  .previous = true,
                                                  .timestamps = true,
                                                  .tail_lines = 2,
                                                  .since = 90s,
                                                  .limit_bytes = 1000})),
            "one\ntwo\n");
  EXPECT_EQ(transport->last().target,
            "/api/v1/namespaces/default/pods/web-0/log?container=main&previous=true&timestamps=true&"
            "tailLines=2&sinceSeconds=90&limitBytes=1000");
  EXPECT_THROW(calls::read_pod_logs(web, {.follow = true}), std::invalid_argument);
  EXPECT_THROW(calls::read_pod_logs(web, {.since = 1s, .since_time = "2026-01-02T15:04:05Z"}),
               std::invalid_argument);
  EXPECT_THROW(calls::read_pod_logs(web, {.since = 1ms}), std::invalid_argument);
  EXPECT_THROW(calls::read_pod_logs({"default", ""}), std::invalid_argument);
}

TEST_F(PodLogs, AreReadLineByLine) {
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\ntw");
    stream.data("o\n\nrest");
    stream.end();
  });
  PodLogReader reader(client, web, {.follow = true});
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "two");
  EXPECT_EQ(reader.next(), "");
  EXPECT_EQ(reader.next(), "rest");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(transport->last().target, "/api/v1/namespaces/default/pods/web-0/log?follow=true");
  EXPECT_EQ(transport->last().idle_timeout, Duration::zero()) << "a container may be silent for long";
}

TEST_F(PodLogs, ACutIsAnErrorAfterTheLinesBeforeIt) {
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\ntw");
    stream.end(broken());
  });
  PodLogReader reader(client, web);
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "tw");
  EXPECT_THROW(reader.next(), TransportError);
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_F(PodLogs, ARejectionIsAnApiError) {
  answer([](Stream& stream) {
    stream.respond(400);
    stream.data(R"({"kind":"Status","reason":"BadRequest","message":"container is starting","code":400})");
    stream.end();
  });
  PodLogReader reader(client, web);
  try {
    reader.next();
    ADD_FAILURE() << "no error";
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(), "get Pod/log default/web-0: 400 BadRequest: container is starting");
  }
}

TEST_F(PodLogs, AReaderThatIsBehindThrottlesTheServer) {
  const std::string line(1000, 'x');
  answer([&](Stream& stream) {
    stream.respond(200);
    for (int i = 0; i < 2000; ++i) stream.data(line + "\n");
  });
  PodLogReader reader(client, web);
  EXPECT_EQ(reader.next()->size(), 1000U);
  EXPECT_EQ(transport->streams.front()->pauses, 1);
  for (int i = 1; i < 2000; ++i) reader.next();
  EXPECT_EQ(transport->streams.front()->resumes, 1);
}

TEST_F(PodLogs, AReaderThatIsBehindThrottlesTheServerOnEmptyLines) {
  const std::string lines(100'000, '\n');
  answer([&](Stream& stream) {
    stream.respond(200);
    stream.data(lines);
  });
  PodLogReader reader(client, web);
  EXPECT_EQ(reader.next(), "");
  EXPECT_EQ(transport->streams.front()->pauses, 1);
  for (std::size_t i = 1; i < lines.size(); ++i) reader.next();
  EXPECT_EQ(transport->streams.front()->resumes, 1);
}

TEST_F(PodLogs, AStopEndsTheWaitAndNotTheReader) {
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\n");
  });
  PodLogReader reader(client, web);
  EXPECT_EQ(reader.next(), "one");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(reader.next(stop.get_token()), std::nullopt);
  transport->streams.front()->data("two\n");
  EXPECT_EQ(reader.next(), "two");
}

TEST_F(PodLogs, TheStopTokenOfTheClientEndsTheWait) {
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\n");
  });
  std::stop_source stop;
  PodLogReader reader(client.with({.stop = stop.get_token()}), web);
  EXPECT_EQ(reader.next(), "one");
  stop.request_stop();
  EXPECT_THROW(reader.next(), Cancelled);
  transport->streams.front()->data("two\n");
  EXPECT_THROW(reader.next(), Cancelled);
}

// A container that writes all the time must not keep the reader.
TEST_F(PodLogs, LimitsEndAReaderThatHasLines) {
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\ntwo\nthree\n");
  });
  const auto clock = std::make_shared<ManualClock>();
  const Client timed(Config{.server = "https://h"}, {.transport = transport, .clock = clock});
  PodLogReader late(timed.with({.deadline = clock->now() + 3s}), web);
  EXPECT_EQ(late.next(), "one");
  clock->advance(3s);
  EXPECT_THROW(late.next(), TransportError);
  std::stop_source stop;
  PodLogReader reader(client, web);
  EXPECT_EQ(reader.next(stop.get_token()), "one");
  stop.request_stop();
  EXPECT_EQ(reader.next(stop.get_token()), std::nullopt);
}

TEST_F(PodLogs, TheStopTokenOfTheClientEndsAListener) {
  answer([](Stream& stream) { stream.respond(200); });
  std::stop_source stop;
  std::string end;
  start_pod_logs(client.with({.stop = stop.get_token()}), web, {},
                 {.on_line = [](const std::string&) {},
                  .on_end =
                      [&](const std::exception_ptr& error) {
                        try {
                          std::rethrow_exception(error);
                        } catch (const std::exception& problem) {
                          end = problem.what();
                        }
                      }});
  EXPECT_EQ(end, "");
  stop.request_stop();
  EXPECT_EQ(end, "cancelled");
}

class PodLogsConcurrency : public PodLogs {};

TEST_F(PodLogsConcurrency, AFirst401IsRepeatedOnceWithNewCredentials) {
  const tests::TokenFile token("rejected");
  const Client refreshing(Config{.server = "https://h", .token_file = token.path()},
                          {.transport = transport});
  transport->on_stream = [&](const http::Request& request, Stream& stream) {
    const bool good = *request.headers.find("Authorization") == "Bearer good";
    token.write("good");
    stream.respond(good ? 200 : 401);
    stream.data("line\n");
    stream.end();
  };
  PodLogReader reader(refreshing, web, {.follow = true});
  EXPECT_EQ(reader.next(), "line");
  EXPECT_EQ(reader.next(), std::nullopt);
  token.write("rejected");
  const Client again(Config{.server = "https://h", .token_file = token.path()}, {.transport = transport});
  std::promise<std::string> line;
  std::promise<std::exception_ptr> end;
  start_pod_logs(again, web, {},
                 {.on_line = [&](std::string text) { line.set_value(std::move(text)); },
                  .on_end = [&](std::exception_ptr error) { end.set_value(std::move(error)); }});
  EXPECT_EQ(line.get_future().get(), "line");
  EXPECT_EQ(end.get_future().get(), nullptr);
}

TEST_F(PodLogs, AStartThatFailedIsRepeated) {
  answer([](Stream&) { throw TransportError(TransportErrorCode::closed, "no transport"); });
  PodLogReader reader(client, web);
  EXPECT_THROW(reader.next(), TransportError);
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\n");
  });
  EXPECT_EQ(reader.next(), "one");
}

TEST_F(PodLogs, ListenersGetLinesAndOneEnd) {
  std::vector<std::string> lines;
  std::vector<std::string> ends;
  const PodLogListener listener{.on_line = [&](std::string line) { lines.push_back(std::move(line)); },
                                .on_end =
                                    [&](const std::exception_ptr& error) {
                                      try {
                                        if (error) std::rethrow_exception(error);
                                        ends.emplace_back("end");
                                      } catch (const std::exception& problem) {
                                        ends.emplace_back(problem.what());
                                      }
                                    }};
  answer([](Stream& stream) {
    stream.respond(200);
    stream.data("one\ntwo");
    stream.end();
  });
  start_pod_logs(client, web, {}, listener);
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  answer([](Stream& stream) {
    stream.respond(404);
    stream.data(R"({"kind":"Status","reason":"NotFound","message":"pods \"web-0\" not found","code":404})");
    stream.end();
  });
  start_pod_logs(client, web, {}, listener);
  answer([](Stream& stream) { stream.respond(200); });
  start_pod_logs(client, web, {.follow = true}, listener)->cancel();
  EXPECT_THAT(ends, ElementsAre("end", HasSubstr("get Pod/log default/web-0: 404 NotFound"), "cancelled"));
  EXPECT_EQ(lines.size(), 2U);
}

}  // namespace
}  // namespace evenkeel
