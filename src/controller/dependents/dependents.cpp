// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/base/error.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/controller/resource_context.hpp>

#include "base/ascii.hpp"
#include "controller/apply_plan.hpp"
#include "controller/dependents/dependents_core.hpp"
#include "controller/dependents/dependents_pass.hpp"
#include "controller/dependents/late_kinds.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Time after which a clean-up looks again if no event has shown the end of an object before.
constexpr Duration clean_up_period = std::chrono::minutes{1};

[[noreturn]] void refuse(const ResourceInfo& owner, const std::string& why) {
  throw std::invalid_argument("dependents of " + std::string(owner.kind) + ": " + why);
}

void require_name(const ResourceInfo& owner, const std::string& name) {
  if (!detail::ascii::is_dns_label(name, name.size()))
    refuse(owner, "a name is of lower-case letters, digits and '-', not \"" + name + "\"");
}

}  // namespace

DependentGraph::DependentGraph(const ResourceInfo& owner, std::string name)
    : owner_(owner), name_(std::move(name)), late_(std::make_shared<LateKinds>()) {
  if (!name_.empty()) require_name(owner_, name_);
}

std::size_t DependentGraph::add(DependentNode node, const std::vector<std::string>& after,
                                DependentKind kind) {
  require_sound(node, kind.resource);
  for (const std::string& name : after) {
    const std::size_t position = position_of(name, node.name);
    if (std::find(node.after.begin(), node.after.end(), position) == node.after.end())
      node.after.push_back(position);
  }
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const DependentKind& one) { return one.resource == kind.resource; });
  node.kind = static_cast<std::size_t>(found - kinds_.begin());
  if (found == kinds_.end()) {
    kinds_.push_back(std::move(kind));
  } else {
    found->late = found->late && kind.late;
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().kind;
}

void DependentGraph::require_sound(const DependentNode& node, const ResourceId& kind) const {
  require_name(owner_, node.name);
  const std::string condition = dependent_condition_type(node.name);
  for (const DependentNode& other : nodes_) {
    if (other.name == node.name) refuse(owner_, "\"" + node.name + "\" is declared twice");
    if (dependent_condition_type(other.name) == condition)
      refuse(owner_,
             "\"" + other.name + "\" and \"" + node.name + "\" have the same condition, " + condition);
  }
  const std::string text = "\"" + node.name + "\": ";
  if (kind.version.empty() || kind.kind.empty() || kind.plural.empty())
    refuse(owner_, text + "its kind needs a version, a kind and a plural");
  if (kind.scope == Scope::cluster && owner_.scope == Scope::namespaced)
    refuse(owner_, text + "an owner with a namespace cannot own what is cluster-scoped: " + kind.kind);
}

std::size_t DependentGraph::position_of(const std::string& name, const std::string& of) const {
  if (name == of) refuse(owner_, "\"" + of + "\" is after itself");
  std::string names;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at].name == name) return at;
    names += (at == 0 ? "\"" : ", \"") + nodes_[at].name + "\"";
  }
  refuse(owner_, "\"" + of + "\" is after \"" + name + "\", which is not declared before it; " +
                     (names.empty() ? "nothing is" : "declared are " + names));
}

WatchSpec DependentGraph::late_watch(const ResourceId& resource) const {
  WatchSpec watch = watch_of(resource, map_to_owner(owner_), {}, scope_of(resource, {}));
  watch.owned = true;
  // The controller does not wait for its objects, so it cannot wait for those of a gained slot either.
  auto attach_whole = [attach = std::move(watch.attach)](Cache& cache,
                                                         std::shared_ptr<EventHandler> handler) {
    Attachment attachment = attach(cache, std::move(handler));
    if (attachment.informer) attachment.informer->require_all();
    return attachment;
  };
  watch.attach = [late = late_, resource, attach = std::move(attach_whole)](
                     Cache& cache, std::shared_ptr<EventHandler> handler) {
    return late->add(cache, resource, attach, handler);
  };
  return watch;
}

DependentsReport DependentGraph::reconcile(Context& context, const void* owner,
                                           const ObjectMeta& metadata) const {
  DependentsPass pass(*this, context, owner, metadata);
  return is_deleting(metadata) ? pass.stand_still() : pass.run(DependentPurpose::reconcile);
}

Result DependentGraph::clean_up(Context& context, const void* owner, const ObjectMeta& metadata) const {
  const DependentsReport report =
      DependentsPass(*this, context, owner, metadata).run(DependentPurpose::clean_up);
  Result result = report.result();
  if (report.ready() || result.kind() == Result::Kind::requeue_after) return result;
  return requeue_after(clean_up_period, "deleting dependents: " + report.str());
}

std::vector<PolicyRule> DependentGraph::rules() const {
  std::vector<PolicyRule> rules;
  for (const DependentKind& kind : kinds_)
    rules.push_back({{kind.resource.group}, {kind.resource.plural}, {"create", "delete", "patch"}});
  return merge_rules(rules);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
