// SPDX-License-Identifier: Apache-2.0
#include "events/event_record.hpp"

#include <initializer_list>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t longest_name = 253;

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part).push_back('\0');
  return text;
}

std::string_view word(EventSeverity severity) {
  return severity == EventSeverity::warning ? "Warning" : "Normal";
}

std::string text_of(const EventSubject& subject) {
  return joined(
      {subject.api_version, subject.kind, subject.namespace_, subject.name, subject.uid, subject.field_path});
}

}  // namespace

// Some kinds permit names that an Event cannot have, such as "system:admin".
std::string name_of_event(std::string_view object, std::string_view suffix) {
  std::string name;
  for (const char c : object.substr(0, longest_name - suffix.size())) {
    const bool follows = !name.empty() && name.back() != '.';
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name.push_back(c);
    } else if (c >= 'A' && c <= 'Z') {
      name.push_back(static_cast<char>(c - 'A' + 'a'));
    } else if (c != '.') {
      if (follows) name.push_back('-');
    } else {
      while (!name.empty() && name.back() == '-') name.pop_back();
      if (follows) name.push_back('.');
    }
  }
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return (name.empty() ? "event" : name).append(suffix);
}

std::string object_key(const EventRecord& record) {
  EventSubject whole = record.subject;
  whole.field_path.clear();
  return text_of(whole);
}

std::string similar_key(const EventRecord& record) {
  return object_key(record) + joined({word(record.severity), record.reason});
}

std::string counted_key(const EventRecord& record) {
  return text_of(record.subject) + joined({word(record.severity), record.reason, record.message});
}

std::string series_key(const EventRecord& record) {
  return text_of(record.subject) + joined({word(record.severity), record.reason, record.action}) +
         (record.related ? text_of(*record.related) : std::string());
}

}  // namespace detail

EventSubject event_subject(const DynamicObject& object) {
  return {.api_version = std::string(object.api_version()),
          .kind = std::string(object.kind()),
          .namespace_ = std::string(object.namespace_()),
          .name = std::string(object.name()),
          .uid = std::string(object.uid())};
}

}  // namespace v0
}  // namespace evenkeel
