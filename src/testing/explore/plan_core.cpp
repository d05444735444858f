// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/plan_core.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

PlanCore::PlanCore(Plan plan) {
  for (PlanStep& step : plan.steps) steps_.push_back({.step = std::move(step)});
}

Treatment PlanCore::on_write(const std::string& write) {
  Treatment treatment{.moment = {write, ++writes_[write]}};
  const bool of_workload = write.starts_with(workload_prefix);
  const auto begins = [&](const Progress& progress) {
    return !progress.begun && progress.step.at == treatment.moment;
  };
  // A write that is not sent does not count: the other steps wait for that of the next replica.
  const auto lost = std::find_if(steps_.begin(), steps_.end(), [&](const Progress& progress) {
    return begins(progress) && progress.step.kind == PlanStepKind::leadership_lost_before;
  });
  if (lost != steps_.end() && !of_workload) {
    --writes_[write];
    begin(*lost, treatment, of_workload);
    return treatment;
  }
  for (Progress& progress : steps_) {
    if (begins(progress)) begin(progress, treatment, of_workload);
  }
  return treatment;
}

void PlanCore::begin(Progress& progress, Treatment& treatment, bool of_workload) {
  using Kind = Treatment::Kind;
  const PlanStep& step = progress.step;
  switch (step.kind) {
    case PlanStepKind::crash:
      if (of_workload) return;
      treatment.kind = Kind::crash;
      break;
    case PlanStepKind::refusal:
      if (of_workload) return;
      treatment.kind = Kind::refuse;
      treatment.status = step.status;
      break;
    case PlanStepKind::lost_answer:
      if (of_workload) return;
      treatment.kind = Kind::lose;
      break;
    case PlanStepKind::stale_restart:
      if (!of_workload) treatment.kind = Kind::crash;
      break;  // the process ends after the write
    case PlanStepKind::downtime:
      restart_ = Restart{};
      break;
    case PlanStepKind::withheld:
      progress.holds = true;
      break;
    case PlanStepKind::leadership_lost_before:
      if (of_workload) return;
      treatment.kind = Kind::withdraw;
      lost_leadership_ = true;
      break;
    case PlanStepKind::leadership_lost_after:
      if (of_workload) return;
      break;  // see on_written()
    case PlanStepKind::crash_at_point:
    case PlanStepKind::crash_past_point:
    case PlanStepKind::overtaken:
      return;
  }
  take_effect(progress);
}

void PlanCore::take_effect(Progress& progress) {
  progress.begun = true;
  effective_.push_back(progress.step);
}

void PlanCore::on_written(const Treatment& treated) {
  if (treated.kind == Treatment::Kind::crash) restart_ = Restart{};
  for (Progress& progress : steps_) {
    const bool begins_here = progress.begun && progress.step.at == treated.moment;
    if (begins_here && progress.step.kind == PlanStepKind::stale_restart)
      restart_ = Restart{.as_before = progress.step.other};
    if (begins_here && progress.step.kind == PlanStepKind::leadership_lost_after) lost_leadership_ = true;
    if (progress.holds && progress.step.other == treated.moment) progress.ends = true;
  }
  if (standing_ && standing_->until == treated.moment) standing_->is_past = true;
}

Moment PlanCore::on_point(const std::string& point, bool has_end) {
  const Moment moment{point, ++writes_[point]};
  for (Progress& progress : steps_) {
    if (progress.begun || progress.step.at != moment) continue;
    if (progress.step.kind == PlanStepKind::crash_at_point) {
      restart_ = Restart{};
      take_effect(progress);
    } else if (progress.step.kind == PlanStepKind::crash_past_point && !has_end) {
      is_dying_ = true;
      take_effect(progress);
    } else if (progress.step.kind == PlanStepKind::overtaken) {
      overtaken_ = true;
      standing_ = Standing{.until = progress.step.other, .is_past = progress.step.other.write.empty()};
      take_effect(progress);
    }
  }
  if (is_dead()) --writes_[point];
  return moment;
}

void PlanCore::on_point_end(const Moment& point) {
  for (Progress& progress : steps_) {
    if (progress.begun || progress.step.at != point || progress.step.kind != PlanStepKind::crash_past_point)
      continue;
    restart_ = Restart{};
    take_effect(progress);
  }
}

void PlanCore::on_contact() {
  if (std::exchange(is_dying_, false)) restart_ = Restart{};
}

// An operator may be busy without end because of what it does not see.
void PlanCore::on_run() {
  for (Progress& progress : steps_) {
    if (progress.holds && ++progress.runs >= runs_in_the_dark) progress.ends = true;
  }
  if (standing_ && standing_->is_past && ++standing_->runs >= runs_in_the_dark) standing_->is_due = true;
}

void PlanCore::on_idle(bool more) {
  for (Progress& progress : steps_) {
    const std::string& until = progress.step.other.write;
    const bool later = more || (until.starts_with(workload_prefix) && !finished_);
    if (progress.holds && (until.empty() || !later)) progress.ends = true;
  }
  if (standing_ && (standing_->is_past || finished_)) standing_->is_due = true;
}

bool PlanCore::may_be_overtaken() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Progress& progress) {
    return progress.step.kind == PlanStepKind::overtaken && !progress.begun;
  });
}

bool PlanCore::goes_on() {
  if (!is_due()) return false;
  standing_.reset();
  lost_leadership_ = true;
  return true;
}

void PlanCore::finish() {
  finished_ = true;
}

Restart PlanCore::take_restart() {
  Restart restart = std::exchange(restart_, std::nullopt).value_or(Restart{});
  const bool overtakes = std::exchange(overtaken_, false);
  restart.takes_over = std::exchange(lost_leadership_, false) || overtakes;
  is_dying_ = false;
  return restart;
}

bool PlanCore::withholds(std::string_view resource) const {
  return std::any_of(steps_.begin(), steps_.end(), [resource](const Progress& progress) {
    return progress.holds && progress.step.resource == resource;
  });
}

bool PlanCore::concerns(std::string_view resource) const {
  return std::any_of(steps_.begin(), steps_.end(), [resource](const Progress& progress) {
    return progress.step.kind == PlanStepKind::withheld && progress.step.resource == resource;
  });
}

std::optional<Release> PlanCore::next_release() {
  for (Progress& progress : steps_) {
    if (!progress.ends) continue;
    progress.holds = progress.ends = false;
    return Release{progress.step.resource, progress.step.delivery};
  }
  return std::nullopt;
}

std::vector<PlanStep> PlanCore::take_effective() {
  return std::exchange(effective_, {});
}

std::vector<PlanStep> PlanCore::missed() const {
  std::vector<PlanStep> missed;
  for (const Progress& progress : steps_) {
    if (!progress.begun) missed.push_back(progress.step);
  }
  return missed;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
