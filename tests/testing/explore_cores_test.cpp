// SPDX-License-Identifier: Apache-2.0
// The cores of explore(): plans while they run, end states, judgement, enumeration.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore_traces.hpp"
#include "testing/explore/end_state.hpp"
#include "testing/explore/enumerator.hpp"
#include "testing/explore/interventions.hpp"
#include "testing/explore/plan_core.hpp"
#include "testing/explore/run_comparison.hpp"
#include "testing/explore/watch_filter.hpp"

namespace evenkeel::testing::detail {
namespace explore_cores {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Plan

TEST(Plan, IsPrintedAsSentencesAndAsCode) {
  const Plan plan{{crash_after({creation}), refuse({creation, 2}, 409), lose_answer({creation}),
                   restart_stale({.after = {edit}, .as_before = {creation}}), down_during({edit}),
                   withhold("pods", {.from = {edit}, .until = {edit, 2}}, WithheldDelivery::merged),
                   withhold("pods", {.from = {edit}}, WithheldDelivery::late)}};
  EXPECT_EQ(
      plan.str(),
      "crash right after create pods default/web, before its answer; then answer create pods default/web "
      "(2) with 409 without applying it; then apply create pods default/web and lose the answer; then "
      "restart after workload: patch pods default/web with the cache as before create pods default/web; "
      "then no process runs during workload: patch pods default/web; then events of pods from workload: "
      "patch pods default/web on wait until right after workload: patch pods default/web (2), then only "
      "the last states arrive; then events of pods from workload: patch pods default/web on wait until "
      "nothing "
      "is left to do at that time, then arrive in order");
  EXPECT_EQ(plan.code(), R"(ek::testing::Plan{{
    ek::testing::crash_after({"create pods default/web"}),
    ek::testing::refuse({"create pods default/web", 2}, 409),
    ek::testing::lose_answer({"create pods default/web"}),
    ek::testing::restart_stale({.after = {"workload: patch pods default/web"}, .as_before = {"create pods default/web"}}),
    ek::testing::down_during({"workload: patch pods default/web"}),
    ek::testing::withhold("pods", {.from = {"workload: patch pods default/web"}, .until = {"workload: patch pods default/web", 2}}, ek::testing::WithheldDelivery::merged),
    ek::testing::withhold("pods", {.from = {"workload: patch pods default/web"}, .until = {""}}, ek::testing::WithheldDelivery::late),
}})");
  EXPECT_EQ(Plan{}.str(), "no step");
}

// ---- PlanCore

TEST(PlanCore, CrashesAfterTheWriteOfItsNumber) {
  PlanCore core({{crash_after({creation, 2})}});
  const Treatment first = core.on_write(creation);
  EXPECT_EQ(first.kind, Treatment::Kind::pass);
  core.on_written(first);
  EXPECT_FALSE(core.is_dead());
  EXPECT_THAT(core.missed(), ElementsAre(crash_after({creation, 2})));
  const Treatment second = core.on_write(creation);
  EXPECT_EQ(second.kind, Treatment::Kind::crash);
  EXPECT_FALSE(core.is_dead());
  core.on_written(second);
  EXPECT_TRUE(core.is_dead());
  EXPECT_FALSE(core.take_restart().as_before.has_value());
  EXPECT_FALSE(core.is_dead());
  EXPECT_THAT(core.missed(), IsEmpty());
}

class FailingTransport final : public http::Transport {
 public:
  std::shared_ptr<http::Call> send(http::Request, http::Completion) override { throw failure(); }
  std::shared_ptr<http::Call> stream(http::Request, std::shared_ptr<http::StreamHandler>) override {
    throw failure();
  }
  http::Response fetch(http::Request, std::stop_token) override { throw failure(); }

 private:
  static TransportError failure() { return {TransportErrorCode::timeout, "the deadline passed"}; }
};

// Regression: a crash after a write whose call failed never happened, although its step counted as done.
TEST(Interventions, ACrashHappensAfterAWriteWhoseCallFails) {
  const auto hooks =
      std::make_shared<Interventions>(InterventionOptions{.plan = Plan{{crash_after({creation})}}});
  const auto transport = hooks->around_controllers(std::make_shared<FailingTransport>());
  const http::Request request{.method = http::Method::post,
                              .target = "/api/v1/namespaces/default/pods",
                              .body = R"({"metadata":{"name":"web"}})"};
  const auto failure = [&] {
    try {
      transport->fetch(request);
    } catch (const TransportError& error) {
      return error.code();
    }
    return TransportErrorCode::resolve;
  };
  EXPECT_EQ(failure(), TransportErrorCode::closed);
  EXPECT_TRUE(hooks->is_dead());
}

TEST(PlanCore, RefusesAndLosesAnswersOnce) {
  PlanCore core({{refuse({creation}, 409), lose_answer({creation, 2})}});
  const Treatment first = core.on_write(creation);
  EXPECT_EQ(first.kind, Treatment::Kind::refuse);
  EXPECT_EQ(first.status, 409);
  EXPECT_EQ(core.on_write(creation).kind, Treatment::Kind::lose);
  EXPECT_EQ(core.on_write(creation).kind, Treatment::Kind::pass);
}

TEST(PlanCore, LeavesWritesOfTheWorkloadAlone) {
  PlanCore core({{crash_after({edit}), refuse({edit}, 500), lose_answer({edit}),
                  lose_leadership_before({edit}), lose_leadership_after({edit})}});
  const Treatment treatment = core.on_write(edit);
  EXPECT_EQ(treatment.kind, Treatment::Kind::pass);
  core.on_written(treatment);
  EXPECT_FALSE(core.ends_after_run());
  EXPECT_EQ(core.missed().size(), 5u);
}

TEST(PlanCore, EndsTheProcessBeforeAWriteOfTheWorkload) {
  PlanCore core({{down_during({edit})}});
  core.on_write(edit);
  EXPECT_TRUE(core.is_dead());
}

TEST(PlanCore, RestartsWithAnOldStateAfterAWriteOfEitherSide) {
  for (const std::string& write : {creation, edit}) {
    PlanCore core({{restart_stale({.after = {write}, .as_before = {"create pods default/first"}})}});
    core.on_written(core.on_write(write));
    ASSERT_TRUE(core.is_dead());
    EXPECT_EQ(core.take_restart().as_before, (Moment{"create pods default/first"}));
  }
}

TEST(PlanCore, WithholdsFromAWriteUntilAfterAnother) {
  PlanCore core({{withhold("pods", {.from = {edit}, .until = {edit, 2}}, WithheldDelivery::merged)}});
  EXPECT_TRUE(core.concerns("pods"));
  EXPECT_FALSE(core.concerns("nodes"));
  EXPECT_FALSE(core.withholds("pods"));
  core.on_written(core.on_write(edit));
  EXPECT_TRUE(core.withholds("pods"));
  core.on_idle(false);  // the workload's second write is still to come
  EXPECT_FALSE(core.next_release().has_value());
  core.on_written(core.on_write(edit));
  EXPECT_TRUE(core.withholds("pods"));
  const auto release = core.next_release();
  ASSERT_TRUE(release.has_value());
  EXPECT_EQ(release->delivery, WithheldDelivery::merged);
  EXPECT_FALSE(core.withholds("pods"));
  EXPECT_FALSE(core.next_release().has_value());
}

TEST(PlanCore, EndsAWindowWhenNothingIsLeftToDo) {
  PlanCore core({{withhold("pods", {.from = {edit}}, WithheldDelivery::late)}});
  core.on_write(edit);
  EXPECT_FALSE(core.next_release().has_value());
  core.on_idle(true);
  EXPECT_TRUE(core.next_release().has_value());
}

TEST(PlanCore, EndsAWindowAfterTenRuns) {
  PlanCore core({{withhold("pods", {.from = {edit}, .until = {edit, 2}}, WithheldDelivery::late)}});
  core.on_write(edit);
  for (int run = 1; run < 10; ++run) core.on_run();
  EXPECT_FALSE(core.next_release().has_value());
  core.on_run();
  EXPECT_TRUE(core.next_release().has_value());
}

TEST(PlanCore, EndsAWindowUntilAWriteThatDoesNotCome) {
  PlanCore core({{withhold("pods", {.from = {edit}, .until = {creation}}, WithheldDelivery::late)}});
  core.on_write(edit);
  core.on_idle(true);
  EXPECT_FALSE(core.next_release().has_value());
  core.on_idle(false);
  EXPECT_TRUE(core.next_release().has_value());
}

TEST(PlanCore, EndsAWindowThatWaitsForTheWorkloadOnceThatHasEnded) {
  PlanCore core({{withhold("pods", {.from = {edit}, .until = {edit, 2}}, WithheldDelivery::late)}});
  core.on_write(edit);
  core.finish();
  core.on_idle(false);
  EXPECT_TRUE(core.next_release().has_value());
}

// ---- Merged events

TEST(MergedEvents, AreTheLastStateOfEachObject) {
  const auto event = [](const std::string& type, const std::string& name, int version) {
    return R"({"object":{"metadata":{"name":")" + name + R"("},"version":)" + std::to_string(version) +
           R"(},"type":")" + type + "\"}\n";
  };
  EXPECT_EQ(merged_events(event("ADDED", "new", 1) + event("MODIFIED", "old", 2) +
                          event("MODIFIED", "new", 3) + event("DELETED", "old", 4)),
            event("ADDED", "new", 3) + event("DELETED", "old", 4));
  EXPECT_EQ(merged_events(event("ADDED", "short", 1) + event("DELETED", "short", 2)), "");
  EXPECT_EQ(merged_events(event("DELETED", "again", 1) + event("ADDED", "again", 2)),
            event("MODIFIED", "again", 2));
}

// ---- EndState

Json parsed_object(const std::string& text) {
  return Json::parse(text);
}

TEST(EndState, LeavesOutWhatDiffersBetweenEqualRuns) {
  const Json object = parsed_object(R"({"metadata": {"name": "web", "namespace": "default", "uid": "u1",
      "resourceVersion": "7", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": []},
      "status": {"observedGeneration": 2, "since": "2026-01-01T00:00:09Z", "phase": "Ready"}})");
  const EndState state = end_state({{"pods", {object}}}, {});
  ASSERT_TRUE(state.contains("pods default/web"));
  EXPECT_EQ(state.at("pods default/web").dump(),
            R"({"metadata":{"name":"web","namespace":"default"},)"
            R"("status":{"observedGeneration":-1,"phase":"Ready","since":"<time>"}})");
}

TEST(EndState, NamesUidsByTheirObjects) {
  const Json owner = parsed_object(R"({"metadata": {"name": "web", "namespace": "default", "uid": "u1"}})");
  const Json child = parsed_object(R"({"metadata": {"name": "a", "namespace": "default", "uid": "u2",
      "ownerReferences": [{"uid": "u1"}, {"uid": "u9"}]}})");
  const EndState state = end_state({{"stores", {owner}}, {"pods", {child}}}, {});
  const Json& owners = state.at("pods default/a").at({"metadata", "ownerReferences"});
  EXPECT_EQ(owners[0]["uid"].as_string(), "<uid of stores default/web>");
  EXPECT_EQ(owners[1]["uid"].as_string(), "<uid of nothing>");
}

TEST(EndState, NumbersGeneratedNames) {
  const auto pod = [](const std::string& name, const std::string& image) {
    return Json::object(
        {{"metadata", Json::object({{"name", name}, {"generateName", "web-"}})}, {"image", image}});
  };
  const EndState one = end_state({{"pods", {pod("web-x1", "b"), pod("web-y2", "a")}}}, {});
  const EndState two = end_state({{"pods", {pod("web-q1", "a"), pod("web-r2", "b")}}}, {});
  EXPECT_EQ(one, two);
  EXPECT_EQ(one.size(), 2u);
  EXPECT_TRUE(one.contains("pods web-*1"));
}

TEST(EndState, AppliesTheCallersChange) {
  const Json object = parsed_object(R"({"metadata": {"name": "web"}, "attempts": 3})");
  const EndState state = end_state({{"pods", {object}}}, [](Json& found) { found.erase("attempts"); });
  EXPECT_EQ(state.at("pods web").dump(), R"({"metadata":{"name":"web"}})");
}

// ---- Judge

const Plan crash{{crash_after({creation})}};
const Plan stale{{restart_stale({.after = {creation}, .as_before = {creation}})}};

TEST(Judge, AcceptsAnEqualRun) {
  const RunRecord reference = record_of({write_of(creation, {}, pod("1", "a"))});
  EXPECT_THAT(texts(compare_run(reference, reference, crash, {})), IsEmpty());
}

TEST(Judge, ComparesCreationsDeletionsAndEnds) {
  const RunRecord reference = record_of({write_of(creation, {}, pod("1", "a"))});
  RunRecord run = record_of({write_of(creation, {}, pod("1", "a")), write_of("delete", pod("1", "a"), {}),
                             write_of(creation, {}, pod("2", "a"), 2)});
  run.end["pods default/web"] = Json::object({{"image", "b"}});
  run.end["pods default/other"] = parsed_object(
      R"({"metadata": {"deletionTimestamp": "<time>", "finalizers": ["a/b"],
          "ownerReferences": [{"kind": "Store", "name": "main", "uid": "<uid of nothing>"}]}})");
  EXPECT_THAT(
      texts(compare_run(reference, run, crash, {})),
      ElementsAre("pods default/web was created 2 times; in the reference once",
                  "pods default/web was deleted once; in the reference never",
                  "pods default/web differs at the end from the reference: image: \"a\" -> \"b\"",
                  "pods default/other exists at the end, but not in the reference (it is being deleted, and "
                  "waits for a/b) (its owner Store main does not exist)"));
}

TEST(Judge, ReportsACreationThatIsMissing) {
  const RunRecord reference = record_of({write_of(creation, {}, pod("1", "a"))});
  EXPECT_THAT(texts(compare_run(reference, record_of({}), crash, {})),
              ElementsAre("pods default/web was never created; in the reference once"));
}

TEST(Judge, AcceptsWorkForAStateThatIsGoneButNoLoss) {
  const RunRecord reference = record_of({write_of(creation, {}, pod("1", "a"))});
  const RunRecord more =
      record_of({write_of(creation, {}, pod("1", "a")), write_of("delete", pod("9", "a"), {}),
                 write_of(creation, {}, pod("9", "a"), 2)});
  EXPECT_THAT(texts(compare_run(reference, more, stale, {})), IsEmpty());
  const RunRecord loss =
      record_of({write_of(creation, {}, pod("1", "a")), write_of("delete", pod("1", "a"), {}),
                 write_of(creation, {}, pod("2", "a"), 2)});
  EXPECT_THAT(texts(compare_run(reference, loss, stale, {})),
              ElementsAre("pods default/web was deleted; the reference keeps it"));
}

TEST(Judge, ReportsRunsThatDoNotEnd) {
  const RunRecord reference = record_of({});
  RunRecord run = record_of({});
  run.settled = false;
  run.runs = 33;
  run.exceptions = {"boom"};
  EXPECT_THAT(texts(compare_run(reference, run, {}, {})),
              ElementsAre("work is left when the time is over", "33 runs; in the reference 3",
                          "a reconcile threw: boom"));
}

// ---- Enumerator

const WatchedKinds pods{{"pods", {.is_examined = true}}};

Trace small_trace() {
  TracedWrite nothing = write_of("apply pods default/web", pod("1", "a"), pod("1", "a"));
  nothing.effective = false;
  return {{write_of("workload: create pods default/web", {}, pod("1", "a")), nothing,
           write_of("patch pods default/web", pod("1", "a"), pod("1", "b")),
           write_of("workload: delete pods default/web", pod("1", "b"), {})}};
}

TEST(Enumerator, ListsPlansThatCanMatter) {
  const Plans plans = enumerate(small_trace(), {}, {});
  EXPECT_THAT(texts(plans.plans), ElementsAre("crash right after patch pods default/web, before its answer",
                                              "apply patch pods default/web and lose the answer",
                                              "answer patch pods default/web with 500 without applying it",
                                              "no process runs during workload: delete pods default/web"));
}

TEST(Enumerator, AddsOldStatesAndWindowsOfResourcesInCaches) {
  const Plans plans = enumerate(small_trace(), pods, {});
  const auto lines = texts(plans.plans);
  EXPECT_THAT(lines, ::testing::Contains("restart after workload: delete pods default/web with the cache as "
                                         "before workload: delete pods default/web"));
  EXPECT_THAT(lines,
              ::testing::Contains("events of pods from workload: create pods default/web on wait until "
                                  "right after workload: delete pods default/web, then only the last "
                                  "states arrive"));
  EXPECT_THAT(lines, ::testing::Not(::testing::Contains(::testing::HasSubstr("apply pods default/web"))));
}

// No server is behind by an hour: neither a list at a restart nor the events of a window are as old.
TEST(Enumerator, LimitsTheAgeOfWhatCachesShow) {
  Trace trace = small_trace();
  trace.writes[3].at = std::chrono::hours{1};
  const auto old = [](const Plans& plans) {
    std::vector<std::string> found;
    for (const std::string& line : texts(plans.plans)) {
      const bool is_stale = line.find("with the cache as before") != std::string::npos ||
                            line.find("wait until") != std::string::npos;
      const bool spans =
          line.find("delete pods") != std::string::npos &&
          (line.find("create pods") != std::string::npos || line.find("patch") != std::string::npos);
      if (is_stale && spans) found.push_back(line);
    }
    return found;
  };
  for (const ExploreScope scope : {ExploreScope::causal, ExploreScope::all}) {
    EXPECT_THAT(old(enumerate(trace, pods, {.scope = scope})), ::testing::IsEmpty());
    EXPECT_THAT(old(enumerate(trace, pods, {.scope = scope, .max_staleness = std::chrono::hours{1}})),
                ::testing::Not(::testing::IsEmpty()));
  }
}

TEST(Enumerator, PrunesNothingOnRequest) {
  const Plans few = enumerate(small_trace(), pods, {});
  const Plans all = enumerate(small_trace(), pods, {.scope = ExploreScope::all});
  EXPECT_EQ(all.pruned, 0u);
  EXPECT_EQ(all.plans.size(), few.plans.size() + few.pruned);
}

TEST(Enumerator, ShrinksAPlanToTheStepsThatMatter) {
  const PlanStep needed = crash_after({creation, 2});
  const Plan plan{{lose_answer({creation}), needed, refuse({creation, 3}, 500)}};
  const Plan small = shrink(plan, [&](const Plan& tried) {
    return std::find(tried.steps.begin(), tried.steps.end(), needed) != tried.steps.end();
  });
  EXPECT_EQ(small, (Plan{{needed}}));
}

}  // namespace explore_cores
}  // namespace evenkeel::testing::detail
