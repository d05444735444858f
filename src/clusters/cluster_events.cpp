// SPDX-License-Identifier: Apache-2.0
#include "clusters/cluster_events.hpp"

#include <utility>

#include "clusters/cluster_loop.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

struct Pumped {
  Pumped(std::shared_ptr<JobRunner> runner, Client client, const EventRecorderOptions& options,
         std::function<void()> on_pumped_)
      : on_pumped(std::move(on_pumped_)),
        recorder(std::move(client), options),
        alarm(std::move(runner), [this] { pump(); }) {}
  void pump() {
    recorder.pump();
    if (const auto due = recorder.next_due()) alarm.set(*due);
    on_pumped();
  }
  const std::function<void()> on_pumped;
  EventRecorder recorder;
  LoopAlarm alarm;  // ends first
};

}  // namespace

std::shared_ptr<EventRecorder> recorder_on(std::shared_ptr<JobRunner> runner, Client client,
                                           EventRecorderOptions options, std::function<void()> on_pumped) {
  const auto self = std::make_shared<std::weak_ptr<Pumped>>();
  options.threads = 0;
  options.on_work = [self] {
    if (const auto pumped = self->lock()) pumped->alarm.now();
  };
  const auto pumped =
      std::make_shared<Pumped>(std::move(runner), std::move(client), options, std::move(on_pumped));
  *self = pumped;
  return {pumped, &pumped->recorder};
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
