// SPDX-License-Identifier: Apache-2.0
// Declarations that are refused, and reports of a pass.
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/controller/result_core.hpp>

#include "dependents_fixture.hpp"

namespace evenkeel::dependents_test {
namespace {

using State = DependentState;

std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "it was accepted";
}

Dependents<Shop>& add(Dependents<Shop>&& graph, const std::string& name,
                      std::vector<std::string> after = {}) {
  return graph.add<ConfigMap>(name, part<ConfigMap>(name), {.after = std::move(after)});
}

TEST(DependentsDeclaration, RefusesNamesAndOrdersThatCannotBeRight) {
  const auto graph = [] {
    return dependents<Shop>()
        .add<ConfigMap>("a", part<ConfigMap>("a"))
        .add<ConfigMap>("b", part<ConfigMap>("b"));
  };
  EXPECT_EQ(refusal_of([&] { add(graph(), "b"); }), "dependents of Shop: \"b\" is declared twice");
  EXPECT_EQ(refusal_of([&] {
              add(graph(), "c", {"a", "x"});
            }),
            "dependents of Shop: \"c\" is after \"x\", which is not declared before it; declared are \"a\", "
            "\"b\"");
  EXPECT_EQ(refusal_of([&] { add(graph(), "c", {"c"}); }), "dependents of Shop: \"c\" is after itself");
  EXPECT_EQ(refusal_of([] { add(dependents<Shop>(), "a", {"b"}); }),
            "dependents of Shop: \"a\" is after \"b\", which is not declared before it; nothing is")
      << "as in the cycle a, b, a";
  EXPECT_EQ(refusal_of([&] { add(graph(), "Web"); }),
            "dependents of Shop: a name is of lower-case letters, digits and '-', not \"Web\"");
  EXPECT_EQ(refusal_of([&] { add(graph(), ""); }),
            "dependents of Shop: a name is of lower-case letters, digits and '-', not \"\"");
  EXPECT_EQ(refusal_of([] { dependents<Shop>("a/b"); }),
            "dependents of Shop: a name is of lower-case letters, digits and '-', not \"a/b\"");
  EXPECT_EQ(refusal_of([&] {
              graph()
                  .add<ConfigMap>("web-1", part<ConfigMap>("one"))
                  .add<ConfigMap>("web1", part<ConfigMap>("two"));
            }),
            "dependents of Shop: \"web-1\" and \"web1\" have the same condition, Web1Ready");
}

DependentStatus status(std::string name, State state, std::string message = {}) {
  return {.name = std::move(name), .state = state, .message = std::move(message)};
}

template <class E>
DependentStatus failure(std::string name, const E& error) {
  DependentStatus failed = status(std::move(name), State::failed, error.what());
  failed.error = std::make_exception_ptr(error);
  return failed;
}

ReconcileOutcome outcome(std::vector<DependentStatus> dependents) {
  const DependentsReport report("Shop default/web", std::move(dependents));
  try {
    return outcome_of(report.result());
  } catch (...) {
    return outcome_of(std::current_exception(), false);
  }
}

TEST(DependentsReport, NamesTheFirstThatFailedOrWaits) {
  const DependentsReport waits("Shop web",
                               {status("a", State::ready), status("b", State::not_wanted),
                                status("c", State::not_ready, "why"), status("d", State::waiting)});
  EXPECT_EQ(waits.condition().message, "c: why");
  EXPECT_EQ(waits.condition("Up").type, "Up");
  EXPECT_FALSE(waits.ready());
  EXPECT_EQ(waits.str(), "a: Ready; b: NotWanted; c: NotReady: why; d: Waiting");
  const DependentsReport fails("Shop web", {status("a", State::waiting), status("b", State::failed, "bad")});
  EXPECT_EQ(fails.condition().reason, "Failed");
  EXPECT_EQ(fails.first_problem()->name, "b");
  EXPECT_TRUE(DependentsReport("Shop web", {status("a", State::ready)}).ready());
  EXPECT_EQ(DependentsReport("Shop web", {status("a", State::deleting)}).condition().reason, "Deleting");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(waits.at("x")); }),
            "dependents of Shop web: none is named \"x\"; there are: a, b, c, d");
}

TEST(DependentsReport, ShortensWhatIsWrittenIntoTheStatus) {
  const std::string umlauts = [] {
    std::string text;
    while (text.size() < 3000) text += "\u00e4";
    return text;
  }();
  const DependentsReport report("Shop web", {status("ab", State::failed, umlauts)});
  const std::string message = report.condition().message;
  EXPECT_EQ(message.size(), 1024 + 3);
  EXPECT_EQ(message.substr(message.size() - 5), "\u00e4...");
}

TEST(DependentsReport, IsRetriedAsTheFailureThatIsRetriedSoonest) {
  const TerminalError never("never");
  const std::runtime_error soon("soon");
  EXPECT_EQ(outcome({status("a", State::ready)}).kind, OutcomeKind::success);
  EXPECT_EQ(outcome({failure("a", never)}).kind, OutcomeKind::terminal_error);
  const ReconcileOutcome both = outcome({failure("a", soon), failure("b", never)});
  EXPECT_EQ(both.kind, OutcomeKind::error);
  EXPECT_EQ(both.message, "dependents of Shop default/web failed: b: never; a: soon");
}

TEST(DependentsReport, LooksAgainForWhatCausesNoEvent) {
  DependentStatus later = status("a", State::not_served, "it is not served");
  later.recheck_after = std::chrono::minutes{1};
  DependentStatus soon = status("b", State::waiting, "it is read");
  soon.recheck_after = std::chrono::seconds{1};
  const DependentsReport settled("Shop web", {status("c", State::ready), later});
  EXPECT_TRUE(settled.ready());
  EXPECT_EQ(settled.condition().message, "all dependents are ready; not served: a");
  EXPECT_EQ(settled.result(),
            requeue_after(std::chrono::minutes{1}, "a: it is not served").with_priority(Lane::slow));
  EXPECT_EQ(DependentsReport("Shop web", {later, soon}).result().delay(), std::chrono::seconds{1});
  EXPECT_EQ(outcome({later, failure("d", std::runtime_error("bad"))}).kind, OutcomeKind::error);
}

TEST(DependentsReport, MakesTypesOfConditionsFromNames) {
  EXPECT_EQ(detail::dependent_condition_type("web-server"), "WebServerReady");
  EXPECT_EQ(detail::dependent_condition_type("v1-2"), "V12Ready");
}

}  // namespace
}  // namespace evenkeel::dependents_test
