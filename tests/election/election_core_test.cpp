// SPDX-License-Identifier: Apache-2.0
// The decisions of the election, step by step. The rules are those of client-go's tools/leaderelection,
// except for the deviations in docs/adr/0011-where-the-runtime-differs.md.
#include "election/election_core.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/api/time.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using Core = detail::ElectionCore;
using End = Core::End;

Json lease(const std::string& holder, int version, std::int64_t transitions = 3, int seconds = 15) {
  return Json::object({{"apiVersion", "coordination.k8s.io/v1"},
                       {"kind", "Lease"},
                       {"metadata", Json::object({{"name", "op"},
                                                  {"namespace", "ns"},
                                                  {"labels", Json::object({{"kept", "yes"}})},
                                                  {"resourceVersion", std::to_string(version)}})},
                       {"spec", Json::object({{"holderIdentity", holder},
                                              {"leaseDurationSeconds", seconds},
                                              {"leaseTransitions", transitions},
                                              {"acquireTime", "2026-01-01T00:00:00.000000Z"},
                                              {"renewTime", "2026-01-01T00:00:00.000000Z"}})}});
}

class ElectionCoreTest : public ::testing::Test {
 protected:
  static detail::ElectionCoreOptions options() {
    return {.namespace_ = "ns",
            .name = "op",
            .identity = "me",
            .lease_duration = 15s,
            .renew_deadline = 10s,
            .retry_period = 2s};
  }

  /// Returns the request that is due; fails if there is none.
  Core::Request asked() {
    Core::Step step = core.next_step(now, wall);
    EXPECT_TRUE(step.request) << "it waits for " << (step.next_due - now).count() / 1'000'000
                              << " ms instead";
    return step.request.value_or(Core::Request());
  }
  /// Returns the delay until the next step.
  Duration waits() {
    const Core::Step step = core.next_step(now, wall);
    EXPECT_FALSE(step.request);
    return step.next_due - now;
  }
  /// Reads a Lease without a holder, and takes it at version 2.
  void lead() {
    core.on_answered(asked().id, lease("", 1), now);
    answer_as_written(asked(), 2);
    ASSERT_TRUE(core.term());
  }
  void answer_as_written(const Core::Request& write, int version) {
    Json stored = write.body;
    stored["metadata"]["resourceVersion"] = std::to_string(version);
    core.on_answered(write.id, std::move(stored), now);
  }
  static const Json& spec(const Core::Request& request) { return request.body["spec"]; }

  Core core{options()};
  TimePoint now = TimePoint(1000s);
  WallTime wall{std::chrono::seconds{1'800'000'000}};
};

TEST_F(ElectionCoreTest, MakesALeaseThatIsNotThere) {
  const auto get = asked();
  EXPECT_EQ(get.ask, Core::Ask::get);
  core.on_missing(get.id, now);
  const auto create = asked();
  EXPECT_EQ(create.ask, Core::Ask::create);
  EXPECT_EQ(create.body.at({"metadata", "name"}).as_string(), "op");
  EXPECT_EQ(create.body.at({"metadata", "namespace"}).as_string(), "ns");
  EXPECT_EQ(spec(create)["holderIdentity"].as_string(), "me");
  EXPECT_EQ(spec(create)["leaseDurationSeconds"].as_integer(), 15);
  EXPECT_EQ(spec(create)["leaseTransitions"].as_integer(), 0);
  EXPECT_EQ(spec(create)["renewTime"].as_string(), MicroTime(wall).str());
  answer_as_written(create, 1);
  ASSERT_TRUE(core.term());
  EXPECT_EQ(core.term()->number, 0U);
  EXPECT_EQ(core.holder(), "me");
}

TEST_F(ElectionCoreTest, TakesAFreeLeaseAndKeepsWhatElseIsInIt) {
  core.on_answered(asked().id, lease("", 1, 3), now);
  const auto update = asked();
  EXPECT_EQ(update.ask, Core::Ask::update);
  EXPECT_EQ(update.body.at({"metadata", "resourceVersion"}).as_string(), "1");
  EXPECT_EQ(update.body.at({"metadata", "labels", "kept"}).as_string(), "yes");
  EXPECT_EQ(spec(update)["leaseTransitions"].as_integer(), 4);
  EXPECT_EQ(spec(update)["acquireTime"].as_string(), MicroTime(wall).str());
}

TEST_F(ElectionCoreTest, WaitsForALeaseFromWhenItSawItHoweverOldItSaysToBe) {
  core.on_answered(asked().id, lease("other", 1), now);
  core.on_watching(true);
  EXPECT_EQ(waits(), 15s);
  now += 15s - 1ms;
  EXPECT_EQ(waits(), 1ms);
  now += 1ms;
  EXPECT_EQ(asked().ask, Core::Ask::update);
}

TEST_F(ElectionCoreTest, WaitsAnewWhenTheLeaseWasRenewed) {
  core.on_answered(asked().id, lease("other", 1), now);
  core.on_watching(true);
  now += 14s;
  Json renewed = lease("other", 2);
  renewed["spec"]["renewTime"] = "2026-01-01T00:00:14.000000Z";
  core.on_event(std::move(renewed), now);
  EXPECT_EQ(waits(), 15s);
}

TEST_F(ElectionCoreTest,
       AChangeOfSomethingElseIsNoRenewal) {  // the record is compared, not bytes
  core.on_answered(asked().id, lease("other", 1), now);
  core.on_watching(true);
  now += 14s;
  Json labelled = lease("other", 2);
  labelled["metadata"]["labels"]["new"] = "label";
  core.on_event(std::move(labelled), now);
  EXPECT_EQ(waits(), 1s);
}

TEST_F(ElectionCoreTest, PollsWithJitterWhereItCannotWatch) {
  core.on_answered(asked().id, lease("other", 1), now);
  for (int round = 0; round < 50; ++round) {
    const Duration pause = waits();
    ASSERT_GE(pause, 2s);
    ASSERT_LE(pause, 2s * 2.2);
    now += pause;
    const auto get = asked();
    ASSERT_EQ(get.ask, Core::Ask::get);
    Json renewed = lease("other", 2 + round);
    renewed["spec"]["renewTime"] = std::to_string(round);
    core.on_answered(get.id, std::move(renewed), now);
  }
}

TEST_F(ElectionCoreTest, AFreedLeaseIsTakenAtOnce) {
  core.on_answered(asked().id, lease("other", 1), now);
  core.on_watching(true);
  EXPECT_GT(waits(), 10s);
  core.on_event(lease("", 2), now);
  const auto update = asked();
  EXPECT_EQ(update.ask, Core::Ask::update);
  EXPECT_EQ(spec(update)["leaseTransitions"].as_integer(), 4);
}

TEST_F(ElectionCoreTest, WhoComesSecondLooksAgain) {
  core.on_answered(asked().id, lease("", 1), now);
  core.on_conflict(asked().id, now);
  const auto get = asked();
  EXPECT_EQ(get.ask, Core::Ask::get);
  core.on_answered(get.id, lease("other", 2), now);
  EXPECT_FALSE(core.term());
  EXPECT_EQ(core.holder(), "other");
  core.on_watching(true);
  EXPECT_EQ(waits(), 15s);
}

TEST_F(ElectionCoreTest, RenewsEveryRetryPeriodWithoutReadingAndKeepsTheTerm) {
  lead();
  const auto first = core.term()->number;
  EXPECT_EQ(waits(), 2s);
  now += 2s;
  wall += 2s;
  const auto renewal = asked();
  EXPECT_EQ(renewal.ask, Core::Ask::update);
  EXPECT_EQ(renewal.body.at({"metadata", "resourceVersion"}).as_string(), "2");
  EXPECT_EQ(spec(renewal)["renewTime"].as_string(), MicroTime(wall).str());
  EXPECT_EQ(spec(renewal)["acquireTime"].as_string(), MicroTime(wall - 2s).str());
  answer_as_written(renewal, 3);
  EXPECT_EQ(core.term()->number, first);
  EXPECT_EQ(core.term()->valid_until, now + 10s);
}

TEST_F(ElectionCoreTest, ItsTimeCountsFromBeforeTheWriteWasSent) {
  lead();
  now += 2s;
  const auto renewal = asked();
  const TimePoint sent = now;
  now += 1s;
  answer_as_written(renewal, 3);
  EXPECT_EQ(core.term()->valid_until, sent + 10s);
}

TEST_F(ElectionCoreTest, ARenewalIsAChangeAlsoIfTheCalendarStandsStill) {
  lead();
  now += 2s;
  const auto renewal = asked();
  EXPECT_EQ(spec(renewal)["renewTime"].as_string(), MicroTime(wall + 1us).str());
  answer_as_written(renewal, 3);
  now += 2s;
  EXPECT_EQ(spec(asked())["renewTime"].as_string(), MicroTime(wall + 2us).str())
      << "not the one before the last";
}

// The wall clock is set, or that of a virtual machine catches up.
TEST_F(ElectionCoreTest, TheCalendarMayJumpAnHourWhileItLeads) {
  lead();
  int version = 2;
  std::string last;
  for (const Duration jump : {Duration(1h), Duration(-2h), Duration(1h)}) {
    now += 2s;
    wall += std::chrono::duration_cast<WallTime::duration>(jump);
    const auto renewal = asked();
    EXPECT_NE(spec(renewal)["renewTime"].as_string(), last) << "others must see a change";
    last = spec(renewal)["renewTime"].as_string();
    answer_as_written(renewal, ++version);
    ASSERT_TRUE(core.term());
    EXPECT_EQ(core.term()->valid_until, now + 10s);
    EXPECT_EQ(waits(), 2s);
  }
}

TEST_F(ElectionCoreTest, TheCalendarMayJumpAnHourWhileItWaits) {
  core.on_answered(asked().id, lease("other", 1), now);
  core.on_watching(true);
  Duration left = 15s;
  for (const Duration jump : {Duration(1h), Duration(-2h), Duration(1h)}) {
    wall += std::chrono::duration_cast<WallTime::duration>(jump);
    EXPECT_EQ(waits(), left);
    now += 5s;
    left -= 5s;
  }
  EXPECT_EQ(asked().ask, Core::Ask::update) << "fifteen seconds have passed, whatever the calendar says";
}

TEST_F(ElectionCoreTest, AnAnswerAfterTheDeadlineBringsNothingBack) {
  lead();
  now += 9s;
  const auto renewal = asked();
  now += 2s;
  answer_as_written(renewal, 3);
  core.next_step(now, wall);
  EXPECT_EQ(core.end(), End::not_renewed);
}

TEST_F(ElectionCoreTest, ItIsLostAtTheRenewDeadline) {
  lead();
  now += 10s - 1ns;
  core.next_step(now, wall);
  EXPECT_TRUE(core.term());
  now += 1ns;
  core.next_step(now, wall);
  EXPECT_FALSE(core.term());
  EXPECT_EQ(core.end(), End::not_renewed);
}

TEST_F(ElectionCoreTest,
       ASlowAnswerDoesNotKeepTheNextTryFromBeingMade) {  // two slow calls do not lose the lease
  lead();
  now += 2s;
  const auto slow = asked();
  EXPECT_EQ(waits(), 2s);
  now += 2s;
  const auto second = asked();
  EXPECT_NE(slow.id, second.id);
  now += 5s;
  answer_as_written(slow, 3);  // after seven seconds
  ASSERT_TRUE(core.term());
  EXPECT_EQ(core.term()->valid_until, now - 7s + 10s);
  core.on_conflict(second.id, now);  // expected: it was based on the previous version
  const auto third = asked();
  EXPECT_EQ(third.ask, Core::Ask::update) << "a stale conflict is no reason to read";
  EXPECT_EQ(third.body.at({"metadata", "resourceVersion"}).as_string(), "3");
}

TEST_F(ElectionCoreTest, ARenewalWhoseAnswerWasLostIsFoundOutByTheConflict) {
  lead();
  now += 2s;
  const auto lost = asked();
  core.on_failure(lost.id, now);
  EXPECT_EQ(waits(), 2s);
  now += 2s;
  core.on_conflict(asked().id, now);
  const auto get = asked();
  EXPECT_EQ(get.ask, Core::Ask::get);
  core.on_answered(get.id, lease("me", 3, 4), now);
  EXPECT_TRUE(core.term());
  const auto renewal = asked();
  EXPECT_EQ(renewal.body.at({"metadata", "resourceVersion"}).as_string(), "3");
  answer_as_written(renewal, 4);
  EXPECT_EQ(core.term()->valid_until, now + 10s);
}

TEST_F(ElectionCoreTest, AnotherHolderEndsItAtOnce) {
  lead();
  core.on_event(lease("other", 3), now);
  EXPECT_FALSE(core.term());
  EXPECT_EQ(core.end(), End::taken);
}

TEST_F(ElectionCoreTest, WhatTheWatchSaysLateChangesNothing) {
  lead();
  core.on_event(lease("other", 1), now);
  EXPECT_TRUE(core.term());
  core.on_deleted(lease("other", 1), now);
  EXPECT_TRUE(core.term());
  now += 2s;
  EXPECT_EQ(asked().ask, Core::Ask::update);
}

TEST_F(ElectionCoreTest, ALeaderWhoseLeaseWasDeletedMakesItAnewForTheSameTerm) {
  lead();
  core.on_deleted(lease("me", 3, 4), now);
  const auto create = asked();
  EXPECT_EQ(create.ask, Core::Ask::create);
  EXPECT_EQ(spec(create)["leaseTransitions"].as_integer(), 4);
  answer_as_written(create, 5);
  EXPECT_EQ(core.term()->number, 4U);
}

TEST_F(ElectionCoreTest, ADeletedLeaseThatSomebodyElseMadeIsLost) {
  lead();
  now += 2s;
  core.on_missing(asked().id, now);
  const auto create = asked();
  EXPECT_EQ(create.ask, Core::Ask::create);
  core.on_conflict(create.id, now);
  core.on_answered(asked().id, lease("other", 9), now);
  EXPECT_EQ(core.end(), End::taken);
}

TEST_F(ElectionCoreTest, ADeletedLeaseIsRespectedUntilItsEndByWhoKnewIt) {
  core.on_answered(asked().id, lease("other", 1), now);
  core.on_watching(true);
  now += 5s;
  core.on_deleted(lease("other", 2), now);
  EXPECT_EQ(waits(), 10s);
  now += 10s;
  const auto create = asked();
  EXPECT_EQ(create.ask, Core::Ask::create);
  EXPECT_EQ(spec(create)["leaseTransitions"].as_integer(), 4) << "terms go on rising";
}

TEST_F(ElectionCoreTest, FreesTheLeaseWhenItResigns) {
  lead();
  core.resign(now);
  const auto free = asked();
  EXPECT_EQ(free.ask, Core::Ask::update);
  EXPECT_EQ(spec(free)["holderIdentity"].as_string(), "");
  EXPECT_EQ(spec(free)["leaseDurationSeconds"].as_integer(), 1);
  EXPECT_EQ(spec(free)["leaseTransitions"].as_integer(), 4);
  EXPECT_FALSE(core.end());
  answer_as_written(free, 3);
  EXPECT_EQ(core.end(), End::released);
  EXPECT_EQ(core.holder(), "");
}

TEST_F(ElectionCoreTest, ResigningDuringARenewalFreesWhatTheRenewalLeft) {
  lead();
  now += 2s;
  const auto renewal = asked();
  core.resign(now);
  const auto early = asked();
  EXPECT_EQ(spec(early)["holderIdentity"].as_string(), "");
  answer_as_written(renewal, 3);  // it was first
  core.on_conflict(early.id, now);
  const auto free = asked();
  EXPECT_EQ(spec(free)["holderIdentity"].as_string(), "");
  EXPECT_EQ(free.body.at({"metadata", "resourceVersion"}).as_string(), "3");
  answer_as_written(free, 4);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, FreeingEndsWithTheTermHoweverDeadTheServerIs) {
  lead();
  core.resign(now);
  for (int second = 0; second < 10 && !core.end(); ++second) {
    const auto step = core.next_step(now, wall);
    if (step.request) core.on_failure(step.request->id, now);
    now += 1s;
  }
  core.next_step(now, wall);
  EXPECT_EQ(core.end(), End::not_renewed);
}

TEST_F(ElectionCoreTest, KeepsTheLeaseIfItIsToldTo) {
  auto keeping = options();
  keeping.release = false;
  Core other(keeping);
  other.on_answered(other.next_step(now, wall).request.value().id, lease("", 1), now);
  const auto claim = other.next_step(now, wall).request.value();
  Json stored = claim.body;
  stored["metadata"]["resourceVersion"] = "2";
  other.on_answered(claim.id, std::move(stored), now);
  ASSERT_TRUE(other.term());
  other.resign(now);
  EXPECT_EQ(other.end(), End::resigned);
  EXPECT_FALSE(other.next_step(now, wall).request);
}

TEST_F(ElectionCoreTest, ACandidateResignsAtOnce) {
  core.on_answered(asked().id, lease("other", 1), now);
  core.resign(now);
  EXPECT_EQ(core.end(), End::resigned);
}

TEST_F(ElectionCoreTest, ACandidateWhoseClaimIsInFlightFreesWhatItTook) {
  core.on_answered(asked().id, lease("", 1), now);
  const auto claim = asked();
  core.resign(now);
  EXPECT_EQ(waits(), 10s) << "at most the renew deadline";
  EXPECT_FALSE(core.end());
  now += 1s;
  answer_as_written(claim, 2);
  EXPECT_FALSE(core.term());
  const auto release = asked();
  EXPECT_EQ(spec(release)["holderIdentity"].as_string(), "");
  EXPECT_EQ(release.body.at({"metadata", "resourceVersion"}).as_string(), "2");
  answer_as_written(release, 3);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, ACandidateWhoseClaimComesTooLateResigns) {
  core.on_answered(asked().id, lease("", 1), now);
  const auto claim = asked();
  core.resign(now);
  core.on_conflict(claim.id, now);
  core.on_answered(asked().id, lease("other", 2), now);
  core.next_step(now, wall);
  EXPECT_EQ(core.end(), End::resigned);
}

TEST_F(ElectionCoreTest, ACandidateWhoseClaimFailsLooksOnceBeforeItResigns) {
  core.on_missing(asked().id, now);
  const auto creation = asked();
  core.resign(now);
  core.on_failure(creation.id, now);
  const auto look = asked();
  EXPECT_EQ(look.ask, Core::Ask::get);
  core.on_failure(look.id, now);
  EXPECT_EQ(core.end(), End::resigned);
}

TEST_F(ElectionCoreTest, ACandidateDoesNotWaitForItsClaimBeyondTheRenewDeadline) {
  core.on_answered(asked().id, lease("", 1), now);
  asked();
  core.resign(now);
  now += 10s;
  core.next_step(now, wall);
  EXPECT_EQ(core.end(), End::resigned);
}

TEST_F(ElectionCoreTest, AClaimThatWasAnsweredTooLateIsMadeAnew) {
  core.on_answered(asked().id, lease("", 1), now);
  const auto late = asked();
  now += 10s;
  answer_as_written(late, 2);
  EXPECT_FALSE(core.term());
  const auto again = asked();
  EXPECT_EQ(again.ask, Core::Ask::update);
  answer_as_written(again, 3);
  ASSERT_TRUE(core.term());
  EXPECT_EQ(core.term()->number, 5U) << "a new term, although the holder is the same";
}

TEST_F(ElectionCoreTest, ItsOwnLeaseOfAnEarlierLifeIsTakenAtOnceAsANewTerm) {
  core.on_answered(asked().id, lease("me", 1, 7), now);
  const auto update = asked();
  EXPECT_EQ(spec(update)["leaseTransitions"].as_integer(), 8);
}

TEST_F(ElectionCoreTest, ABrokenLeaseIsAFreeOne) {
  Json broken = lease("other", 1);
  broken["spec"] = "what";
  core.on_answered(asked().id, std::move(broken), now);
  const auto update = asked();
  EXPECT_EQ(spec(update)["holderIdentity"].as_string(), "me");
  EXPECT_EQ(spec(update)["leaseTransitions"].as_integer(), 1);
}

TEST_F(ElectionCoreTest, ALeaseWithoutADurationIsFree) {
  Json endless = lease("other", 1);
  endless["spec"].erase("leaseDurationSeconds");
  core.on_answered(asked().id, std::move(endless), now);
  EXPECT_EQ(asked().ask, Core::Ask::update);
}

TEST_F(ElectionCoreTest, AServerThatWasRestoredIsBelievedThoughItsVersionsAreOlder) {
  core.on_answered(asked().id, lease("other", 500), now);
  now += 4400ms;
  core.on_answered(asked().id, lease("third", 7), now);
  EXPECT_EQ(core.holder(), "third");
}

TEST_F(ElectionCoreTest, EndlessConflictsAreNotAnsweredEndlesslyFast) {
  core.on_answered(asked().id, lease("", 1), now);
  int requests = 0;
  for (; requests < 100; ++requests) {
    const auto step = core.next_step(now, wall);
    if (!step.request) break;
    if (step.request->ask == Core::Ask::get) {
      core.on_answered(step.request->id, lease("", 1), now);
    } else {
      core.on_conflict(step.request->id, now);
    }
  }
  EXPECT_LT(requests, 20);
  EXPECT_LE(waits(), 2s);
}

TEST_F(ElectionCoreTest, FailedReadsAreRepeatedWithAPause) {
  const auto get = asked();
  core.on_failure(get.id, now);
  const Duration pause = waits();
  EXPECT_GE(pause, 2s);
  EXPECT_LE(pause, 2s * 2.2);
  now += pause;
  EXPECT_EQ(asked().ask, Core::Ask::get);
}

TEST_F(ElectionCoreTest, ACandidateWhoseClaimFailedDoesNotAskToBeAskedAtOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {  // of pauses, of which either may be the longer one
    auto seeded = options();
    seeded.seed = seed * 0x9e3779b97f4a7c15U;
    Core candidate(seeded);
    const auto look = candidate.next_step(now, wall).request;
    ASSERT_TRUE(look);
    candidate.on_answered(look->id, lease("", 1), now);
    const auto claim = candidate.next_step(now, wall).request;
    ASSERT_TRUE(claim && claim->ask == Core::Ask::update);
    candidate.on_failure(claim->id, now);
    for (bool claims = false; !claims;) {
      const Core::Step step = candidate.next_step(now, wall);
      if (step.request) {
        claims = step.request->ask == Core::Ask::update;
        if (!claims) candidate.on_answered(step.request->id, lease("", 1), now);
      } else {
        ASSERT_GT(step.next_due, now) << "seed " << seed;
        now = step.next_due;
      }
    }
  }
}

TEST_F(ElectionCoreTest, NothingIsSaidAfterTheEnd) {
  lead();
  now += 2s;
  const auto renewal = asked();
  core.on_event(lease("other", 9), now);
  answer_as_written(renewal, 10);
  EXPECT_EQ(core.end(), End::taken);
  EXPECT_FALSE(core.next_step(now, wall).request);
}

// ---- Deletions while the Lease is being released

TEST_F(ElectionCoreTest, ALeaseThatIsDeletedBeforeItIsFreedIsReleased) {
  lead();
  core.resign(now);
  core.on_deleted(lease("me", 3, 4), now);
  EXPECT_FALSE(core.next_step(now, wall).request);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, ALeaseThatIsDeletedAfterAFailedReleaseIsReleased) {
  lead();
  core.resign(now);
  core.on_failure(asked().id, now);
  now += 1s;
  core.on_deleted(lease("me", 3, 4), now);
  now += 2s;
  EXPECT_FALSE(core.next_step(now, wall).request);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, AReleaseThatFindsNoLeaseIsDone) {
  lead();
  core.resign(now);
  const auto free = asked();
  core.on_event(lease("me", 3, 4), now);  // another client adds a label, and then deletes it
  core.on_missing(free.id, now);
  now += 2s;
  core.on_missing(asked().id, now);
  EXPECT_FALSE(core.next_step(now, wall).request);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, ALeaseThatIsMadeAgainWhileItResignsIsFreed) {
  lead();
  core.on_deleted(lease("me", 3, 4), now);
  const auto create = asked();
  core.resign(now);
  EXPECT_FALSE(core.next_step(now, wall).request) << "the creation may leave a Lease that has to be freed";
  EXPECT_FALSE(core.end());
  answer_as_written(create, 5);
  const auto free = asked();
  EXPECT_EQ(spec(free)["holderIdentity"].as_string(), "");
  EXPECT_EQ(free.body.at({"metadata", "resourceVersion"}).as_string(), "5");
  answer_as_written(free, 6);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, ACreationWithoutAnAnswerIsLookedForBeforeItResigns) {
  lead();
  core.on_deleted(lease("me", 3, 4), now);
  const auto create = asked();
  core.resign(now);
  core.on_failure(create.id, now);
  EXPECT_EQ(waits(), 2s);
  now += 2s;
  const auto look = asked();
  EXPECT_EQ(look.ask, Core::Ask::get);
  core.on_missing(look.id, now);
  EXPECT_FALSE(core.next_step(now, wall).request);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, AWatchThatTellsOfTheReleaseBeforeItsAnswerIsNoLoss) {
  lead();
  core.resign(now);
  const auto free = asked();
  Json freed = free.body;
  freed["metadata"]["resourceVersion"] = "3";
  core.on_event(std::move(freed), now);
  EXPECT_EQ(core.end(), End::released);
}

TEST_F(ElectionCoreTest, AWatchThatTellsOfTheNextHolderBeforeTheReleaseIsAnsweredIsNoLoss) {
  lead();
  core.resign(now);
  asked();
  core.on_event(lease("other", 4, 5), now);
  EXPECT_EQ(core.end(), End::released);
}

// ---- Responses that are older than the state of the watch

TEST_F(ElectionCoreTest, AClaimDoesNotLeadAgainstANewerHolder) {
  core.on_answered(asked().id, lease("", 4), now);
  core.on_watching(true);
  const auto claim = asked();
  core.on_event(lease("other", 7), now);
  answer_as_written(claim, 5);
  EXPECT_FALSE(core.term());
  EXPECT_EQ(core.holder(), "other");
  EXPECT_EQ(waits(), 15s);
}

TEST_F(ElectionCoreTest, AClaimOfALeaseThatWasDeletedSinceIsMadeAgain) {
  core.on_answered(asked().id, lease("", 4, 3), now);
  core.on_watching(true);
  const auto claim = asked();
  core.on_event(lease("me", 5, 4), now);
  core.on_deleted(lease("me", 6, 4), now);
  answer_as_written(claim, 5);
  EXPECT_FALSE(core.term()) << "somebody else may have made the Lease meanwhile";
  const auto create = asked();
  EXPECT_EQ(create.ask, Core::Ask::create);
  EXPECT_EQ(spec(create)["leaseTransitions"].as_integer(), 5);
  answer_as_written(create, 7);
  ASSERT_TRUE(core.term());
  EXPECT_EQ(core.term()->number, 5U);
}

TEST_F(ElectionCoreTest, ACreationThatWasDeletedSinceDoesNotCountAsNews) {
  core.on_missing(asked().id, now);
  core.on_watching(true);
  const auto create = asked();
  core.on_event(lease("me", 5, 0), now);
  core.on_deleted(lease("me", 6, 0), now);
  answer_as_written(create, 5);
  EXPECT_FALSE(core.term());
  EXPECT_EQ(core.holder(), "");
}

TEST_F(ElectionCoreTest, ARenewalOfALeaseThatWasDeletedSinceDoesNotProlongTheTerm) {
  lead();
  const TimePoint valid_until = core.term()->valid_until;
  now += 2s;
  const auto renewal = asked();
  core.on_deleted(lease("me", 4, 4), now);
  answer_as_written(renewal, 3);
  ASSERT_TRUE(core.term());
  EXPECT_EQ(core.term()->valid_until, valid_until);
  EXPECT_EQ(asked().ask, Core::Ask::create);
}

TEST_F(ElectionCoreTest, AClaimThatSomebodyPutALabelOnCounts) {
  core.on_answered(asked().id, lease("", 4, 3), now);
  const auto claim = asked();
  Json labelled = claim.body;
  labelled["metadata"]["resourceVersion"] = "6";
  labelled["metadata"]["labels"]["new"] = "label";
  core.on_event(std::move(labelled), now);
  answer_as_written(claim, 5);
  EXPECT_TRUE(core.term());
}

TEST_F(ElectionCoreTest, ALookThatIsOlderThanADeletionIsIgnored) {
  core.on_missing(asked().id, now);
  core.on_failure(asked().id, now);
  now += 10s;
  core.on_conflict(asked().id, now);
  const auto look = asked();
  core.on_event(lease("other", 8), now);
  core.on_deleted(lease("other", 9), now);
  core.on_answered(look.id, lease("other", 7), now);
  EXPECT_EQ(core.holder(), "") << "version 9 has deleted it";
}

TEST_F(ElectionCoreTest, ADeletionTellsOfAHolderThatWasNeverSeen) {
  core.on_answered(asked().id, lease("", 1), now);
  core.on_watching(true);
  core.on_deleted(lease("other", 4, 9), now);
  EXPECT_EQ(waits(), 15s) << "the holder may still lead";
  now += 15s;
  EXPECT_EQ(spec(asked())["leaseTransitions"].as_integer(), 10);
}

// ---- Claims that nobody renews

TEST_F(ElectionCoreTest, AClaimThatLastsForYearsIsRespectedAndReported) {
  core.on_answered(asked().id, lease("ghost", 1, 3, INT32_MAX), now);
  core.on_watching(true);
  EXPECT_EQ(waits(), 2147483647s);
  EXPECT_EQ(core.problem(),
            "Lease ns/op: ghost holds it for 596523h14m7s without a renewal (spec.leaseDurationSeconds), and "
            "no other candidate leads before; delete the Lease if ghost does not run");
  core.on_event(lease("other", 2), now);
  EXPECT_EQ(waits(), 15s);
  EXPECT_EQ(core.problem(), "");
}

TEST_F(ElectionCoreTest, AClaimOfFiveMinutesIsNotReported) {
  core.on_answered(asked().id, lease("other", 1, 3, 300), now);
  core.on_watching(true);
  EXPECT_EQ(waits(), 300s);
  EXPECT_EQ(core.problem(), "");
}

// Regression: candidates that had seen the Lease waited for decades, although it was deleted.
TEST_F(ElectionCoreTest, ADeletedClaimOfYearsIsNotWaitedForLongerThanFiveMinutes) {
  core.on_answered(asked().id, lease("ghost", 1, 3, INT32_MAX), now);
  core.on_watching(true);
  core.on_deleted(lease("ghost", 2, 3, INT32_MAX), now);
  EXPECT_EQ(waits(), 300s);
  EXPECT_EQ(core.problem(), "");
  now += 300s;
  EXPECT_EQ(asked().ask, Core::Ask::create);
}

// Times in a Lease are for people: no candidate compares them.
TEST_F(ElectionCoreTest, ARenewalOfTheFutureCountsFromWhenItWasSeen) {
  Json ahead = lease("other", 1);
  ahead["spec"]["renewTime"] = "2126-01-01T00:00:00.000000Z";
  core.on_answered(asked().id, ahead, now);
  core.on_watching(true);
  EXPECT_EQ(waits(), 15s);
  now += 15s;
  EXPECT_EQ(spec(asked())["renewTime"].as_string(), MicroTime(wall).str());
}

TEST_F(ElectionCoreTest, ADeletionThatTellsOfAnotherHolderEndsTheTerm) {
  lead();
  core.on_deleted(lease("other", 4, 9), now);
  EXPECT_EQ(core.end(), End::taken);
}

// ---- Limits of counters and clocks

TEST_F(ElectionCoreTest, ACounterThatIsFullIsNotRaised) {  // the API server rejects values beyond int32
  core.on_answered(asked().id, lease("", 1, INT32_MAX), now);
  core.on_watching(true);
  EXPECT_EQ(core.next_step(now, wall).next_due, TimePoint::max());
  EXPECT_EQ(core.problem(),
            "Lease ns/op: spec.leaseTransitions is 2147483647, the largest that the API server takes, so no "
            "further term can be counted; set it to a smaller number or delete the Lease");
  core.on_event(lease("", 2, 7), now);
  EXPECT_EQ(spec(asked())["leaseTransitions"].as_integer(), 8);
  EXPECT_EQ(core.problem(), "");
}

TEST_F(ElectionCoreTest, ACounterBeyondWhatTheServerTakesIsAFullOne) {
  core.on_answered(asked().id, lease("", 1, INT64_MAX), now);
  core.on_watching(false);
  EXPECT_GE(waits(), 2s) << "where it cannot watch it reads on";
  EXPECT_NE(core.problem(), "");
}

TEST_F(ElectionCoreTest, ADeletedLeaseWithAFullCounterIsCountedFromZero) {
  core.on_answered(asked().id, lease("", 1, INT32_MAX), now);
  core.on_watching(true);
  core.on_deleted(lease("", 2, INT32_MAX), now);
  const auto create = asked();
  EXPECT_EQ(create.ask, Core::Ask::create);
  EXPECT_EQ(spec(create)["leaseTransitions"].as_integer(), 0);
}

TEST_F(ElectionCoreTest, AFullCounterDoesNotKeepALeaderFromRenewing) {
  core.on_answered(asked().id, lease("", 1, INT32_MAX - 1), now);
  answer_as_written(asked(), 2);
  ASSERT_TRUE(core.term());
  EXPECT_EQ(core.term()->number, 2147483647U);
  now += 2s;
  EXPECT_EQ(spec(asked())["leaseTransitions"].as_integer(), INT32_MAX);
}

TEST_F(ElectionCoreTest, ACalendarThatIsSetBackFarIsFollowed) {
  lead();
  wall += 24h * 400;
  now += 2s;
  answer_as_written(asked(), 3);
  wall -= 24h * 400;
  now += 2s;
  const auto renewal = asked();
  EXPECT_EQ(spec(renewal)["renewTime"].as_string(), MicroTime(wall).str());
  answer_as_written(renewal, 4);
  now += 2s;
  EXPECT_EQ(spec(asked())["renewTime"].as_string(), MicroTime(wall + 1us).str());
}

TEST(LeaseRecord, ComparesVersionsOfAnyLength) {
  EXPECT_TRUE(detail::is_newer("10", "9"));
  EXPECT_FALSE(detail::is_newer("9", "10"));
  EXPECT_FALSE(detail::is_newer("10", "10"));
  EXPECT_TRUE(detail::is_newer("100000000000000000000000", "99999999999999999999999"));
  EXPECT_TRUE(detail::is_newer("1", ""));
}

}  // namespace
}  // namespace evenkeel
