// SPDX-License-Identifier: Apache-2.0
// The asynchronous driver of a watch, and waits with a completion. What both drivers decide alike:
// watch_test.cpp.
#include <cerrno>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/client/watch.hpp>

#include "fake_transport.hpp"
#include "token_file.hpp"
#include "widget.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::FakeTransport;
using tests::Widget;
using Stream = FakeTransport::StreamCall;

std::string widget_event(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type +
         R"(","object":{"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":")" + name +
         R"(","namespace":"default","resourceVersion":")" + version + R"("},"spec":{"replicas":1}}})" + "\n";
}

constexpr const char* expired =
    R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410}})"
    "\n";

/// Texts of the events that a listener got, in order; readable from another thread.
class Heard {
 public:
  void add(std::string what) {
    MutexLock lock(mutex_);
    heard_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::string next() {
    MutexLock lock(mutex_);
    while (heard_.empty()) changed_.wait(lock);
    std::string first = std::move(heard_.front());
    heard_.pop_front();
    return first;
  }
  bool empty() {
    MutexLock lock(mutex_);
    return heard_.empty();
  }
  void end() {
    MutexLock lock(mutex_);
    ++ends_;
    changed_.notify_all();
  }
  void wait_for_ends(int count) {
    MutexLock lock(mutex_);
    while (ends_ < count) changed_.wait(lock);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::string> heard_ EVENKEEL_GUARDED_BY(mutex_);
  int ends_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

std::string text_of(Outcome<WatchEvent<Widget>> outcome) {
  if (!outcome.ok()) return text_of(outcome.error());
  static constexpr const char* words[] = {"added", "modified", "deleted", "bookmark", "gone"};
  const WatchEvent<Widget>& event = outcome.value();
  std::string text = words[static_cast<int>(event.type)];
  if (event.object) text += " " + event.object->metadata.name;
  return text + " " + event.resource_version;
}

class AsyncWatchConcurrency : public ::testing::Test {
 protected:
  AsyncWatchConcurrency() {
    transport->on_stream = [this](const http::Request& request, Stream& stream) {
      heard.add("connected");
      targets.add(request.target);
      MutexLock lock(mutex);
      if (connections.empty()) return;
      const auto feed = std::move(connections.front());
      connections.pop_front();
      lock.unlock();
      feed(stream);
      lock.lock();
    };
  }
  ~AsyncWatchConcurrency() override {
    if (call) call->cancel();
    heard.wait_for_ends(listeners);
    // The client's thread may be the last to hold the client: then it must have let go of it before the
    // program ends.
    client.reset();
    while (transport.use_count() > 1) std::this_thread::yield();
  }

  static std::function<void(Stream&)> feed(std::string text, bool end = false, int status = 200) {
    return [=](Stream& stream) {
      stream.respond(status);
      stream.data(text);
      if (end) stream.end();
    };
  }
  void then(std::function<void(Stream&)> connection) {
    MutexLock lock(mutex);
    connections.push_back(std::move(connection));
  }
  WatchListener<Widget> listener() {
    ++listeners;
    return {.on_event = [this](auto outcome) { heard.add(text_of(std::move(outcome))); },
            .on_end =
                [this](const std::exception_ptr& error) {
                  heard.add("end: " + text_of(error));
                  heard.end();
                }};
  }
  void start(WatchOptions options = {.resource_version = "5"}) {
    call = start_watch<Widget>(*client, std::move(options), listener());
  }
  /// Advances the time to the next deadline of the client's thread.
  void advance(Duration by) {
    clock->wait_for_waiters(1);
    clock->advance(by);
  }

  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::optional<Client> client{std::in_place, Config{.server = "https://h"},
                               ClientOptions{.transport = transport, .clock = clock}};
  Heard heard;
  Heard targets;
  Mutex mutex;
  std::deque<std::function<void(Stream&)>> connections;
  std::shared_ptr<WatchCall> call;
  int listeners = 0;
};

TEST_F(AsyncWatchConcurrency, DeliversEventsAndReconnectsFromTheLastVersion) {
  then(feed(widget_event("ADDED", "a", "6") + widget_event("DELETED", "a", "7"), true));
  then(feed(widget_event("MODIFIED", "b", "8")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added a 6");
  EXPECT_EQ(heard.next(), "deleted a 7");
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "modified b 8");
  EXPECT_THAT(targets.next(), HasSubstr("resourceVersion=5&"));
  EXPECT_THAT(targets.next(), HasSubstr("resourceVersion=7&"));
}

TEST_F(AsyncWatchConcurrency, BacksOffAfterABrokenConnection) {
  then([](Stream& stream) {
    stream.end(std::make_exception_ptr(TransportError(TransportErrorCode::interrupted, "scripted")));
  });
  then(feed(widget_event("ADDED", "a", "6")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  clock->wait_for_waiters(1);
  EXPECT_TRUE(heard.empty());
  advance(1s);
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added a 6");
}

TEST_F(AsyncWatchConcurrency, GoneWaitsForARestart) {
  then(feed(expired));
  then(feed(widget_event("ADDED", "b", "101")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "gone 5");
  call->restart("100");
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added b 101");
  targets.next();
  EXPECT_THAT(targets.next(), HasSubstr("resourceVersion=100&"));
}

TEST_F(AsyncWatchConcurrency, AListenerMayRestartAndCancel) {
  then(feed(expired + widget_event("ADDED", "never", "6")));
  then(feed(widget_event("ADDED", "b", "101") + widget_event("ADDED", "never", "102")));
  call = nullptr;
  Mutex own;
  std::shared_ptr<WatchCall> handle;
  own.lock();
  auto hears = listener();
  hears.on_event = [&](Outcome<WatchEvent<Widget>> outcome) {
    MutexLock lock(own);
    const std::shared_ptr<WatchCall> watch = handle;
    lock.unlock();
    const bool gone = outcome.value().type == WatchEventType::gone;
    heard.add(text_of(std::move(outcome)));
    if (gone) {
      watch->restart("100");
    } else {
      watch->cancel();
    }
    lock.lock();
  };
  handle = start_watch<Widget>(*client, {.resource_version = "5"}, hears);
  own.unlock();
  for (const char* what : {"connected", "gone 5", "connected", "added b 101", "end: watch Widget: cancelled"})
    EXPECT_EQ(heard.next(), what);
}

TEST_F(AsyncWatchConcurrency, EndsWithARejection) {
  then(feed(R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"no","code":403})", true,
            403));
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_THAT(heard.next(), HasSubstr("end: watch Widget: 403 Forbidden"));
}

TEST_F(AsyncWatchConcurrency, RefusesWhatNoPathCanContain) {
  EXPECT_THROW(start_watch<Widget>(*client, {.namespace_ = "a/b"}, WatchListener<Widget>{}),
               std::invalid_argument);
  EXPECT_THROW(start_watch(*client, {"", "v1", "Pod", ""}, {}, WatchListener<DynamicObject>{}),
               std::invalid_argument);
}

TEST_F(AsyncWatchConcurrency, AnErrorOfTheSystemEndsItOnlyAtTheStart) {
  const auto fail = [](Stream&) { throw std::system_error(EAGAIN, std::generic_category(), "no thread"); };
  then(fail);
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_THAT(heard.next(), HasSubstr("end: no thread"));

  then(feed(widget_event("ADDED", "a", "6"), true));
  then(fail);
  then(feed(widget_event("ADDED", "b", "7")));
  start();
  for (const char* what : {"connected", "added a 6", "connected"}) EXPECT_EQ(heard.next(), what);
  advance(1s);
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added b 7");
}

TEST_F(AsyncWatchConcurrency, AnObjectOfAnotherTypeIsAnErrorAndTheWatchGoesOn) {
  const std::string wrong =
      R"({"type":"ADDED","object":{"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"x",)"
      R"("namespace":"default","resourceVersion":"6"},"spec":{"replicas":"many"}}})"
      "\n";
  then(feed(wrong + widget_event("ADDED", "a", "7")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_THAT(heard.next(), HasSubstr("widgets/default/x"));
  EXPECT_EQ(heard.next(), "added a 7");
}

TEST_F(AsyncWatchConcurrency, ASilentServerIsLeftAfterThirtySeconds) {
  then([](Stream&) {});
  then(feed(widget_event("ADDED", "a", "6")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  advance(30s);
  advance(1s);
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added a 6");
}

TEST_F(AsyncWatchConcurrency, CancelEndsEachOfItsWaits) {
  start();
  EXPECT_EQ(heard.next(), "connected");
  call->cancel();
  call->cancel();
  EXPECT_EQ(heard.next(), "end: watch Widget: cancelled");

  then(feed(expired));
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "gone 5");
  call->cancel();
  EXPECT_EQ(heard.next(), "end: watch Widget: cancelled");

  then([](Stream& stream) {
    stream.end(std::make_exception_ptr(TransportError(TransportErrorCode::connect, "x")));
  });
  start();
  EXPECT_EQ(heard.next(), "connected");
  clock->wait_for_waiters(1);
  call->cancel();
  EXPECT_EQ(heard.next(), "end: watch Widget: cancelled");
}

TEST_F(AsyncWatchConcurrency, TheStopTokenEndsIt) {
  std::stop_source stop;
  call = start_watch<Widget>(client->with({.stop = stop.get_token()}), {}, listener());
  EXPECT_EQ(heard.next(), "connected");
  stop.request_stop();
  EXPECT_EQ(heard.next(), "end: watch Widget: cancelled");
}

// An elector, for instance, starts its watch under its lock.
TEST_F(AsyncWatchConcurrency, ItsStartCallsNoListener) {
  std::stop_source stop;
  stop.request_stop();
  const auto own = std::make_shared<Mutex>();  // the listener may unlock it after the test has ended
  auto hears = listener();
  hears.on_end = [own, add = hears.on_end](const auto& error) {
    MutexLock lock(*own);
    add(error);
  };
  own->lock();
  call = start_watch<Widget>(client->with({.stop = stop.get_token()}), {}, hears);
  own->unlock();
  EXPECT_EQ(heard.next(), "end: watch Widget: cancelled");
}

TEST_F(AsyncWatchConcurrency, TheDeadlineOfTheClientEndsEachOfItsWaits) {
  const auto start_with = [this](Duration limit) {
    call = start_watch<Widget>(client->with({.deadline = clock->now() + limit}), {.resource_version = "5"},
                               listener());
  };
  then(feed("", false));
  start_with(3s);
  EXPECT_EQ(heard.next(), "connected");
  advance(3s);
  EXPECT_EQ(heard.next(), "end: watch Widget: deadline exceeded");
  EXPECT_FALSE(transport->streams.back()->is_open());
  then(feed("", true, 503));  // it backs off
  start_with(100ms);
  EXPECT_EQ(heard.next(), "connected");
  advance(100ms);
  EXPECT_EQ(heard.next(), "end: watch Widget: deadline exceeded");
  then(feed(expired));  // it waits for restart()
  start_with(3s);
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "gone 5");
  advance(3s);
  EXPECT_EQ(heard.next(), "end: watch Widget: deadline exceeded");
  start_with(0s);
  EXPECT_EQ(heard.next(), "end: watch Widget: deadline exceeded") << "nothing is sent";
}

TEST_F(AsyncWatchConcurrency, ThreeEmptyEndsInARowAreGone) {
  for (int i = 0; i < 3; ++i) then(feed("", true));
  then(feed(widget_event("ADDED", "b", "101")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  advance(1s);
  EXPECT_EQ(heard.next(), "connected");
  advance(2s);
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "gone 5");
  call->restart("100");
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added b 101");
}

TEST_F(AsyncWatchConcurrency, AFirst401IsRepeatedOnceWithNewCredentials) {
  const tests::TokenFile token("rejected");
  client.emplace(Config{.server = "https://h", .token_file = token.path()},
                 ClientOptions{.transport = transport, .clock = clock});
  then([&](Stream& stream) {
    token.write("good");
    feed("", true, 401)(stream);
  });
  then(feed(widget_event("ADDED", "a", "6")));
  start();
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "added a 6");
  EXPECT_EQ(*transport->requests().back().headers.find("Authorization"), "Bearer good");
}

TEST_F(AsyncWatchConcurrency, EndsWithItsClient) {
  then(feed("", true));
  start();
  EXPECT_EQ(heard.next(), "connected");
  clock->wait_for_waiters(1);  // it backs off
  client.reset();
  EXPECT_EQ(heard.next(), "end: watch Widget: the client was destroyed");
}

class AsyncWaitConcurrency : public AsyncWatchConcurrency {
 protected:
  static std::string page(const std::string& items, const std::string& version) {
    return R"({"kind":"WidgetList","apiVersion":"test.dev/v1","metadata":{"resourceVersion":")" + version +
           R"("},"items":[)" + items + "]}";
  }
  static std::string item(const std::string& version) {
    return R"({"metadata":{"name":"web","namespace":"default","resourceVersion":")" + version +
           R"("},"spec":{"replicas":)" + version + "}}";
  }
  void wait_for(std::function<bool(const Snapshot<Widget>&)> condition, const std::stop_token& stop = {}) {
    wait = start_wait<Widget>(
        client->with({.stop = stop}), {"default", "web"}, std::move(condition),
        [this](Outcome<Snapshot<Widget>> outcome) {
          if (!outcome.ok()) return heard.add("error: " + text_of(outcome.error()));
          heard.add(outcome.value() ? "met " + outcome.value()->metadata.resource_version : "met by absence");
        });
  }
  static std::function<bool(const Snapshot<Widget>&)> replicas(int wanted) {
    return [wanted](const Snapshot<Widget>& widget) { return widget && widget->spec.replicas == wanted; };
  }

  std::shared_ptr<http::Call> wait;
};

TEST_F(AsyncWaitConcurrency, IsMetByTheListOrByAnEvent) {
  transport->reply(200, page(item("5"), "5"));
  wait_for(replicas(5));
  EXPECT_EQ(heard.next(), "met 5");

  transport->reply(200, page(item("5"), "5"));
  then(feed(widget_event("MODIFIED", "web", "6") + widget_event("MODIFIED", "web", "7")));
  wait_for([](const Snapshot<Widget>& widget) { return widget->metadata.resource_version == "6"; });
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "met 6");
}

TEST_F(AsyncWaitConcurrency, IsMetByAbsence) {
  transport->reply(200, page(item("5"), "5"));
  then(feed(widget_event("DELETED", "web", "6")));
  wait_for([](const Snapshot<Widget>& widget) { return !widget; });
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "met by absence");
}

TEST_F(AsyncWaitConcurrency, ListsAgainWhenTheHistoryIsGone) {
  transport->reply(200, page(item("5"), "5"));
  transport->reply(200, page(item("9"), "9"));
  then(feed(expired));
  then(feed(widget_event("DELETED", "web", "10")));
  wait_for([](const Snapshot<Widget>& widget) { return !widget; });
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "met by absence");
  targets.next();
  EXPECT_THAT(targets.next(), HasSubstr("resourceVersion=9&"));
}

// A transport ends a cancelled request later, on its own thread.
TEST_F(AsyncWaitConcurrency, EndsOnceIfItIsStoppedWhileItListsAgain) {
  for (const int replicas_listed : {5, 6}) {
    transport->reply(200, page("", "5"));
    transport->linger();
    transport->on_request = [this](const http::Request&) { heard.add("list"); };
    then(feed(expired));
    std::stop_source stop;
    wait_for(replicas(5), stop.get_token());
    for (const char* what : {"list", "connected", "list"}) EXPECT_EQ(heard.next(), what);
    stop.request_stop();
    EXPECT_EQ(heard.next(), "error: watch Widget in default: cancelled");
    transport->release({.status = 200, .body = page(item(std::to_string(replicas_listed)), "9")});
    EXPECT_TRUE(heard.empty());
  }
}

TEST_F(AsyncWaitConcurrency, EndsWithTheErrorOfTheListAndOfTheCondition) {
  transport->reply(403,
                   R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"no","code":403})");
  wait_for(replicas(1));
  EXPECT_EQ(heard.next(), "error: list Widget in default: 403 Forbidden: no");

  transport->reply(200, page("", "5"));
  then(feed(widget_event("ADDED", "web", "6")));
  wait_for([](const Snapshot<Widget>& widget) {
    if (widget) throw std::runtime_error("not that one");
    return false;
  });
  EXPECT_EQ(heard.next(), "connected");
  EXPECT_EQ(heard.next(), "error: not that one");
}

TEST_F(AsyncWaitConcurrency, EndsAtTheDeadlineOfItsClient) {
  transport->reply(200, page("", "5"));
  wait = start_wait<Widget>(
      client->with({.deadline = clock->now() + 3s}), {"default", "web"}, replicas(1),
      [this](const Outcome<Snapshot<Widget>>& outcome) { heard.add("error: " + text_of(outcome.error())); });
  EXPECT_EQ(heard.next(), "connected");
  advance(3s);
  EXPECT_EQ(heard.next(), "error: watch Widget in default: deadline exceeded");
}

TEST_F(AsyncWaitConcurrency, CancelEndsTheListAndTheWatch) {
  transport->hang();
  wait_for(replicas(1));
  wait->cancel();
  EXPECT_EQ(heard.next(), "error: list Widget in default: cancelled");

  transport->reply(200, page("", "5"));
  wait_for(replicas(1));
  EXPECT_EQ(heard.next(), "connected");
  wait->cancel();
  EXPECT_EQ(heard.next(), "error: watch Widget in default: cancelled");
}

}  // namespace
}  // namespace evenkeel
