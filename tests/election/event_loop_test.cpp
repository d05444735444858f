// SPDX-License-Identifier: Apache-2.0
// Calls, watches, a cache and elections that the program's own event loop drives, with the embedded API
// server.
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/http/event_loop.hpp>

#include "http/loop_driver.hpp"

namespace evenkeel::event_loop_tests {
namespace {

using namespace std::chrono_literals;
using tests::drive_until;
using tests::thread_count;

ConfigMap map_named(const std::string& name) {
  ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.name = name;
  return map;
}

/// A server with a thread, a loop without, and a client of both.
class ALoop : public ::testing::TestWithParam<bool> {
 protected:
  Client client() { return Client(server.config(), {.event_loop = loop}); }
  void drive(const std::function<bool()>& condition) { drive_until(*loop, condition); }

  apiserver::ApiServer server{{.tls = GetParam(), .token = GetParam() ? "secret" : ""}};
  const std::size_t threads = thread_count();  // the server's among them
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>();
};
INSTANTIATE_TEST_SUITE_P(, ALoop, ::testing::Values(false, true),
                         [](const auto& param) { return param.param ? "Tls" : "Plain"; });

TEST_P(ALoop, DrivesCallsWatchesAndWaits) {
  const Client client = this->client();
  std::vector<std::string> seen;
  const auto watch =
      start_watch<ConfigMap>(client, {.namespace_ = "default"},
                             {.on_event =
                                  [&](Outcome<WatchEvent<ConfigMap>> event) {
                                    if (event.ok()) seen.push_back(event.value().object->metadata.name);
                                  },
                              .on_end = [&](const std::exception_ptr&) { seen.emplace_back("end"); }});
  std::optional<std::string> created;
  client.start(calls::create(map_named("a")),
               [&](Outcome<Snapshot<ConfigMap>> outcome) { created = outcome.value()->metadata.name; });
  drive([&] { return created && !seen.empty(); });
  EXPECT_EQ(seen, std::vector<std::string>{"a"});
  watch->cancel();
  drive([&] { return seen.back() == "end"; });
  EXPECT_EQ(thread_count(), threads);
}

TEST_P(ALoop, DrivesACache) {
  server.core()->install("{apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: default}}");
  Cache cache(client(), {});
  cache.informer<ConfigMap>();
  cache.start();
  drive([&] { return cache.health().front().informer.synced; });
  EXPECT_TRUE(cache.find<ConfigMap>({"default", "first"}));
  server.core()->install("{apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: default}}");
  drive([&] { return cache.find_wire(ConfigMap::resource, {"default", "second"}).value().operator bool(); });
  EXPECT_EQ(thread_count(), threads);
  EXPECT_EQ(cache.live_reads(), 0U);
}

TEST_P(ALoop, ElectsOneOfTwoAndThenTheOther) {
  struct Candidate {
    Candidate(Client client, std::string identity)
        : elector(std::move(client), {.name = "it", .identity = std::move(identity)}) {
      elector.start({.on_leading = [this](const Leadership& leadership) { term = leadership.term; },
                     .on_end = [this](ElectionEnd how) { end = how; }});
    }
    std::optional<std::uint64_t> term;
    std::optional<ElectionEnd> end;
    Elector elector;
  };
  Candidate first(client(), "first");
  drive([&] { return first.term.has_value(); });
  EXPECT_TRUE(first.elector.is_leader());
  Candidate second(client(), "second");
  drive([&] { return second.elector.holder() == "first"; });
  EXPECT_FALSE(second.term);
  first.elector.resign();
  EXPECT_FALSE(first.elector.is_leader());
  drive([&] { return first.end && second.term; });
  EXPECT_EQ(first.end, ElectionEnd::stopped);
  EXPECT_GT(*second.term, *first.term);
  EXPECT_EQ(thread_count(), threads);
  EXPECT_THROW(second.elector.start({}), std::invalid_argument);
}

TEST_P(ALoop, AnElectorMayBeDestroyedWhileItLeads) {
  bool ended = false;
  bool leads = false;
  std::stop_token lost;
  {
    Elector elector(client(), {.name = "it"});
    elector.start({.on_leading =
                       [&](const Leadership& leadership) {
                         leads = true;
                         lost = leadership.lost;
                       },
                   .on_end = [&](ElectionEnd) { ended = true; }});
    drive([&] { return leads; });
  }
  loop->poll();
  EXPECT_FALSE(ended);
  EXPECT_TRUE(client().run(calls::get<Lease>({"default", "it"}))->spec.holder_identity);
}

TEST_P(ALoop, AnElectorMayBeDestroyedByItsListener) {
  bool ended = false;
  auto elector = std::make_unique<Elector>(client(), ElectionOptions{.name = "it"});
  elector->start({.on_leading = [&](const Leadership&) { elector.reset(); },
                  .on_end = [&](ElectionEnd) { ended = true; }});
  drive([&] { return elector == nullptr; });
  loop->poll();
  EXPECT_FALSE(ended);
}

TEST_P(ALoop, RunsNextToAPooledBlockingCall) {
  const Client client = this->client();
  client.run(calls::create(map_named("blocking")));
  EXPECT_EQ(client.run(calls::get<ConfigMap>({"default", "blocking"}))->metadata.name, "blocking");
  EXPECT_EQ(thread_count(), threads);
}

TEST(AnElector, NeedsALoopToStart) {
  apiserver::ApiServer server;
  Elector elector(Client(server.config()), {.name = "it"});
  const ElectionListener listener{.on_leading = [](const Leadership&) {}, .on_end = [](ElectionEnd) {}};
  try {
    elector.start(listener);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Elector::start: the client has no event loop");
  }
  elector.resign();
}

// ---- Token files

/// A client whose token is in a file, and a pool that reads it in read_files().
class ATokenFile : public ::testing::Test {
 protected:
  ATokenFile() { write("secret"); }
  ~ATokenFile() override { std::filesystem::remove(path); }
  void write(const std::string& token) { std::ofstream(path) << token; }
  Client client() {
    Config config = server.config();
    config.token.clear();
    config.token_file = path;
    return Client(config, {.event_loop = loop});
  }
  void read_files() {
    for (const auto& work : std::exchange(waiting, {})) work();
  }

  apiserver::ApiServer server{{.token = "secret"}};
  std::string path = std::filesystem::temp_directory_path() / ("evenkeel-loop-" + std::to_string(::getpid()));
  std::vector<std::function<void()>> waiting;
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>(EventLoopOptions{
      .offload = [this](std::function<void()> work) { waiting.push_back(std::move(work)); }});
};

TEST_F(ATokenFile, IsReadElsewhereForACallAndAStream) {
  const Client client = this->client();
  std::optional<bool> ok;
  std::string end;
  client.start(calls::list<ConfigMap>({.namespace_ = "default"}),
               [&](const Outcome<List<ConfigMap>>& outcome) { ok = outcome.ok(); });
  const auto watch = start_watch<ConfigMap>(client, {.namespace_ = "default"},
                                            {.on_event = [](const Outcome<WatchEvent<ConfigMap>>&) {},
                                             .on_end = [&](const std::exception_ptr&) { end = "end"; }});
  drive_until(*loop, [&] { return waiting.size() == 2; });
  loop->poll();
  EXPECT_FALSE(ok);
  read_files();
  drive_until(*loop, [&] { return ok.has_value(); });
  EXPECT_TRUE(*ok);
  watch->cancel();
  drive_until(*loop, [&] { return !end.empty(); });
}

TEST_F(ATokenFile, ThatIsMissingEndsACallAndAWatch) {
  std::filesystem::remove(path);
  const Client client = this->client();
  std::vector<std::string> errors;
  const auto note = [&](const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& problem) {
      errors.emplace_back(problem.what());
    }
  };
  client.start(calls::get<ConfigMap>({"default", "a"}),
               [&](const Outcome<Snapshot<ConfigMap>>& outcome) { note(outcome.error()); });
  const auto watch =
      start_watch<ConfigMap>(client, {.namespace_ = "default"},
                             {.on_event = [](const Outcome<WatchEvent<ConfigMap>>&) {}, .on_end = note});
  drive_until(*loop, [&] {
    read_files();
    return errors.size() == 2;
  });
  for (const std::string& error : errors)
    EXPECT_EQ(error, path + ": the token file cannot be read: No such file or directory");
}

}  // namespace
}  // namespace evenkeel::event_loop_tests
