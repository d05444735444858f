// SPDX-License-Identifier: Apache-2.0
#include "controller/dependents/dependents_pass.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <evenkeel/base/error.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/result_core.hpp>

#include "controller/apply_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string message_of(const std::exception_ptr& error) {
  return outcome_of(error, false).message;
}

std::string object_text(const ResourceId& resource, const ObjectKey& key) {
  return resource.kind + " " + key.str();
}

}  // namespace

std::string dependent_id(const ResourceId& resource, const ObjectKey& key) {
  return resource.kind + "." + resource.group + " " + key.str();
}

std::string dependent_mark(const std::string& graph, const std::string& dependent) {
  return graph.empty() ? dependent : graph + "/" + dependent;
}

DependentsPass::DependentsPass(const DependentGraph& graph, Context& context, const void* owner,
                               const ObjectMeta& metadata)
    : graph_(graph),
      context_(context),
      owner_(owner),
      metadata_(metadata),
      annotation_(dependent_annotation(context.client().call_options().field_owner.value_or(""))) {}

DependentsReport DependentsPass::run(DependentPurpose purpose) {
  DependentsCore core(look(), purpose);
  while (const auto step = core.next_step()) {
    context_.check();
    perform(core, *step);
  }
  std::vector<DependentStatus> statuses;
  for (std::size_t at = 0; at < entries_.size(); ++at) statuses.push_back(status_of(core, at));
  DependentsReport report(owner_text(), std::move(statuses));
  if (!report.ready()) context_.log().debug("dependents are not ready", {{"dependents", report.str()}});
  return report;
}

DependentStatus DependentsPass::status_of(const DependentsCore& core, std::size_t at) const {
  const Entry& entry = entries_[at];
  DependentStatus status = core.status(at);
  status.written = entry.written;
  status.deleted = entry.deleted;
  status.error = entry.error;
  status.declared = entry.node != nullptr;
  const bool waits = status.state == DependentState::waiting || status.state == DependentState::deleting;
  const LateState* const kind = kind_of(entry);
  if (kind == nullptr) return status;
  if (status.state == DependentState::not_served || (waits && kind->kind == LateState::Kind::unread))
    status.recheck_after = kind->recheck_after;
  return status;
}

DependentsReport DependentsPass::stand_still() const {
  std::vector<DependentStatus> statuses;
  for (const DependentNode& node : graph_.nodes())
    statuses.push_back({.name = node.name, .message = owner_text() + " is being deleted"});
  return {owner_text(), std::move(statuses)};
}

std::vector<DependentInput> DependentsPass::look() {
  for (const DependentKind& kind : graph_.kinds()) found_.push_back(look_for(kind));
  std::vector<DependentInput> inputs;
  for (const DependentNode& node : graph_.nodes()) {
    inputs.push_back({node.name, node.after});
    entries_.push_back({.node = &node, .mark = dependent_mark(graph_.name(), node.name)});
  }
  add_undeclared(inputs);
  return inputs;
}

DependentsPass::Found DependentsPass::look_for(const DependentKind& kind) const {
  Found found;
  try {
    if (kind.late) found.state = graph_.late_kinds().look(context_, kind.resource);
    if (found.state.kind == LateState::Kind::served)
      found.objects = kind.list(context_, kind.resource, metadata_, owner_, annotation_);
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    found.error = std::current_exception();
  }
  return found;
}

const LateState* DependentsPass::kind_of(const Entry& entry) const {
  return entry.node == nullptr ? nullptr : &found_[entry.node->kind].state;
}

void DependentsPass::add_undeclared(std::vector<DependentInput>& inputs) {
  const std::string prefix = dependent_mark(graph_.name(), "");
  for (const Found& found : found_) {
    for (const OwnedDependent& object : found.objects) {
      const bool ours = !object.dependent.empty() && object.dependent.starts_with(prefix) &&
                        object.dependent.find('/', prefix.size()) == std::string::npos;
      const bool known = std::any_of(entries_.begin(), entries_.end(),
                                     [&](const Entry& entry) { return entry.mark == object.dependent; });
      if (!ours || known) continue;
      inputs.push_back({object.dependent.substr(prefix.size()), {}});
      entries_.push_back({.mark = object.dependent});
    }
  }
}

void DependentsPass::perform(DependentsCore& core, const DependentStep& step) {
  Entry& entry = entries_[step.dependent];
  try {
    switch (step.command) {
      case DependentCommand::decide:
        return decide(core, entry);
      case DependentCommand::apply:
        return apply(core, entry);
      case DependentCommand::remove:
        return remove(core, entry, !core.is_wanted(step.dependent));
    }
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    fail(core, entry, std::current_exception());
  }
}

void DependentsPass::decide(DependentsCore& core, const Entry& entry) {
  const DependentNode* const node = entry.node;
  if (node == nullptr) return core.on_decided(false);
  const Found& found = found_[node->kind];
  const bool missing = found.state.kind == LateState::Kind::not_served;
  if (missing && node->optional) return core.on_unserved(found.state.why);
  const bool wanted = !node->when || node->when(context_, owner_);
  if (wanted && missing) throw Error(found.state.why);
  if (wanted && found.error && graph_.kinds()[node->kind].late) std::rethrow_exception(found.error);
  core.on_decided(wanted);
}

void DependentsPass::apply(DependentsCore& core, Entry& entry) {
  const LateState& kind = *kind_of(entry);
  if (kind.kind == LateState::Kind::unread) return core.on_blocked(kind.why);
  DependentObjects objects(graph_, *entry.node, metadata_, annotation_, claimed_);
  entry.node->apply(context_, owner_, objects);
  entry.written = objects.written();
  if (objects.error()) return fail(core, entry, objects.error());
  if (!objects.blocked().empty()) return core.on_blocked(objects.blocked());
  core.on_applied(objects.readiness());
}

void DependentsPass::remove(DependentsCore& core, Entry& entry, bool all) {
  if (entry.node != nullptr && found_[entry.node->kind].error)
    return fail(core, entry, found_[entry.node->kind].error);
  if (const LateState* kind = kind_of(entry); kind != nullptr && kind->kind == LateState::Kind::unread)
    return core.on_removed(not_ready(kind->why));
  std::string left = remove_objects(entry);
  if (!left.empty()) return core.on_removed(not_ready(std::move(left)));
  const bool asks = all && entry.node != nullptr && entry.node->gone;
  core.on_removed(asks ? entry.node->gone(context_, owner_) : Readiness(true));
}

std::string DependentsPass::remove_objects(Entry& entry) {
  std::string left;
  std::exception_ptr first_error;
  for (std::size_t at = 0; at < found_.size(); ++at) {
    const DependentKind& kind = graph_.kinds()[at];
    for (const OwnedDependent& object : found_[at].objects) {
      if (object.dependent != entry.mark || is_claimed(kind, object.key)) continue;
      try {
        if (!remove_object(entry, kind, object) && left.empty())
          left = object_text(kind.resource, object.key) + " is being deleted";
      } catch (const Cancelled&) {
        throw;
      } catch (...) {
        if (!first_error) first_error = std::current_exception();
      }
    }
  }
  if (first_error) std::rethrow_exception(first_error);
  return left;
}

bool DependentsPass::remove_object(Entry& entry, const DependentKind& kind, const OwnedDependent& object) {
  if (!object.deleting) {
    context_.log().info(
        "deleting an object that is not wanted any more",
        {{"dependent", entry.mark}, {"kind", kind.resource.kind}, {"name", object.key.str()}});
    DeleteOptions options{.propagation = Propagation::background, .uid = object.uid};
    if (entry.node != nullptr && entry.node->propagation) options.propagation = entry.node->propagation;
    try {
      kind.remove(context_, kind.resource, object.key, options);
      ++entry.deleted;
    } catch (const ApiError& error) {
      // Another object has this name: the watch is going to show the end of this one.
      if (!error.is_conflict()) throw;
    }
  }
  return kind.uid_of(context_, kind.resource, object.key) != object.uid;
}

void DependentsPass::fail(DependentsCore& core, Entry& entry, std::exception_ptr error) {
  std::string message = message_of(error);
  context_.log().info("a dependent failed", {{"dependent", entry.mark}, {"error", message}});
  entry.error = std::move(error);
  core.on_failed(std::move(message));
}

bool DependentsPass::is_claimed(const DependentKind& kind, const ObjectKey& key) const {
  return claimed_.contains(dependent_id(kind.resource, key));
}

std::string DependentsPass::owner_text() const {
  return std::string(graph_.owner().kind) + " " + key_of(metadata_).str();
}

DependentObjects::DependentObjects(const DependentGraph& graph, const DependentNode& node,
                                   const ObjectMeta& owner, std::string annotation,
                                   std::map<std::string, std::string>& claimed)
    : graph_(graph),
      node_(node),
      resource_(graph.kinds()[node.kind].resource),
      owner_(owner),
      annotation_(std::move(annotation)),
      claimed_(claimed) {}

void DependentObjects::claim(ObjectMeta& object) {
  const bool namespaced = resource_.scope == Scope::namespaced;
  if (namespaced && object.namespace_.empty()) object.namespace_ = owner_.namespace_;
  const std::string text = object_text(resource_, key_of(object));
  if (object.name.empty()) throw std::invalid_argument(resource_.kind + ": the object has no name");
  if (namespaced && object.namespace_.empty())
    throw std::invalid_argument(text + ": the object needs a namespace, because its owner has none");
  set_controller(object, owner_reference(graph_.owner(), owner_), owner_.namespace_);
  object.annotations[annotation_] = dependent_mark(graph_.name(), node_.name);
  const auto [claim, first] = claimed_.emplace(dependent_id(resource_, key_of(object)), node_.name);
  if (first) return;
  throw std::invalid_argument(
      text + (claim->second == node_.name ? " is made twice" : " is made by \"" + claim->second + "\", too"));
}

void DependentObjects::attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
}

bool DependentObjects::can_apply(const ObjectMeta& existing) {
  std::string why;
  const OwnerReference* const controller = controller_of(existing);
  if (is_deleting(existing)) {
    why = " is being deleted";
  } else if (controller != nullptr && controller->uid != owner_.uid &&
             same_owner(*controller, owner_reference(graph_.owner(), owner_))) {
    why = " is of a former " + std::string(graph_.owner().kind) + " " + owner_.name;
  } else {
    return true;
  }
  if (blocked_.empty()) blocked_ = object_text(resource_, key_of(existing)) + why;
  return false;
}

void DependentObjects::on_applied(const ObjectMeta* before, const ObjectMeta& after, Readiness readiness) {
  if (before == nullptr || before->resource_version != after.resource_version) ++written_;
  if (is_deleting(after)) readiness = not_ready("is being deleted");
  if (readiness.ready || unready_) return;
  const std::string text = object_text(resource_, key_of(after));
  unready_ = readiness.why_not.empty() ? text + " is not ready" : text + ": " + readiness.why_not;
}

Readiness DependentObjects::readiness() const {
  return unready_ ? not_ready(*unready_) : Readiness(true);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
