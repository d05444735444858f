// SPDX-License-Identifier: Apache-2.0
#include "controller/dependents/dependents_core.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {
namespace dependents_core {

using ::testing::ElementsAre;
using State = DependentState;
using Command = DependentCommand;

/// The fate of a dependent in a pass.
enum class Fate : std::uint8_t {
  ready,
  not_ready,
  unwanted,  // and gone when it is removed
  apply_fails,
  decision_fails,
  unwanted_stays,  // its objects are still there after the pass
  removal_fails,   // of an unwanted one
  blocked,
  shrink_fails,  // it is ready, and an object that it has too many cannot be deleted
  unserved,
};
constexpr std::size_t all_fates = 10;
constexpr std::size_t main_fates = 4;

bool wants(Fate fate) {
  return fate != Fate::unwanted && fate != Fate::unwanted_stays && fate != Fate::removal_fails &&
         fate != Fate::unserved;
}

struct Pass {
  std::vector<DependentInput> inputs;
  std::vector<Fate> fates;
};

/// A pass that was driven to its end.
struct Driven {
  DependentsCore core;
  std::vector<DependentStep> steps;
};

void answer(DependentsCore& core, const DependentStep& step, Fate fate) {
  switch (step.command) {
    case Command::decide:
      if (fate == Fate::decision_fails) return core.on_failed("decision");
      if (fate == Fate::unserved) return core.on_unserved("unknown");
      return core.on_decided(wants(fate));
    case Command::apply:
      if (fate == Fate::apply_fails) return core.on_failed("apply");
      if (fate == Fate::blocked) return core.on_blocked("old");
      return core.on_applied(fate == Fate::not_ready ? not_ready("soon") : Readiness(true));
    case Command::remove:
      if (fate == Fate::removal_fails || fate == Fate::shrink_fails) return core.on_failed("removal");
      return core.on_removed(fate == Fate::unwanted_stays ? not_ready("stays") : Readiness(true));
  }
}

Driven drive(const Pass& pass) {
  Driven driven{DependentsCore(pass.inputs), {}};
  while (const auto step = driven.core.next_step()) {
    driven.steps.push_back(*step);
    answer(driven.core, *step, pass.fates[step->dependent]);
  }
  return driven;
}

/// The rules of the core, stated of each dependent without an order.
class Rules {
 public:
  explicit Rules(const Pass& pass) : pass_(pass) {}

  bool wanted(std::size_t at) const { return asked(at) && wants(pass_.fates[at]); }
  bool asked(std::size_t at) const { return all_after(at, &Rules::wanted); }
  bool applied(std::size_t at) const {
    return wanted(at) && pass_.fates[at] != Fate::decision_fails && all_after(at, &Rules::serves);
  }
  bool removed(std::size_t at) const {
    const Fate fate = pass_.fates[at];
    if (wanted(at)) return applied(at) && fate != Fate::apply_fails && fate != Fate::blocked;
    return !unserved(at) && all_before(at, &Rules::gone);
  }
  bool unserved(std::size_t at) const { return asked(at) && pass_.fates[at] == Fate::unserved; }
  // Those that depend on it may be applied.
  bool serves(std::size_t at) const {
    return applied(at) && (pass_.fates[at] == Fate::ready || pass_.fates[at] == Fate::shrink_fails);
  }
  bool gone(std::size_t at) const {
    return unserved(at) || (!wanted(at) && removed(at) && state(at) == State::not_wanted);
  }

  State state(std::size_t at) const {
    const Fate fate = pass_.fates[at];
    if (unserved(at)) return State::not_served;
    if (!wanted(at)) {
      if (!removed(at)) return State::deleting;
      if (fate == Fate::removal_fails || fate == Fate::shrink_fails) return State::failed;
      return fate == Fate::unwanted_stays ? State::deleting : State::not_wanted;
    }
    if (fate == Fate::decision_fails) return State::failed;
    if (!applied(at) || fate == Fate::blocked) return State::waiting;
    if (fate == Fate::apply_fails || fate == Fate::shrink_fails) return State::failed;
    return fate == Fate::not_ready ? State::not_ready : State::ready;
  }

 private:
  bool all_after(std::size_t at, bool (Rules::*rule)(std::size_t) const) const {
    const auto& after = pass_.inputs[at].after;
    return std::all_of(after.begin(), after.end(), [&](std::size_t other) { return (this->*rule)(other); });
  }
  bool all_before(std::size_t at, bool (Rules::*rule)(std::size_t) const) const {
    for (std::size_t other = at + 1; other < pass_.inputs.size(); ++other) {
      const auto& after = pass_.inputs[other].after;
      if (std::find(after.begin(), after.end(), at) != after.end() && !(this->*rule)(other)) return false;
    }
    return true;
  }

  const Pass& pass_;
};

std::string text_of(const Pass& pass) {
  std::string text;
  for (std::size_t at = 0; at < pass.inputs.size(); ++at) {
    text += std::to_string(at) + " fate " + std::to_string(static_cast<int>(pass.fates[at])) + " after";
    for (const std::size_t other : pass.inputs[at].after) text += " " + std::to_string(other);
    text += "\n";
  }
  return text;
}

std::size_t position(const std::vector<DependentStep>& steps, Command command, std::size_t dependent) {
  return static_cast<std::size_t>(std::find(steps.begin(), steps.end(), DependentStep{command, dependent}) -
                                  steps.begin());
}

// Returns false, with a failure, if the pass does not follow the rules.
bool check(const Pass& pass) {
  const Driven driven = drive(pass);
  const Rules rules(pass);
  const auto& steps = driven.steps;
  bool good = true;
  const auto require = [&](bool holds, const char* what, std::size_t at) {
    if (holds) return;
    ADD_FAILURE() << what << " of " << at << " in\n" << text_of(pass);
    good = false;
  };
  for (std::size_t at = 0; at < pass.inputs.size(); ++at) {
    const auto count = [&](Command command) {
      return std::count(steps.begin(), steps.end(), DependentStep{command, at});
    };
    require(count(Command::decide) == (rules.asked(at) ? 1 : 0), "decision", at);
    require(count(Command::apply) == (rules.applied(at) ? 1 : 0), "apply", at);
    require(count(Command::remove) == (rules.removed(at) ? 1 : 0), "removal", at);
    require(driven.core.status(at).state == rules.state(at), "state", at);
    require(driven.core.is_wanted(at) == rules.wanted(at), "wish", at);
    for (const std::size_t other : pass.inputs[at].after) {
      if (rules.applied(at))
        require(position(steps, Command::apply, other) < position(steps, Command::apply, at), "order", at);
      if (rules.removed(at) && rules.removed(other))
        require(position(steps, Command::remove, at) < position(steps, Command::remove, other), "end", at);
    }
  }
  // Nothing is deleted before everything was applied.
  const auto last_apply = std::find_if(steps.rbegin(), steps.rend(),
                                       [](const auto& step) { return step.command == Command::apply; });
  const auto first_removal = std::find_if(steps.begin(), steps.end(),
                                          [](const auto& step) { return step.command == Command::remove; });
  require(last_apply.base() <= first_removal || last_apply == steps.rend(), "phases", 0);
  return good;
}

// Calls check() for each graph of `size` dependents with each combination of the first `fates` fates.
void check_all(std::size_t size, std::size_t fates) {
  const std::size_t edges = size * (size - 1) / 2;
  for (std::size_t mask = 0; mask < (std::size_t{1} << edges); ++mask) {
    Pass pass;
    std::size_t edge = 0;
    for (std::size_t at = 0; at < size; ++at) {
      pass.inputs.push_back({std::string(1, static_cast<char>('a' + at)), {}});
      for (std::size_t other = 0; other < at; ++other, ++edge) {
        if ((mask >> edge & 1U) != 0) pass.inputs[at].after.push_back(other);
      }
    }
    pass.fates.assign(size, Fate::ready);
    std::size_t combinations = 1;
    for (std::size_t at = 0; at < size; ++at) combinations *= fates;
    for (std::size_t combination = 0; combination < combinations; ++combination) {
      std::size_t rest = combination;
      for (Fate& fate : pass.fates) {
        fate = static_cast<Fate>(rest % fates);
        rest /= fates;
      }
      if (!check(pass)) return;
    }
  }
}

TEST(DependentsCore, FollowsItsRulesInEveryGraphOfThree) {
  for (std::size_t size = 0; size <= 3; ++size) check_all(size, all_fates);
}

TEST(DependentsCore, FollowsItsRulesInEveryGraphOfFourWithTheMainFates) {
  check_all(4, main_fates);
}

Pass chain(std::vector<Fate> fates) {
  Pass pass;
  for (std::size_t at = 0; at < fates.size(); ++at) {
    pass.inputs.push_back({std::string(1, static_cast<char>('a' + at)), {}});
    if (at > 0) pass.inputs.back().after = {at - 1};
  }
  pass.fates = std::move(fates);
  return pass;
}

TEST(DependentsCore, NamesWhatIsWaitedFor) {
  Pass pass = chain({Fate::not_ready, Fate::ready, Fate::ready});
  pass.inputs[2].after = {0, 1};
  const Driven driven = drive(pass);
  EXPECT_EQ(driven.core.status(0).message, "soon");
  EXPECT_EQ(driven.core.status(1).message, "waits for a");
  EXPECT_EQ(driven.core.status(2).message, "waits for a, b");
}

TEST(DependentsCore, NamesWhatHasToGoBefore) {
  Pass pass = chain({Fate::unwanted, Fate::unwanted_stays, Fate::unwanted_stays});
  pass.inputs[2].after = {0};
  const Driven driven = drive(pass);
  EXPECT_EQ(driven.core.status(2).message, "stays");
  EXPECT_EQ(driven.core.status(0).message, "waits for the end of b, c");
  EXPECT_THAT(driven.steps, ElementsAre(DependentStep{Command::decide, 0}, DependentStep{Command::remove, 2},
                                        DependentStep{Command::remove, 1}));
}

TEST(DependentsCore, CleansUpWithoutDecisions) {
  DependentsCore core(chain({Fate::ready, Fate::ready}).inputs, DependentPurpose::clean_up);
  EXPECT_EQ(core.next_step(), (DependentStep{Command::remove, 1}));
  core.on_removed(true);
  EXPECT_EQ(core.next_step(), (DependentStep{Command::remove, 0}));
  core.on_removed(not_ready("stays"));
  EXPECT_EQ(core.next_step(), std::nullopt);
  EXPECT_EQ(core.status(1).state, State::not_wanted);
  EXPECT_EQ(core.status(0).state, State::deleting);
}

TEST(DependentsCore, RefusesResultsOfStepsThatItDidNotIssue) {
  DependentsCore core(chain({Fate::ready}).inputs);
  EXPECT_THROW(core.on_decided(true), std::logic_error);
  EXPECT_THROW(core.on_failed(""), std::logic_error);
  ASSERT_TRUE(core.next_step());
  EXPECT_THROW(core.on_applied(true), std::logic_error);
  EXPECT_THROW(core.next_step(), std::logic_error);
}

/// A cluster in which objects take some passes to become ready and to go, and requests fail.
class Model {
 public:
  Model(std::vector<DependentInput> inputs, std::uint64_t seed)
      : inputs_(std::move(inputs)), objects_(inputs_.size()), wishes_(inputs_.size(), true), random_(seed) {}

  void change_wishes() {
    for (std::size_t at = 0; at < wishes_.size(); ++at) wishes_[at] = below(3) != 0;
  }
  void pass(bool with_faults) {
    DependentsCore core(inputs_);
    while (const auto step = core.next_step()) {
      if (with_faults && below(10) == 0) {
        core.on_failed("fault");
      } else {
        perform(core, *step);
      }
    }
    states_.clear();
    for (std::size_t at = 0; at < inputs_.size(); ++at) states_.push_back(core.status(at).state);
    for (Object& object : objects_) {
      if (object.deleting && below(2) == 0) object = {};
      if (object.exists && below(2) == 0) object.ready = true;
    }
  }
  // No object exists without those that it depends on.
  bool stands() const {
    for (std::size_t at = 0; at < inputs_.size(); ++at) {
      for (const std::size_t other : inputs_[at].after) {
        if (objects_[at].exists && !objects_[other].exists) return false;
      }
    }
    return true;
  }
  // Exactly what is to exist does, and is ready.
  bool is_at_its_goal() const {
    std::vector<bool> wanted;
    for (std::size_t at = 0; at < inputs_.size(); ++at) {
      bool all = wishes_[at];
      for (const std::size_t other : inputs_[at].after) all = all && wanted[other];
      wanted.push_back(all);
      if (objects_[at].exists != all || objects_[at].deleting) return false;
      if (states_[at] != (all ? State::ready : State::not_wanted)) return false;
    }
    return true;
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  struct Object {
    bool exists = false;
    bool deleting = false;
    bool ready = false;
  };

  void perform(DependentsCore& core, const DependentStep& step) {
    Object& object = objects_[step.dependent];
    switch (step.command) {
      case Command::decide:
        return core.on_decided(wishes_[step.dependent]);
      case Command::apply:
        if (object.deleting) return core.on_blocked("is being deleted");
        object.exists = true;
        return core.on_applied(object.ready ? Readiness(true) : not_ready(""));
      case Command::remove:
        if (core.is_wanted(step.dependent)) return core.on_removed(true);
        if (object.exists && below(2) == 0) object = {};  // at once
        object.deleting = object.exists;
        return core.on_removed(object.exists ? not_ready("") : Readiness(true));
    }
  }

  const std::vector<DependentInput> inputs_;
  std::vector<Object> objects_;
  std::vector<bool> wishes_;
  std::vector<DependentState> states_;
  std::mt19937_64 random_;
};

std::vector<DependentInput> random_graph(std::mt19937_64& random) {
  std::vector<DependentInput> inputs(1 + random() % 12);
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    inputs[at].name = std::to_string(at);
    for (std::size_t other = 0; other < at; ++other) {
      if (random() % 3 == 0) inputs[at].after.push_back(other);
    }
  }
  return inputs;
}

TEST(DependentsCore, NeverLeavesAnObjectWithoutItsDependenciesAndReachesItsGoal) {
  const std::uint64_t first = std::random_device()();
  for (std::uint64_t seed = first; seed < first + 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Model model(random_graph(random), seed);
    for (int change = 0; change < 10; ++change) {
      model.change_wishes();
      for (std::size_t pass = model.below(5); pass > 0; --pass) {
        model.pass(true);
        ASSERT_TRUE(model.stands());
      }
    }
    for (int pass = 0; pass < 400; ++pass) model.pass(false);
    ASSERT_TRUE(model.stands());
    ASSERT_TRUE(model.is_at_its_goal());
  }
}

}  // namespace dependents_core
}  // namespace
}  // namespace evenkeel::detail
