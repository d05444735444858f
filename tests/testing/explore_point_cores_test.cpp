// SPDX-License-Identifier: Apache-2.0
// The cores of explore(), with explore points and losses of leadership.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore_traces.hpp"
#include "testing/explore/enumerator.hpp"

namespace evenkeel::testing::detail {
namespace explore_point_cores {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Plan

TEST(PointPlan, NamesPointsAndLossesOfLeadership) {
  const Plan plan{{crash_at({resize}), crash_past({resize, 2}), lose_leadership_before({creation}),
                   lose_leadership_after({creation, 3}), overtake_at({resize}),
                   overtake_at({resize, 2}, {edit})}};
  EXPECT_EQ(
      plan.str(),
      "crash at point resize volume default/web, before its effect; then crash past point resize "
      "volume default/web (2), after its effect; then lose leadership right before create pods default/web; "
      "then lose leadership right after create pods default/web (3); then another replica takes over at "
      "point "
      "resize volume default/web, whose effect follows when nothing is left to do at that time; then another "
      "replica takes over at point resize volume default/web (2), whose effect follows when nothing is left "
      "to "
      "do after workload: patch pods default/web");
  EXPECT_EQ(plan.code(), R"(ek::testing::Plan{{
    ek::testing::crash_at({"point resize volume default/web"}),
    ek::testing::crash_past({"point resize volume default/web", 2}),
    ek::testing::lose_leadership_before({"create pods default/web"}),
    ek::testing::lose_leadership_after({"create pods default/web", 3}),
    ek::testing::overtake_at({"point resize volume default/web"}),
    ek::testing::overtake_at({"point resize volume default/web", 2}, {"workload: patch pods default/web"}),
}})");
}

// ---- PlanCore

// A point at which the process crashed was not passed: the next process reaches the one of the same number.
TEST(PointPlanCore, CrashesAtAPointBeforeItsEffect) {
  PlanCore core({{crash_at({resize, 2})}});
  core.on_point_end(core.on_point(resize, true));
  EXPECT_FALSE(core.ends_after_run());
  EXPECT_EQ(core.on_point(resize, true), (Moment{resize, 2}));
  EXPECT_TRUE(core.is_dead());
  EXPECT_THAT(core.missed(), IsEmpty());
  EXPECT_FALSE(core.take_restart().takes_over);
  EXPECT_EQ(core.on_point(resize, true), (Moment{resize, 2}));
  EXPECT_FALSE(core.is_dead());
}

TEST(PointPlanCore, CrashesPastAPointOnceItsEffectHasReturned) {
  PlanCore core({{crash_past({resize})}});
  const Moment point = core.on_point(resize, true);
  core.on_contact();
  EXPECT_FALSE(core.ends_after_run());
  EXPECT_THAT(core.missed(), ElementsAre(crash_past({resize})));
  core.on_point_end(point);
  EXPECT_TRUE(core.is_dead());
  EXPECT_THAT(core.missed(), IsEmpty());
}

TEST(PointPlanCore, CrashesPastAMarkAtTheNextContact) {
  PlanCore core({{crash_past({resize})}});
  core.on_point(resize, false);
  EXPECT_FALSE(core.is_dead());
  EXPECT_TRUE(core.ends_after_run());
  core.on_contact();
  EXPECT_TRUE(core.is_dead());
  core.take_restart();
  EXPECT_FALSE(core.ends_after_run());
}

TEST(PointPlanCore, LosesLeadershipBeforeAWriteWhichIsNotSent) {
  PlanCore core({{lose_answer({creation}), lose_leadership_before({creation})}});
  EXPECT_EQ(core.on_write(creation).kind, Treatment::Kind::withdraw);
  EXPECT_TRUE(core.has_lost_leadership());
  EXPECT_TRUE(core.ends_after_run());
  EXPECT_FALSE(core.is_dead());
  EXPECT_TRUE(core.take_restart().takes_over);
  EXPECT_FALSE(core.ends_after_run());
  EXPECT_EQ(core.on_write(creation).kind, Treatment::Kind::lose);  // it is sent by the next replica
}

TEST(PointPlanCore, CountsAWriteThatWasNotSentWithTheNextReplica) {
  PlanCore core({{lose_leadership_before({creation})}});
  core.on_write(creation);
  core.take_restart();
  EXPECT_EQ(core.on_write(creation).moment, (Moment{creation}));
  EXPECT_EQ(core.on_write(creation).moment, (Moment{creation, 2}));
}

TEST(PointPlanCore, LosesLeadershipAfterAWrite) {
  PlanCore core({{lose_leadership_after({creation})}});
  const Treatment treatment = core.on_write(creation);
  EXPECT_EQ(treatment.kind, Treatment::Kind::pass);
  EXPECT_FALSE(core.has_lost_leadership());
  core.on_written(treatment);
  EXPECT_TRUE(core.has_lost_leadership());
}

TEST(PointPlanCore, LetsAProcessStandStillUntilTheNextOneIsIdle) {
  PlanCore core({{overtake_at({resize})}});
  EXPECT_TRUE(core.may_be_overtaken());
  core.on_point(resize, true);
  EXPECT_TRUE(core.is_overtaken());
  EXPECT_FALSE(core.may_be_overtaken());
  EXPECT_FALSE(core.ends_after_run());
  EXPECT_TRUE(core.take_restart().takes_over);
  EXPECT_FALSE(core.is_overtaken());
  EXPECT_FALSE(core.goes_on());
  core.on_idle(true);
  EXPECT_TRUE(core.goes_on());
  EXPECT_FALSE(core.goes_on());
  EXPECT_TRUE(core.has_lost_leadership());
  core.on_gone();
  EXPECT_FALSE(core.has_lost_leadership());
  EXPECT_FALSE(core.ends_after_run());
  EXPECT_THAT(core.missed(), IsEmpty());
}

TEST(PointPlanCore, LetsAProcessStandStillUntilTheNextOneHasFollowedAWrite) {
  PlanCore core({{overtake_at({resize}, {edit})}});
  core.on_point(resize, true);
  core.take_restart();
  core.on_idle(true);
  EXPECT_FALSE(core.goes_on());
  core.on_written(core.on_write(edit));
  EXPECT_FALSE(core.goes_on());
  core.on_idle(true);
  EXPECT_TRUE(core.goes_on());
}

TEST(PointPlanCore, LetsAProcessGoOnWhenTheNextOneIsNeverIdle) {
  PlanCore core({{overtake_at({resize})}});
  core.on_point(resize, true);
  core.take_restart();
  for (std::size_t run = 1; run < runs_in_the_dark; ++run) core.on_run();
  EXPECT_FALSE(core.goes_on());
  core.on_run();
  EXPECT_TRUE(core.goes_on());
}

TEST(PointPlanCore, LetsAProcessGoOnAtTheEndOfTheWorkload) {
  PlanCore core({{overtake_at({resize}, {edit})}});
  core.on_point(resize, true);
  core.take_restart();
  core.finish();
  core.on_idle(false);
  EXPECT_TRUE(core.goes_on());
}

// ---- Judge

struct OutsideNumber final : OutsideState {
  explicit OutsideNumber(int value) : number(value) {}
  std::vector<std::string> changes_to(const OutsideState& other) const override {
    const int to = static_cast<const OutsideNumber&>(other).number;
    if (to == number) return {};
    return {std::to_string(number) + " -> " + std::to_string(to)};
  }
  int number;
};

TEST(PointJudge, ReportsWritesAfterLeadershipWasLostAndWhatDiffersOutside) {
  RunRecord reference = record_of({});
  reference.outside = std::make_shared<OutsideNumber>(1);
  RunRecord run = reference;
  EXPECT_THAT(texts(compare_run(reference, run, {}, {})), IsEmpty());
  run.outside = std::make_shared<OutsideNumber>(2);
  run.late_writes = {creation};
  run.late_changes_outside = {"2 -> 3"};
  const std::vector<Problem> problems = compare_run(reference, run, {}, {});
  EXPECT_THAT(texts(problems),
              ElementsAre("a write was sent after leadership was lost: create pods default/web",
                          "outside differs at the end from the reference: 1 -> 2",
                          "once settled, another run of each key changes outside: 2 -> 3"));
  EXPECT_EQ(problems.at(0).kind, ProblemKind::not_leader);
  EXPECT_EQ(problems.at(1).kind, ProblemKind::outside);
  EXPECT_EQ(problems.at(2).kind, ProblemKind::unstable);
}

TEST(PointJudge, ComparesPointsAndWhatIsOutsideInRunsWithoutAFault) {
  RunRecord first = record_of({});
  first.outside = std::make_shared<OutsideNumber>(1);
  RunRecord second = first;
  EXPECT_THAT(texts(differences_of(first, second)), IsEmpty());
  second.outside = std::make_shared<OutsideNumber>(2);
  EXPECT_THAT(texts(differences_of(first, second)),
              ElementsAre("two runs without any fault differ outside: 1 -> 2"));
  second.trace.points = {{.moment = {resize}}};
  EXPECT_THAT(texts(differences_of(first, second)),
              ElementsAre("two runs without any fault differ at point 1: none, then point resize volume "
                          "default/web"));
}

// ---- Enumerator

// Two changes of one run, and one of the next.
Trace trace_of_a_leader() {
  Trace trace{{write_of("create pods default/a", {}, pod("1", "a")),
               write_of("create pods default/b", {}, pod("2", "a")),
               write_of("create pods default/c", {}, pod("3", "a"))},
              {}};
  for (TracedWrite& write : trace.writes) {
    write.of_leader = true;
    write.runs = 1;
  }
  trace.writes[2].runs = 2;
  return trace;
}

std::vector<std::string> plans_about(const Plans& plans, const std::string& what) {
  std::vector<std::string> lines = texts(plans.plans);
  std::erase_if(lines, [&](const std::string& line) { return line.find(what) == std::string::npos; });
  return lines;
}

// Right after the first write is right before the second one.
TEST(PointEnumerator, LosesLeadershipOnceBetweenTwoWrites) {
  const Plans plans = enumerate(trace_of_a_leader(), {}, {});
  EXPECT_THAT(plans_about(plans, "leadership"),
              ElementsAre("lose leadership right before create pods default/a",
                          "lose leadership right before create pods default/b",
                          "lose leadership right after create pods default/b",
                          "lose leadership right before create pods default/c",
                          "lose leadership right after create pods default/c"));
}

TEST(PointEnumerator, LosesLeadershipOnBothSidesOfACallOutside) {
  Trace trace = trace_of_a_leader();
  trace.points = {{.moment = {resize}, .writes = 1, .runs = 1}};
  EXPECT_THAT(plans_about(enumerate(trace, {}, {}), "leadership right after create pods default/a"),
              ElementsAre("lose leadership right after create pods default/a"));
}

TEST(PointEnumerator, LosesLeadershipOnlyInControllersOfTheLeader) {
  Trace trace = trace_of_a_leader();
  for (TracedWrite& write : trace.writes) write.of_leader = false;
  EXPECT_THAT(plans_about(enumerate(trace, {}, {.scope = ExploreScope::all}), "leadership"), IsEmpty());
}

// A crash before a call is tried unless it is the same as one after a write or call of its run.
TEST(PointEnumerator, CrashesAtPoints) {
  Trace trace = trace_of_a_leader();
  trace.points = {{.moment = {"point first default/web"}, .writes = 0, .runs = 1},
                  {.moment = {"point second default/web"}, .writes = 0, .runs = 1},
                  {.moment = {"point third default/web"}, .writes = 3, .runs = 2},
                  {.moment = {"point fourth default/web"}, .writes = 3, .runs = 3}};
  const Plans plans = enumerate(trace, {}, {});
  EXPECT_THAT(plans_about(plans, "point"),
              ElementsAre("crash at point first default/web, before its effect",
                          "crash past point first default/web, after its effect",
                          "crash past point second default/web, after its effect",
                          "crash past point third default/web, after its effect",
                          "crash at point fourth default/web, before its effect",
                          "crash past point fourth default/web, after its effect"));
  const Plans all = enumerate(trace, {}, {.scope = ExploreScope::all});
  EXPECT_EQ(plans_about(all, "point").size(), 8u);
}

// With two replicas: at once, and after the next change of the workload.
TEST(PointEnumerator, OvertakesTheLeaderAtItsCallsOutside) {
  Trace trace = trace_of_a_leader();
  trace.writes.push_back(write_of(edit, pod("3", "a"), pod("3", "b")));
  trace.points = {{.moment = {"point first default/web"}, .writes = 1, .runs = 1, .of_leader = true},
                  {.moment = {"point everywhere default/web"}, .writes = 1, .runs = 1},
                  {.moment = {"point last default/web"}, .writes = 4, .runs = 3, .of_leader = true}};
  EXPECT_THAT(plans_about(enumerate(trace, {}, {}), "takes over"), IsEmpty());
  const std::string at = "another replica takes over at point ";
  EXPECT_THAT(
      plans_about(enumerate(trace, {}, {.replicas = 2}), "takes over"),
      ElementsAre(at + "first default/web, whose effect follows when nothing is left to do at that time",
                  at + "first default/web, whose effect follows when nothing is left to do after " + edit,
                  at + "last default/web, whose effect follows when nothing is left to do at that time"));
}

TEST(PointEnumerator, PairsPointsWithWritesInTheirOrder) {
  Trace trace = trace_of_a_leader();
  trace.writes.resize(1);
  trace.points = {{.moment = {"point before default/web"}, .writes = 0, .runs = 1},
                  {.moment = {"point after default/web"}, .writes = 1, .runs = 1}};
  const Plans plans = enumerate(trace, {}, {.steps = 2});
  const auto pairs = plans_about(plans, "; then crash");
  EXPECT_THAT(pairs, ::testing::Contains("crash past point before default/web, after its effect; then crash "
                                         "right after create pods default/a, before its answer"));
  EXPECT_THAT(pairs, ::testing::Contains("crash right after create pods default/a, before its answer; then "
                                         "crash past point after default/web, after its effect"));
  EXPECT_THAT(pairs, ::testing::Not(::testing::Contains(
                         "crash right after create pods default/a, before its answer; then crash past point "
                         "before default/web, after its effect")));
}

}  // namespace explore_point_cores
}  // namespace evenkeel::testing::detail
