// SPDX-License-Identifier: Apache-2.0
// Requests that write Events, in both APIs.
#pragma once

#include <string>

#include <evenkeel/client/rest_request.hpp>

#include "events/event_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The program that reports Events.
struct EventReporter {
  EventApi api = EventApi::events_v1;
  std::string component = {};
  std::string instance = {};
};

/// Returns the namespace of the Events about an object.
std::string namespace_of_event(const EventSubject& subject);
/// Returns the request for a write. Throws std::invalid_argument if a name cannot be part of a path.
RestRequest event_request(const EventWrite& write, const EventReporter& reporter);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
