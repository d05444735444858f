// SPDX-License-Identifier: Apache-2.0
#include "cache/label_core.hpp"

#include <algorithm>

#include "base/cells.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

bool must_label(const WireObject& object, std::string_view label, const HashRanges& wanted) {
  const std::uint64_t hash = hash_of(object.namespace_(), NamespaceHash::mixed);
  const auto value = object.label(label);
  if (value && *value == cell_name(hash)) return false;
  return wanted.contains(hash) || (value && is_cell(*value));
}

LabelCore::Kind& LabelCore::kind_of(const ResourceId& resource) {
  Kind& kind = kinds_[resource.qualified_plural()];
  if (kind.resource.plural.empty()) kind.resource = resource;
  return kind;
}

void LabelCore::on_found(const ResourceId& resource, ObjectKey key) {
  Kind& kind = kind_of(resource);
  const auto [found, fresh] = kind.objects.try_emplace(key, Phase::queued);
  if (fresh) {
    kind.queue.push_back(std::move(key));
    ++counts_.waiting;
  } else if (found->second == Phase::running) {
    found->second = Phase::found_again;  // perhaps after the patch, so that its end says nothing
  }
}

// Takes the kinds in turn, so that one with many objects does not delay the others.
std::optional<LabelCore::Task> LabelCore::next_task(TimePoint now) {
  if (running_ >= most_running) return std::nullopt;
  auto next = kinds_.upper_bound(last_);
  for (std::size_t tried = 0; tried < kinds_.size(); ++tried, ++next) {
    if (next == kinds_.end()) next = kinds_.begin();
    Kind& kind = next->second;
    if (kind.queue.empty() || kind.blocked_until > now) continue;
    // After a failure one attempt shows if the others are worth theirs.
    if (kind.pause > Duration::zero()) kind.blocked_until = TimePoint::max();
    Task task{kind.resource, std::move(kind.queue.front())};
    kind.queue.pop_front();
    kind.objects[task.key] = Phase::running;
    last_ = next->first;
    ++running_;
    return task;
  }
  return std::nullopt;
}

bool LabelCore::on_done(const Task& task, bool labelled) {
  Kind& kind = kind_of(task.resource);
  --running_;
  if (labelled) ++counts_.labelled;
  kind.blocked_until = TimePoint::min();
  const bool ends_failures = std::exchange(kind.pause, Duration::zero()) > Duration::zero();
  const auto found = kind.objects.find(task.key);
  if (found->second == Phase::found_again) {
    found->second = Phase::queued;
    kind.queue.push_back(task.key);
  } else {
    kind.objects.erase(found);
    --counts_.waiting;
  }
  return ends_failures;
}

bool LabelCore::on_failed(const Task& task, TimePoint now) {
  Kind& kind = kind_of(task.resource);
  --running_;
  ++counts_.failures;
  kind.objects[task.key] = Phase::queued;
  kind.queue.push_back(task.key);
  // A quota, a policy or a role may concern this namespace only: the next attempt is in another one.
  std::stable_partition(kind.queue.begin(), kind.queue.end(),
                        [&task](const ObjectKey& key) { return key.namespace_ != task.key.namespace_; });
  if (kind.blocked_until > now && kind.blocked_until != TimePoint::max())
    return false;  // one of the same time
  const bool first = kind.pause == Duration::zero();
  kind.pause = first ? first_pause : std::min(kind.pause * 2, longest_pause);
  kind.blocked_until = deadline_after(now, kind.pause);
  return first;
}

TimePoint LabelCore::next_due() const {
  TimePoint due = TimePoint::max();
  if (running_ >= most_running) return due;
  for (const auto& [name, kind] : kinds_) {
    if (!kind.queue.empty()) due = std::min(due, kind.blocked_until);
  }
  return due;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
