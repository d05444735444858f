// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <evenkeel/manager/lifecycle_core.hpp>

#include "base/earlier.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::array start_order = {Stage::servers, Stage::caches, Stage::others, Stage::election,
                                    Stage::controllers};
constexpr std::array stop_order = {Stage::others, Stage::controllers, Stage::election, Stage::caches,
                                   Stage::servers};

}  // namespace

std::size_t LifecycleCore::add(std::string name, Stage stage, Actions& actions) {
  if (stopping_) throw std::invalid_argument("manager: " + name + " was added while stopping");
  parts_.push_back({std::move(name), stage, State::added, stage == Stage::election});
  if (started_) start_stages(actions);
  return parts_.size() - 1;
}

LifecycleCore::Actions LifecycleCore::start() {
  Actions actions;
  started_ = true;
  start_stages(actions);
  return actions;
}

void LifecycleCore::start_stages(Actions& actions) {
  for (const Stage stage : start_order) {
    bool ready = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (part.stage != stage) continue;
      if (part.state == State::added) {
        part.state = State::starting;
        actions.push_back({LifecycleAction::Kind::start, i});
      }
      ready = ready && part.state != State::starting && !part.holds_back;
    }
    if (!ready) return;
  }
}

LifecycleCore::Actions LifecycleCore::on_started(std::size_t part, TimePoint) {
  Actions actions;
  if (parts_.at(part).state != State::starting) return actions;
  parts_[part].state = State::running;
  if (!stopping_) start_stages(actions);
  return actions;
}

LifecycleCore::Actions LifecycleCore::on_leadership_acquired(std::size_t part) {
  Actions actions;
  parts_.at(part).holds_back = false;
  if (started_ && !stopping_) start_stages(actions);
  return actions;
}

LifecycleCore::Actions LifecycleCore::on_ended(std::size_t part, std::string_view error, TimePoint now) {
  Actions actions;
  parts_.at(part).state = State::ended;
  if (!error.empty() && error_.empty()) error_ = parts_[part].name + ": " + std::string(error);
  if (!error.empty() && !stopping_) begin_stop(now);
  if (!error.empty() && parts_[part].stage == Stage::election && !grace_over_) grace_deadline_ = now;
  if (stopping_) {
    stop_stages(actions);
  } else {
    start_stages(actions);
  }
  return actions;
}

LifecycleCore::Actions LifecycleCore::stop(TimePoint now, Duration delay) {
  Actions actions;
  if (stopping_) return actions;
  const bool all_serve = std::none_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.stage == Stage::servers && part.state == State::starting;
  });
  if (delay > Duration::zero() && all_serve) delayed_until_ = deadline_after(now, delay);
  begin_stop(now);
  stop_stages(actions);
  return actions;
}

void LifecycleCore::begin_stop(TimePoint now) {
  stopping_ = true;
  begin_grace(now);
  // Parts that never started need not be stopped.
  for (Part& part : parts_) {
    if (part.state == State::added) part.state = State::ended;
  }
}

void LifecycleCore::begin_grace(TimePoint now) {
  if (options_.grace_period >= Duration::zero()) grace_deadline_ = deadline_after(now, options_.grace_period);
}

// Stops parts that are still starting, too: a start may wait for something that never comes.
void LifecycleCore::stop_stages(Actions& actions) {
  for (const Stage stage : stop_order) {
    if (delayed_until_ && (stage == Stage::caches || stage == Stage::servers)) return;
    bool over = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (part.stage != stage) continue;
      if (part.state == State::running || part.state == State::starting) {
        part.state = State::stopping;
        actions.push_back({LifecycleAction::Kind::stop, i});
        if (grace_over_) cancel(i, actions);
      }
      over = over && part.state == State::ended;
    }
    if (!over) return;
  }
}

// Returns true if all running parts are those that a shutdown delay holds.
bool LifecycleCore::only_waits() const {
  return std::none_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.state == State::stopping || part.state == State::starting;
  });
}

void LifecycleCore::end_delay(TimePoint now, Actions& actions) {
  if (only_waits()) {  // the grace period was that of the work; what was held has one of its own
    grace_over_ = false;
    cancel_deadline_.reset();
    begin_grace(now);
  }
  delayed_until_.reset();
  stop_stages(actions);
}

LifecycleCore::Actions LifecycleCore::on_timeout(TimePoint now) {
  Actions actions;
  if (delayed_until_ && now >= *delayed_until_) end_delay(now, actions);
  if (delayed_until_ && only_waits()) return actions;
  if (grace_deadline_ && now >= *grace_deadline_) {
    grace_deadline_.reset();
    grace_over_ = true;
    cancel_deadline_ = deadline_after(now, options_.cancel_period);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      // Later stages are stopped, and then cancelled at once, as soon as these end.
      if (parts_[i].state != State::stopping && parts_[i].state != State::starting) continue;
      cancel(i, actions);
    }
  } else if (cancel_deadline_ && now >= *cancel_deadline_) {
    cancel_deadline_.reset();
    given_up_ = !all_ended();
  }
  return actions;
}

void LifecycleCore::cancel(std::size_t part, Actions& actions) {
  cancelled_.push_back(parts_[part].name);
  actions.push_back({LifecycleAction::Kind::cancel, part});
}

std::optional<TimePoint> LifecycleCore::next_due() const {
  if (all_ended()) return std::nullopt;
  if (delayed_until_ && only_waits()) return delayed_until_;
  return detail::earlier(delayed_until_, grace_deadline_ ? grace_deadline_ : cancel_deadline_);
}

bool LifecycleCore::all_ended() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.state == State::ended; });
}

bool LifecycleCore::finished() const {
  return stopping_ && (given_up_ || all_ended());
}

std::vector<std::string> LifecycleCore::stuck() const {
  std::vector<std::string> names;
  if (!given_up_) return names;
  for (const Part& part : parts_) {
    if (part.state == State::stopping || part.state == State::starting) names.push_back(part.name);
  }
  return names;
}

}  // namespace v0
}  // namespace evenkeel
