// SPDX-License-Identifier: Apache-2.0
#include "client/watch/watch_flow.hpp"

#include <chrono>
#include <utility>

#include <simdjson.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/errors.hpp>

#include "base/caught.hpp"
#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// An event this long after the connection was made ends a period of failures: the next failure is logged
/// again.
constexpr Duration quiet_end = std::chrono::minutes{2};
constexpr std::size_t most_noted = 16;  // a server may send a new text each time

/// A parsed frame. `object` is a view into the frame.
struct Frame {
  std::string type;
  std::string_view object;
  std::string namespace_, name, resource_version;
};

using simdjson::ondemand::json_type;

std::string text_in(simdjson::ondemand::value value) {
  if (value.type() != json_type::string) return {};
  return std::string(std::string_view(value.get_string()));
}

void read_metadata(simdjson::ondemand::object metadata, Frame& frame) {
  for (auto field : metadata) {
    const std::string_view name = field.unescaped_key();
    if (name == "name") {
      frame.name = text_in(field.value());
    } else if (name == "namespace") {
      frame.namespace_ = text_in(field.value());
    } else if (name == "resourceVersion") {
      frame.resource_version = text_in(field.value());
    }
  }
}

/// Throws simdjson_error if it is not an object with the members type and object.
Frame take_apart(std::string& text) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(text.data(), text.size(), text.capacity());
  Frame frame;
  for (auto field : document.get_object()) {
    const std::string_view name = field.unescaped_key();
    if (name == "type") {
      frame.type = text_in(field.value());
    } else if (name == "object") {
      simdjson::ondemand::object object = field.value().get_object();
      for (auto member : object) {
        if (std::string_view(member.unescaped_key()) != "metadata") continue;
        simdjson::ondemand::value metadata = member.value();
        if (metadata.type() == json_type::object) read_metadata(metadata.get_object(), frame);
      }
      object.reset();
      frame.object = object.raw_json();
    }
  }
  if (frame.type.empty() || frame.object.empty()) throw simdjson::simdjson_error(simdjson::NO_SUCH_FIELD);
  return frame;
}

std::optional<WatchEventType> type_of(std::string_view word) {
  if (word == "ADDED") return WatchEventType::added;
  if (word == "MODIFIED") return WatchEventType::modified;
  if (word == "DELETED") return WatchEventType::deleted;
  if (word == "BOOKMARK") return WatchEventType::bookmark;
  return std::nullopt;
}

}  // namespace

bool is_unsent(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const ConfigError&) {
    return true;
  } catch (...) {  // sent, or cancelled
  }
  return false;
}

WatchFlow::WatchFlow(Log log, const ResourceId& resource, WatchOptions options, std::uint64_t seed)
    : log_(std::move(log)),
      resource_(resource),
      options_(std::move(options)),
      core_(options_.resource_version, seed) {
  (void)target_of({.resource = resource_, .namespace_ = options_.namespace_});  // throws if it has no path
}

RestRequest WatchFlow::request() {
  RestRequest request{
      .resource = resource_, .namespace_ = options_.namespace_, .idle_timeout = options_.idle_timeout};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) request.query.emplace_back(name, value);
  };
  if (options_.metadata_only) request.accept = accept_metadata(false);
  add("watch", "true");
  add("allowWatchBookmarks", "true");
  add("labelSelector", options_.label_selector);
  add("fieldSelector", options_.field_selector);
  add("resourceVersion", core_.resource_version());
  add("timeoutSeconds", std::to_string(300 + core_.random_below(300)));
  return request;
}

void WatchFlow::on_connecting(TimePoint now) {
  core_.on_connecting(now);
  connected_at_ = now;
}

std::optional<RawWatchEvent> WatchFlow::on_frame(std::string text, TimePoint now) {
  auto frame_text = std::make_shared<std::string>(std::move(text));
  Frame frame;
  try {
    frame = take_apart(*frame_text);
  } catch (const simdjson::simdjson_error& error) {
    return reject(std::string("a frame that is not an event: ") + error.what(), now);
  }
  if (frame.type == "ERROR") return refuse(Status::decode(0, frame.object), now);
  const auto type = type_of(frame.type);
  if (!type) return reject("an event of unknown type " + frame.type, now);
  core_.on_event(*type == WatchEventType::added, frame.resource_version);
  if (now - connected_at_ >= quiet_end) noted_.clear();
  if (*type == WatchEventType::bookmark) {
    if (!options_.bookmarks) return std::nullopt;
    return RawWatchEvent{.type = *type, .resource_version = frame.resource_version};
  }
  return RawWatchEvent{
      .type = *type,
      .frame = std::move(frame_text),
      .object = frame.object,
      .resource_version = frame.resource_version,
      .what = object_path({.resource = resource_, .namespace_ = frame.namespace_, .name = frame.name})};
}

std::optional<RawWatchEvent> WatchFlow::reject(const std::string& problem, TimePoint now) {
  const auto error = std::make_exception_ptr(DecodeError(describe(request()), problem));
  note(error);
  core_.on_broken(error, std::nullopt, now);
  return gone();
}

void WatchFlow::on_silence(TimePoint now) {
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(limits::watch_head).count();
  const auto error = std::make_exception_ptr(TransportError(
      TransportErrorCode::timeout, describe(request()) +
                                       ": the server took the request and did not answer within " +
                                       std::to_string(limit) + " s"));
  note(error);
  core_.on_broken(error, TransportErrorCode::timeout, now);
}

bool WatchFlow::on_unsent(const std::exception_ptr& error, TimePoint now) {
  if (!core_.established()) return false;
  note(error);
  core_.on_broken(error, std::nullopt, now);
  return true;
}

/// Returns the event for the user if the core has just found that the history is gone.
std::optional<RawWatchEvent> WatchFlow::gone() const {
  if (core_.state() != WatchCore::State::gone) return std::nullopt;
  return RawWatchEvent{.type = WatchEventType::gone, .resource_version = core_.resource_version()};
}

std::optional<RawWatchEvent> WatchFlow::refuse(const Status& status, TimePoint now) {
  const std::string call = describe(request());
  core_.on_refused(call, status, now);
  if (core_.state() == WatchCore::State::waiting) note(std::make_exception_ptr(ApiError(call, status)));
  return gone();
}

std::optional<RawWatchEvent> WatchFlow::on_end(const http::Response& answer, const std::exception_ptr& error,
                                               TimePoint now) {
  if (answer.status != 0 && answer.status != 200) return refuse(Status::decode(answer), now);
  if (!error) {
    core_.on_ended(now);
    if (core_.state() == WatchCore::State::gone || core_.next_due() > now)
      note(std::make_exception_ptr(Error(describe(request()) + ": the server ended the watch immediately")));
    return gone();
  }
  std::optional<TransportErrorCode> code;
  try {
    std::rethrow_exception(error);
  } catch (const TransportError& broken) {
    code = broken.code();
  } catch (...) {  // without a code
  }
  note(error);
  core_.on_broken(error, code, now);
  return gone();
}

void WatchFlow::restart(std::string resource_version, TimePoint now) {
  core_.restart(std::move(resource_version), now);
  if (core_.next_due() > now)
    note(std::make_exception_ptr(
        Error(describe(request()) + ": the history is gone again, without an event since")));
}

/// Logs a recurring failure once per distinct reason, ignoring numbers; repeats are logged at level debug.
void WatchFlow::note(const std::exception_ptr& error) {
  const std::string text = error_text(error);
  std::string reason = text;
  std::erase_if(reason, [](char c) { return c >= '0' && c <= '9'; });
  if (noted_.size() >= most_noted) noted_.clear();
  const bool news = noted_.insert(std::move(reason)).second;
  log_.write(news ? LogLevel::info : LogLevel::debug, "watch interrupted",
             {{"kind", resource_.kind}, {"reason", text}});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
