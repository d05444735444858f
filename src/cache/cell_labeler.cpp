// SPDX-License-Identifier: Apache-2.0
#include "cache/cell_labeler.hpp"

#include <exception>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/calls.hpp>
#include <evenkeel/client/errors.hpp>

#include "base/cells.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

CellLabeler::CellLabeler(const Client& client, std::string label, std::shared_ptr<JobRunner> runner, Log log)
    : client_(client.with({.stop = stopping_.get_token(), .field_owner = "evenkeel-shards"})),
      label_(std::move(label)),
      runner_(std::move(runner)),
      log_(std::move(log)) {}

void CellLabeler::correct(const ResourceId& resource, const WireObject& object) {
  {
    MutexLock lock(mutex_);
    core_.on_found(resource, object.key());
  }
  runner_->wake(*this);
}

CellLabelCounts CellLabeler::counts() const {
  MutexLock lock(mutex_);
  return core_.counts();
}

void CellLabeler::close() {
  stopping_.request_stop();
  runner_->forget(*this);
}

void CellLabeler::run() noexcept {
  while (!stopping_.stop_requested()) {
    std::optional<LabelCore::Task> task;
    TimePoint due = TimePoint::max();
    {
      MutexLock lock(mutex_);
      task = core_.next_task(runner_->clock().now());
      if (!task) due = core_.next_due();
    }
    if (!task) return runner_->wake_at(*this, due);
    send(*task);
  }
}

void CellLabeler::send(const LabelCore::Task& task) {
  Json labels = Json::object({{label_, cell_name(hash_of(task.key.namespace_, NamespaceHash::mixed))}});
  const Json document = Json::object({{"metadata", Json::object({{"labels", std::move(labels)}})}});
  try {
    client_.start(calls::patch(task.resource, task.key, Patch::merge(document)),
                  [weak = weak_from_this(), task](const Outcome<Snapshot<DynamicObject>>& outcome) {
                    const auto self = weak.lock();
                    if (self) self->finish(task, outcome.ok() ? nullptr : outcome.error());
                  });
  } catch (...) {
    finish(task, std::current_exception());
  }
}

// A 404 completes the task: the object, or its kind, no longer exists.
void CellLabeler::finish(const LabelCore::Task& task, const std::exception_ptr& error) noexcept {
  bool gone = false;
  std::string failure;
  try {
    if (error) std::rethrow_exception(error);
  } catch (const ApiError& refusal) {
    gone = refusal.code() == 404;
    failure = refusal.what();
  } catch (const std::exception& caught) {
    failure = caught.what();
  }
  const bool fails = error && !gone;
  bool should_log = false;
  {
    MutexLock lock(mutex_);
    should_log = fails ? core_.on_failed(task, runner_->clock().now()) : core_.on_done(task, !gone);
  }
  if (stopping_.stop_requested()) return;
  if (fails && should_log)
    log_.warn(
        "cannot set the label by which caches are divided; retrying. Objects without it are sent to all "
        "replicas, and are cached where they belong",
        {{"kind", task.resource.kind}, {"object", task.key.str()}, {"label", label_}, {"error", failure}});
  if (!fails && should_log)
    log_.info("sets the label of a kind again", {{"kind", task.resource.kind}, {"label", label_}});
  runner_->wake(*this);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
