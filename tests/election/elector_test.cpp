// SPDX-License-Identifier: Apache-2.0
// Electors with the embedded API server, in virtual time: "at once" means without advancing the clock.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/election/elector.hpp>

namespace evenkeel::elector_tests {
namespace {

using namespace std::chrono_literals;

/// A condition on state that other threads change; they call note() after a change.
class Notes {
 public:
  void note() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait_until(const std::function<bool()>& condition) {
    while (true) {
      std::uint64_t seen = 0;
      {
        MutexLock lock(mutex_);
        seen = count_;
      }
      if (condition()) return;
      MutexLock lock(mutex_);
      while (count_ == seen) changed_.wait(lock);
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::uint64_t count_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

/// An instance that runs its elector on a thread, and leads until finish() is called or leadership is lost.
class Instance {
 public:
  Instance(Client client, ElectionOptions options, std::shared_ptr<Notes> shared)
      : notes(std::move(shared)), elector(std::move(client), with_note(std::move(options))) {}
  ~Instance() { stop(); }

  void start() {
    thread = std::jthread([this](const std::stop_token& stop) {
      try {
        end = elector.run(stop, [&](const Leadership& leadership) { lead(stop, leadership); });
      } catch (const std::exception& failed) {
        error = failed.what();
      }
      ended = true;
      notes->note();
    });
  }
  void stop() {
    if (!thread.joinable()) return;
    thread.request_stop();
    thread.join();
  }
  void wait_until_it_leads() {
    notes->wait_until([&] { return leads.load(); });
  }
  void wait_until_it_ended() {
    notes->wait_until([&] { return ended.load(); });
  }

  std::shared_ptr<Notes> notes;
  Elector elector;
  std::function<void(const Leadership&)> on_lead;
  std::atomic<bool> leads = false;
  std::atomic<bool> led = false;  // at any time: leadership may end at once, as the clock advances quickly
  std::atomic<bool> ended = false;
  std::atomic<std::uint64_t> term = 0;
  std::optional<ElectionEnd> end;
  std::string error;
  std::jthread thread;

 private:
  ElectionOptions with_note(ElectionOptions options) const {
    options.on_new_holder = [notes = notes](const std::string&) { notes->note(); };
    return options;
  }
  void lead(const std::stop_token& stop, const Leadership& leadership) {
    term = leadership.term;
    leads = true;
    led = true;
    notes->note();
    const std::stop_callback note_lost(leadership.lost, [this] { notes->note(); });
    const std::stop_callback note_stop(stop, [this] { notes->note(); });
    if (on_lead) on_lead(leadership);
    notes->wait_until([&] { return leadership.lost.stop_requested() || stop.stop_requested(); });
    leads = false;
  }
};

/// A clock whose wall time can be set.
class JumpingClock final : public Clock {
 public:
  explicit JumpingClock(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}
  void jump(std::chrono::hours by) { offset_ += by.count(); }

  TimePoint now() const noexcept override { return clock_->now(); }
  WallTime wall_now() const noexcept override { return clock_->wall_now() + std::chrono::hours(offset_); }
  void wait(CondVar& condition, MutexLock& lock) const override { clock_->wait(condition, lock); }
  void wait_until(CondVar& condition, MutexLock& lock, TimePoint deadline) const override {
    clock_->wait_until(condition, lock, deadline);
  }

 private:
  const std::shared_ptr<const Clock> clock_;
  std::atomic<std::chrono::hours::rep> offset_ = 0;
};

class ElectorConcurrency : public ::testing::Test {
 protected:
  ElectorConcurrency() {
    apiserver::SharedCoreOptions options;
    options.clock = clock;
    options.on_request = [notes = notes](const apiserver::ServedRequest&) { notes->note(); };
    server = std::make_shared<apiserver::SharedCore>(std::move(options));
  }

  Client client() {
    return Client(Config{.server = "http://in-process"},
                  {.transport = std::make_shared<apiserver::InProcessTransport>(server), .clock = clock});
  }
  std::unique_ptr<Instance> instance(const std::string& identity) {
    auto made = std::make_unique<Instance>(
        client(), ElectionOptions{.name = "op", .namespace_ = "default", .identity = identity}, notes);
    return made;
  }
  coordination_v1::LeaseSpec lease() { return client().get<Lease>({"default", "op"})->spec; }
  /// Advances the clock in steps until the condition holds; returns the time advanced.
  Duration advance_until(const std::function<bool()>& condition, Duration at_most) {
    Duration advanced{};
    while (!condition() && advanced < at_most) {
      clock->advance(100ms);
      advanced += 100ms;
      // At most a hundred times real time, so that threads with work to do are not always late.
      const auto end = std::chrono::steady_clock::now() + 1ms;
      while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    }
    return advanced;
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
  std::shared_ptr<apiserver::SharedCore> server;
};

TEST_F(ElectorConcurrency, LeadsAloneAndFreesTheLeaseWhenItStops) {
  const auto one = instance("one");
  one->start();
  one->wait_until_it_leads();
  EXPECT_TRUE(one->elector.is_leader());
  EXPECT_EQ(lease().holder_identity, "one");
  EXPECT_EQ(lease().lease_duration_seconds, 15);
  one->stop();
  EXPECT_EQ(one->end, ElectionEnd::stopped);
  EXPECT_FALSE(one->elector.is_leader());
  EXPECT_EQ(lease().holder_identity.value_or(""), "");
}

TEST_F(ElectorConcurrency, AFreedLeaseIsTakenWithoutAnyTimePassing) {
  const auto one = instance("one");
  const auto two = instance("two");
  one->start();
  one->wait_until_it_leads();
  two->start();
  notes->wait_until([&] { return two->elector.holder() == "one"; });
  one->stop();
  two->wait_until_it_leads();
  EXPECT_EQ(two->term, one->term + 1);
  EXPECT_EQ(clock->now(), TimePoint());
}

TEST_F(ElectorConcurrency, WhereWatchingIsForbiddenItPolls) {
  server->inject({.verb = "watch", .resource = "leases.coordination.k8s.io", .status = 403});
  const auto one = instance("one");
  const auto two = instance("two");
  one->start();
  one->wait_until_it_leads();
  two->start();
  notes->wait_until([&] { return two->elector.holder() == "one"; });
  one->stop();
  const Duration took = advance_until([&] { return two->led.load(); }, 10min);
  EXPECT_TRUE(two->led);
  EXPECT_GT(took, 0s);
}

TEST_F(ElectorConcurrency, ALeaderThatCannotRenewStopsInTime) {
  const auto one = instance("one");
  one->start();
  one->wait_until_it_leads();
  server->inject({.verb = "update", .resource = "leases.coordination.k8s.io", .status = 503});
  advance_until([&] { return one->ended.load(); }, 60s);
  one->wait_until_it_ended();
  EXPECT_EQ(one->end, ElectionEnd::lost);
  EXPECT_FALSE(one->elector.is_leader());
  EXPECT_EQ(lease().holder_identity, "one") << "it must not write any more, not even to free it";
}

TEST_F(ElectorConcurrency, ALeaseThatSomebodyTookIsLostAtOnce) {
  const auto one = instance("one");
  one->start();
  one->wait_until_it_leads();
  auto held = client().get<Lease>({"default", "op"});
  client().patch(held, [](Lease& lease) { lease.spec.holder_identity = "thief"; });
  one->wait_until_it_ended();
  EXPECT_EQ(one->end, ElectionEnd::lost);
  EXPECT_EQ(lease().holder_identity, "thief");
}

TEST_F(ElectorConcurrency, ACandidateTakesTheLeaseOfADeadLeader) {
  client().create(
      Lease{.metadata = {.name = "op", .namespace_ = "default"},
            .spec = {.holder_identity = "dead", .lease_duration_seconds = 15, .lease_transitions = 6}});
  const auto one = instance("one");
  one->start();
  notes->wait_until([&] { return one->elector.holder() == "dead"; });
  const Duration took = advance_until([&] { return one->led.load(); }, 10min);
  EXPECT_TRUE(one->led);
  EXPECT_GE(took, 15s);
  // Or more: the clock advances quickly, and a claim whose response is late is repeated.
  EXPECT_GE(one->term, 7U);
}

TEST_F(ElectorConcurrency, WritesOfAGuardedClientEndWithTheLead) {
  const auto one = instance("one");
  const Client guarded = one->elector.guarded(client());
  const ConfigMap map{.metadata = {.generate_name = "x-", .namespace_ = "default"}};
  EXPECT_THROW(guarded.create(map), NotLeader);
  one->start();
  one->wait_until_it_leads();
  guarded.create(map);
  // The situation after a suspended process continues: ten seconds have passed, and no thread has run.
  server->inject({.verb = "update", .status = 503});
  clock->advance(10s);
  EXPECT_THROW(guarded.create(map), NotLeader);
  EXPECT_THROW(guarded.remove<ConfigMap>({"default", "nothing"}), NotLeader);
  EXPECT_NO_THROW((void)guarded.list<ConfigMap>({.namespace_ = "default"}));
  one->wait_until_it_ended();
}

// The situation after a suspended process continues: requests that it had begun are pending, and its
// leadership has expired.
TEST_F(ElectorConcurrency, WritesThatWaitToBeSentDoNotLeaveAfterTheLead) {
  const auto one = instance("one");
  const auto slow = std::make_shared<apiserver::InProcessTransport>(
      server, apiserver::InProcessTransportOptions{.pumped = true});
  const Client guarded = one->elector.guarded(
      Client(Config{.server = "http://in-process"}, {.transport = slow, .clock = clock}));
  one->start();
  one->wait_until_it_leads();
  std::vector<std::string> errors;
  const auto create = [&] {
    const RestRequest request{
        .method = http::Method::post,
        .resource = ConfigMap::resource,
        .namespace_ = "default",
        .content_type = "application/json",
        .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"}})"};
    (void)guarded.start(calls::raw(request), [&](Outcome<http::Response> outcome) {
      try {
        outcome.value();
        errors.emplace_back();
      } catch (const NotLeader& error) {
        errors.emplace_back(error.what());
      }
    });
  };
  create();
  slow->pump();
  EXPECT_EQ(errors, std::vector<std::string>{""});
  create();
  server->inject({.verb = "update", .status = 503});
  clock->advance(10s);
  slow->pump();
  EXPECT_EQ(errors, (std::vector<std::string>{"", "one is not the leader: op"}));
  EXPECT_EQ(client().list<ConfigMap>({.namespace_ = "default"}).items.size(), 1U);
  one->wait_until_it_ended();
}

// The credential program hangs when the token has expired, so no renewal can be sent.
TEST_F(ElectorConcurrency, AHangingCredentialProgramDoesNotKeepItFromNoticingTheEnd) {
  std::string directory = ::testing::TempDir() + "evenkeel-elector-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string program = directory + "/plugin";
  // The manual clock starts at 2026-01-01T00:00:00Z, and a token counts as expired a minute early.
  std::ofstream(program) << "#!/bin/sh\n[ -e " << directory << "/hang ] && exec sleep 300\n: > " << directory
                         << "/hang\necho '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\","
                         << "\"expirationTimestamp\":\"2026-01-01T00:01:05Z\"}}'\n";
  ::chmod(program.c_str(), 0700);
  {
    Instance one(
        Client(Config{.server = "http://127.0.0.1", .exec = {.command = program}},
               {.transport = std::make_shared<apiserver::InProcessTransport>(server), .clock = clock}),
        {.name = "op", .namespace_ = "default", .identity = "one"}, notes);
    one.start();
    one.wait_until_it_leads();
    clock->advance(5s);  // no token from here on
    clock->advance(11s);
    one.wait_until_it_ended();
    EXPECT_EQ(one.end, ElectionEnd::lost);
    EXPECT_EQ(lease().holder_identity, "one");
  }
  std::filesystem::remove_all(directory);
}

// The wall clocks of both jump, by different amounts, without an effect on leadership.
TEST_F(ElectorConcurrency, CalendarsThatJumpAnHourChangeNothing) {
  const auto calendar = std::make_shared<JumpingClock>(clock);
  const Client jumping(
      Config{.server = "http://in-process"},
      {.transport = std::make_shared<apiserver::InProcessTransport>(server), .clock = calendar});
  Instance one(jumping, {.name = "op", .namespace_ = "default", .identity = "one"}, notes);
  one.start();
  one.wait_until_it_leads();
  const auto two = instance("two");
  two->start();
  notes->wait_until([&] { return two->elector.holder() == "one"; });
  const Client guarded = one.elector.guarded(client());
  for (const std::chrono::hours jump : {1h, -2h, 1h}) {
    calendar->jump(jump);
    EXPECT_TRUE(one.elector.is_leader());
    EXPECT_NO_THROW(guarded.create(ConfigMap{.metadata = {.generate_name = "x-", .namespace_ = "default"}}));
    // One renewal with the new wall clock, when it is due.
    const std::string before = client().get<Lease>({"default", "op"})->metadata.resource_version;
    advance_until(
        [&] {
          return client().get<Lease>({"default", "op"})->metadata.resource_version != before;
        },
        5s);
    notes->wait_until([&] {
      return client().get<Lease>({"default", "op"})->metadata.resource_version != before;
    });
    EXPECT_TRUE(one.elector.is_leader());
    EXPECT_FALSE(two->leads);
  }
  EXPECT_EQ(one.term, 0U);
}

TEST_F(ElectorConcurrency, WhatLeadThrowsComesOutAndTheLeaseIsFreed) {
  const auto one = instance("one");
  one->on_lead = [](const Leadership&) { throw std::runtime_error("oh dear"); };
  one->start();
  one->wait_until_it_ended();
  EXPECT_EQ(one->error, "oh dear");
  EXPECT_EQ(lease().holder_identity.value_or(""), "");
}

TEST_F(ElectorConcurrency, CampaignsAgain) {
  Elector elector(client(), {.name = "op", .namespace_ = "default", .identity = "one"});
  std::vector<std::uint64_t> terms;
  for (int round = 0; round < 3; ++round) {
    const ElectionEnd end =
        elector.run({}, [&](const Leadership& leadership) { terms.push_back(leadership.term); });
    EXPECT_EQ(end, ElectionEnd::finished);
  }
  EXPECT_EQ(terms, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(ElectorConcurrency, AStopBeforeItLeadsEndsIt) {
  client().create(Lease{.metadata = {.name = "op", .namespace_ = "default"},
                        .spec = {.holder_identity = "other", .lease_duration_seconds = 15}});
  const auto one = instance("one");
  one->start();
  notes->wait_until([&] { return one->elector.holder() == "other"; });
  one->stop();
  EXPECT_EQ(one->end, ElectionEnd::stopped);
  EXPECT_EQ(lease().holder_identity, "other");
}

TEST_F(ElectorConcurrency, ADeafServerDoesNotKeepItFromStopping) {
  const auto deaf = server->inject({.verb = "get", .resource = "leases.coordination.k8s.io", .delay = 1h});
  const auto one = instance("one");
  one->start();
  while (server->fault_counts(deaf).fired == 0) std::this_thread::yield();
  one->stop();
  EXPECT_EQ(one->end, ElectionEnd::stopped);
}

TEST_F(ElectorConcurrency, SaysWhenWhatItLedGoesOnAfterTheLeadWasLost) {
  const auto one = instance("one");
  std::atomic<bool> go_on = true;
  one->on_lead = [&](const Leadership& leadership) {
    notes->wait_until([&] { return leadership.lost.stop_requested(); });
    notes->wait_until([&] { return !go_on.load(); });
  };
  one->start();
  one->wait_until_it_leads();
  EXPECT_EQ(one->elector.problem(), "");
  server->inject({.verb = "update", .status = 503});
  advance_until([&] { return one->elector.problem() != ""; }, 120s);
  EXPECT_NE(one->elector.problem().find("its work has not ended"), std::string::npos);
  go_on = false;
  notes->note();
  one->wait_until_it_ended();
  EXPECT_EQ(one->elector.problem(), "");
}

TEST_F(ElectorConcurrency, AReleaseThatFailsIsNoLoss) {
  const auto one = instance("one");
  one->start();
  one->wait_until_it_leads();
  const auto away = server->inject({.verb = "update", .status = 503});
  std::atomic<bool> stopped = false;
  const std::jthread stopper([&] {
    one->stop();
    stopped = true;
  });
  while (one->elector.is_leader()) std::this_thread::yield();
  advance_until([&] { return stopped.load(); }, 120s);
  EXPECT_GT(server->fault_counts(away).fired, 0U);
  EXPECT_EQ(one->end, ElectionEnd::stopped);
  clock->advance(60s);
  EXPECT_EQ(one->elector.problem(), "");
}

TEST_F(ElectorConcurrency, ResigningHasNoEffectOnRun) {
  const auto one = instance("one");
  one->start();
  one->wait_until_it_leads();
  one->elector.resign();
  EXPECT_TRUE(one->elector.is_leader());
  EXPECT_EQ(lease().holder_identity, "one");
}

TEST_F(ElectorConcurrency, OfManyOneLeadsAtATimeAndAllGetTheirTurn) {
  std::vector<std::unique_ptr<Instance>> all;
  for (int i = 0; i < 5; ++i) all.push_back(instance("instance-" + std::to_string(i)));
  for (const auto& one : all) one->start();
  std::optional<std::uint64_t> last_term;  // the first one is 0
  while (!all.empty()) {
    const auto number = [&all](auto is) { return std::count_if(all.begin(), all.end(), is); };
    notes->wait_until([&] { return number([](const auto& one) { return one->leads.load(); }) == 1; });
    // Earlier leaders are not in `all`.
    EXPECT_EQ(number([](const auto& one) { return one->led.load(); }), 1);
    EXPECT_EQ(number([](const auto& one) { return one->elector.is_leader(); }), 1);
    const auto leader =
        std::find_if(all.begin(), all.end(), [](const auto& one) { return one->leads.load(); });
    EXPECT_GT(std::optional((*leader)->term.load()), last_term);
    last_term = (*leader)->term.load();
    (*leader)->stop();
    EXPECT_EQ((*leader)->error, "");
    all.erase(leader);
  }
}

// Threads that are started during its lifetime request stacks that are too large for any machine.
class NoRoomForThreads {
 public:
  NoRoomForThreads() {
    ::pthread_getattr_default_np(&before_);
    ::pthread_attr_t huge;
    ::pthread_getattr_default_np(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    ::pthread_setattr_default_np(&huge);
    ::pthread_attr_destroy(&huge);
  }
  ~NoRoomForThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoRoomForThreads(const NoRoomForThreads&) = delete;
  NoRoomForThreads& operator=(const NoRoomForThreads&) = delete;

 private:
  ::pthread_attr_t before_{};
};

TEST_F(ElectorConcurrency, WithoutAThreadToBeHadItSaysSoAndMayCampaignAgain) {
  Elector elector(client(), {.name = "op", .namespace_ = "default", .identity = "a"});
  {
    const NoRoomForThreads none;
    EXPECT_THROW(elector.run({}, [](const Leadership&) {}), std::system_error);
  }
  bool led = false;
  EXPECT_EQ(elector.run({}, [&](const Leadership&) { led = true; }), ElectionEnd::finished);
  EXPECT_TRUE(led);
}

TEST(ElectionOptions, AreChecked) {
  const auto core = std::make_shared<apiserver::SharedCore>();
  const Client client(Config{.server = "http://in-process"},
                      {.transport = std::make_shared<apiserver::InProcessTransport>(core)});
  const auto refusal = [&](ElectionOptions options) -> std::string {
    try {
      const Elector elector(client, std::move(options));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.name = "op"}), "");
  EXPECT_EQ(refusal({}), "ElectionOptions: name must not be empty");
  EXPECT_EQ(refusal({.name = "op", .retry_period = 0s}), "ElectionOptions: retry_period must be positive");
  EXPECT_EQ(refusal({.name = "op", .renew_deadline = 2400ms}),
            "ElectionOptions: renew_deadline must be longer than 1.2 times retry_period");
  EXPECT_EQ(refusal({.name = "op", .lease_duration = 10s}),
            "ElectionOptions: lease_duration must be longer than renew_deadline");
  EXPECT_EQ(refusal({.name = "op", .lease_duration = 900ms, .renew_deadline = 500ms, .retry_period = 100ms}),
            "ElectionOptions: lease_duration must be at least 1 s");
  const Elector one(client, {.name = "op"});
  const Elector two(client, {.name = "op"});
  EXPECT_NE(one.identity(), two.identity());
}

}  // namespace
}  // namespace evenkeel::elector_tests
