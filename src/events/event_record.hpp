// SPDX-License-Identifier: Apache-2.0
// One recorded Event before it is correlated, and the keys by which it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/events/event.hpp>

#include "base/cut_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct EventRecord {
  EventSubject subject = {};
  EventSeverity severity = EventSeverity::normal;
  std::string reason = {};
  std::string message = {};
  std::string action = {};
  std::optional<EventSubject> related = {};
};

// Limits of the API server, in bytes.
constexpr std::size_t longest_word = 128;
constexpr std::size_t longest_message = 1024;

/// Returns the name of an Event object: that of the object that it is about, and `suffix`.
std::string name_of_event(std::string_view object, std::string_view suffix);

// Keys of tables: parts separated by a character that none of them has.

/// Names the object, for the spam filter.
std::string object_key(const EventRecord& record);
/// Names what is the same in Events that differ in their message.
std::string similar_key(const EventRecord& record);
/// Names what is the same in repetitions that core/v1 counts.
std::string counted_key(const EventRecord& record);
/// Names what is the same in a series of events.k8s.io/v1.
std::string series_key(const EventRecord& record);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
