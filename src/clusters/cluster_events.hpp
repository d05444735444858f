// SPDX-License-Identifier: Apache-2.0
// A recorder of Events that an event loop drives, without a thread.
#pragma once

#include <functional>
#include <memory>

#include <evenkeel/client/client.hpp>
#include <evenkeel/events/event_recorder.hpp>
#include <evenkeel/http/job_runner.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns a recorder that writes with `client`, on the threads of `runner`, which call `on_pumped` after
/// each step. To be destroyed there.
std::shared_ptr<EventRecorder> recorder_on(std::shared_ptr<JobRunner> runner, Client client,
                                           EventRecorderOptions options, std::function<void()> on_pumped);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
