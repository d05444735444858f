// SPDX-License-Identifier: Apache-2.0
#include "events/event_body.hpp"

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/events.hpp>
#include <evenkeel/client/calls.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

Json reference(const EventSubject& subject) {
  Json json =
      Json::object({{"apiVersion", subject.api_version}, {"kind", subject.kind}, {"name", subject.name}});
  if (!subject.namespace_.empty()) json["namespace"] = subject.namespace_;
  if (!subject.uid.empty()) json["uid"] = subject.uid;
  if (!subject.field_path.empty()) json["fieldPath"] = subject.field_path;
  return json;
}

Json series(const CountedEvent& event) {
  return Json::object({{"count", event.count}, {"lastObservedTime", MicroTime(event.last).str()}});
}

Json common(const CountedEvent& event, const EventReporter& reporter) {
  const EventRecord& record = event.record;
  Json body = Json::object(
      {{"kind", "Event"},
       {"metadata", Json::object({{"name", event.name}, {"namespace", namespace_of_event(record.subject)}})},
       {"type", record.severity == EventSeverity::warning ? "Warning" : "Normal"},
       {"reason", record.reason},
       {"action", record.action},
       {"reportingInstance", reporter.instance}});
  if (record.related) body["related"] = reference(*record.related);
  return body;
}

Json core_body(const CountedEvent& event, const EventReporter& reporter) {
  Json body = common(event, reporter);
  body["apiVersion"] = "v1";
  body["involvedObject"] = reference(event.record.subject);
  body["message"] = event.record.message;
  body["source"] = Json::object({{"component", reporter.component}});
  body["reportingComponent"] = reporter.component;
  body["firstTimestamp"] = Time(event.first).str();
  body["lastTimestamp"] = Time(event.last).str();
  body["count"] = event.count;
  return body;
}

Json events_body(const CountedEvent& event, const EventReporter& reporter) {
  Json body = common(event, reporter);
  body["apiVersion"] = "events.k8s.io/v1";
  body["regarding"] = reference(event.record.subject);
  body["note"] = event.record.message;
  body["reportingController"] = reporter.component;
  body["eventTime"] = MicroTime(event.first).str();
  if (event.count > 1) body["series"] = series(event);
  return body;
}

Json change(const CountedEvent& event, EventApi api) {
  if (api == EventApi::events_v1) return Json::object({{"series", series(event)}});
  return Json::object(
      {{"count", event.count}, {"lastTimestamp", Time(event.last).str()}, {"message", event.record.message}});
}

}  // namespace

std::string namespace_of_event(const EventSubject& subject) {
  return subject.namespace_.empty() ? "default" : subject.namespace_;
}

RestRequest event_request(const EventWrite& write, const EventReporter& reporter) {
  const CountedEvent& event = *write.event;
  const bool core = reporter.api == EventApi::core_v1;
  const ResourceId resource = core ? core_v1::Event::resource : events_v1::Event::resource;
  const ObjectKey key{namespace_of_event(event.record.subject), event.name};
  if (!write.create) return patch_request(resource, key, Patch::merge(change(event, reporter.api)), {});
  const Json body = core ? core_body(event, reporter) : events_body(event, reporter);
  return create_request(resource, {.name = key.name, .namespace_ = key.namespace_}, body.dump());
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
