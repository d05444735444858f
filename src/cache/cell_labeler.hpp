// SPDX-License-Identifier: Apache-2.0
// Sets the label of objects to their cell, by patches in the background.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "cache/label_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Background patches of the label ReflectorOptions::cell_label. A patch sets the label and nothing else,
/// with the field owner "evenkeel-shards"; its value depends on the namespace only, so that it does not
/// matter when it takes effect, or which replica sends it. Thread safety: all members may be called
/// concurrently.
class CellLabeler final : public Job, public std::enable_shared_from_this<CellLabeler> {
 public:
  CellLabeler(const Client& client, std::string label, std::shared_ptr<JobRunner> runner, Log log);

  /// Adds an object for which must_label() is true. Returns at once.
  void correct(const ResourceId& resource, const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  CellLabelCounts counts() const EVENKEEL_EXCLUDES(mutex_);
  /// Sends no further patch, and cancels those that run. Final.
  void close();

  void run() noexcept override;

 private:
  void send(const LabelCore::Task& task);
  void finish(const LabelCore::Task& task, const std::exception_ptr& error) noexcept
      EVENKEEL_EXCLUDES(mutex_);

  std::stop_source stopping_;
  const Client client_;
  const std::string label_;
  const std::shared_ptr<JobRunner> runner_;
  const Log log_;
  mutable Mutex mutex_;
  LabelCore core_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
