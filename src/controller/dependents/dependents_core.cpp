// SPDX-License-Identifier: Apache-2.0
#include "controller/dependents/dependents_core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

void append(std::string& names, const std::string& name) {
  if (!names.empty()) names += ", ";
  names += name;
}

bool is_absent(DependentState state) {
  return state == DependentState::not_wanted || state == DependentState::not_served;
}

}  // namespace

DependentsCore::DependentsCore(std::vector<DependentInput> inputs, DependentPurpose purpose) {
  const bool wanted = purpose == DependentPurpose::reconcile;
  for (DependentInput& input : inputs) {
    Node node;
    node.after = std::move(input.after);
    node.status.name = std::move(input.name);
    node.wanted = wanted;
    if (!wanted) node.status.state = DependentState::deleting;
    nodes_.push_back(std::move(node));
  }
  if (!wanted) phase_ = Phase::remove;
}

std::optional<DependentStep> DependentsCore::next_step() {
  if (issued_) throw std::logic_error("DependentsCore: the result of the last step was not reported");
  if (phase_ == Phase::decide) {
    if (auto step = next_decision()) return step;
    phase_ = Phase::apply;
    at_ = 0;
  }
  if (phase_ == Phase::apply) {
    if (auto step = next_apply()) return step;
    phase_ = Phase::remove;
    at_ = 0;
  }
  if (phase_ == Phase::remove) {
    if (auto step = next_removal()) return step;
    phase_ = Phase::over;
  }
  return std::nullopt;
}

std::optional<DependentStep> DependentsCore::next_decision() {
  while (at_ < nodes_.size()) {
    Node& node = nodes_[at_];
    const bool alone = std::all_of(node.after.begin(), node.after.end(),
                                   [&](std::size_t other) { return nodes_[other].wanted; });
    if (alone) return issue(DependentCommand::decide, at_++);
    node.wanted = false;
    node.status.state = DependentState::deleting;
    ++at_;
  }
  return std::nullopt;
}

std::optional<DependentStep> DependentsCore::next_apply() {
  while (at_ < nodes_.size()) {
    Node& node = nodes_[at_];
    const bool skipped = !node.wanted || node.status.state == DependentState::failed;
    std::string names = skipped ? std::string() : unready_before(node);
    if (!skipped && names.empty()) return issue(DependentCommand::apply, at_++);
    if (!skipped) node.status.message = "waits for " + std::move(names);
    ++at_;
  }
  return std::nullopt;
}

std::optional<DependentStep> DependentsCore::next_removal() {
  while (at_ < nodes_.size()) {
    const std::size_t dependent = nodes_.size() - 1 - at_;
    Node& node = nodes_[dependent];
    ++at_;
    if ((node.wanted && !node.applied) || node.status.state == DependentState::not_served) continue;
    std::string names = node.wanted ? std::string() : left_after(dependent);
    if (names.empty()) return issue(DependentCommand::remove, dependent);
    node.status.message = "waits for the end of " + std::move(names);
  }
  return std::nullopt;
}

DependentStep DependentsCore::issue(DependentCommand command, std::size_t dependent) {
  issued_ = DependentStep{command, dependent};
  return *issued_;
}

DependentsCore::Node& DependentsCore::take(DependentCommand command) {
  if (!issued_ || issued_->command != command)
    throw std::logic_error("DependentsCore: the result is not of the last step");
  Node& node = nodes_[issued_->dependent];
  issued_.reset();
  return node;
}

void DependentsCore::on_decided(bool wanted) {
  Node& node = take(DependentCommand::decide);
  node.wanted = wanted;
  if (!wanted) node.status.state = DependentState::deleting;
}

void DependentsCore::on_unserved(std::string why) {
  Node& node = take(DependentCommand::decide);
  node.wanted = false;
  node.status.state = DependentState::not_served;
  node.status.message = std::move(why);
}

void DependentsCore::on_applied(Readiness readiness) {
  Node& node = take(DependentCommand::apply);
  node.applied = true;
  node.status.state = readiness.ready ? DependentState::ready : DependentState::not_ready;
  if (!readiness.ready) node.status.message = std::move(readiness.why_not);
}

void DependentsCore::on_blocked(std::string why) {
  take(DependentCommand::apply).status.message = std::move(why);
}

void DependentsCore::on_removed(Readiness gone) {
  Node& node = take(DependentCommand::remove);
  if (node.wanted) return;
  node.status.state = gone.ready ? DependentState::not_wanted : DependentState::deleting;
  node.status.message = gone.ready ? std::string() : std::move(gone.why_not);
}

void DependentsCore::on_failed(std::string message) {
  if (!issued_) throw std::logic_error("DependentsCore: the result is not of the last step");
  Node& node = take(issued_->command);
  node.status.state = DependentState::failed;
  node.status.message = std::move(message);
}

std::string DependentsCore::unready_before(const Node& node) const {
  std::string names;
  for (const std::size_t other : node.after) {
    if (nodes_[other].status.state != DependentState::ready) append(names, nodes_[other].status.name);
  }
  return names;
}

std::string DependentsCore::left_after(std::size_t dependent) const {
  std::string names;
  for (const Node& node : nodes_) {
    const bool depends = std::find(node.after.begin(), node.after.end(), dependent) != node.after.end();
    if (depends && !is_absent(node.status.state)) append(names, node.status.name);
  }
  return names;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
