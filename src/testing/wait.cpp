// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/testing/differences.hpp>
#include <evenkeel/testing/wait.hpp>

#include "apiserver/text/seconds_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::size_t objects_shown = 10;
/// Pause after a failed attempt to watch.
constexpr Duration breather = std::chrono::milliseconds{100};

/// A watch handler that only reports that an event arrived.
class Bell final : public http::StreamHandler {
 public:
  void on_response(int status, const http::Headers&) override {
    MutexLock lock(mutex_);
    opened_ = true;
    refused_ = status != 200;
    changed_.notify_all();
  }
  void on_data(std::string_view) override {
    MutexLock lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  void on_end(std::exception_ptr) override {
    MutexLock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void wait_until_open(TimePoint deadline) {
    MutexLock lock(mutex_);
    while (!opened_ && !ended_ && real_clock()->now() < deadline)
      real_clock()->wait_until(changed_, lock, deadline);
  }
  void quiet() {
    MutexLock lock(mutex_);
    rung_ = false;
  }
  /// Waits for an event; returns false once no further one can arrive.
  bool wait(TimePoint deadline) {
    MutexLock lock(mutex_);
    while (!rung_ && !ended_ && !refused_ && real_clock()->now() < deadline)
      real_clock()->wait_until(changed_, lock, deadline);
    return !ended_ && !refused_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool opened_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool refused_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool rung_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

/// A running watch, cancelled by the destructor.
class Watching {
 public:
  Watching(const Client& client, RestRequest request) : bell_(std::make_shared<Bell>()) {
    request.query.emplace_back("watch", "true");
    if (!request.name.empty())
      request.query.emplace_back("fieldSelector", "metadata.name=" + std::exchange(request.name, {}));
    call_ = client.stream(request, bell_);
  }
  ~Watching() { call_->cancel(); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  Bell& bell() { return *bell_; }

 private:
  std::shared_ptr<Bell> bell_;
  std::shared_ptr<http::Call> call_;
};

void take_a_breath(TimePoint deadline) {
  Mutex mutex;
  CondVar never;
  const TimePoint end = std::min(deadline, deadline_after(real_clock()->now(), breather));
  MutexLock lock(mutex);
  while (real_clock()->now() < end) real_clock()->wait_until(never, lock, end);
}

std::unique_ptr<Watching> begin_watch(const Client& client, const RestRequest& request, TimePoint deadline) {
  try {
    auto watching = std::make_unique<Watching>(client, request);
    watching->bell().wait_until_open(deadline);
    return watching;
  } catch (const Error&) {
    return nullptr;
  }
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool matches(const core_v1::Event& event, const EventMatch& match) {
  const auto is = [](const std::string& wanted, const std::string& found) {
    return wanted.empty() || wanted == found;
  };
  return is(match.reason, event.reason.value_or("")) && is(match.type, event.type.value_or("")) &&
         is(match.kind, event.involved_object.kind.value_or("")) &&
         is(match.name, event.involved_object.name.value_or("")) &&
         contains(event.message.value_or(""), match.message);
}

std::string event_text(const core_v1::Event& event) {
  return event.type.value_or("") + " " + event.reason.value_or("") + " " +
         event.involved_object.kind.value_or("") + " " + event.involved_object.namespace_.value_or("") + "/" +
         event.involved_object.name.value_or("") + ": " + event.message.value_or("");
}

std::string match_text(const EventMatch& match) {
  std::string text = "an Event";
  const auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += std::string(" ") + name + "=" + value;
  };
  add("namespace", match.namespace_);
  add("reason", match.reason);
  add("type", match.type);
  add("kind", match.kind);
  add("name", match.name);
  add("message", match.message);
  return text;
}

}  // namespace

WaitTimeout::WaitTimeout(Duration waited, const std::string& what, const std::string& seen)
    : Error("waited " + apiserver::seconds_text(waited) + " for " + what + ": " + seen) {}

namespace detail {

void wait_for(const Client& client, const RestRequest& watch, const std::string& what,
              const WaitOptions& options, const std::function<std::string(const Client& client)>& look) {
  const TimePoint deadline = deadline_after(real_clock()->now(), options.timeout);
  std::unique_ptr<Watching> watching;
  for (;;) {
    // The watch is established before the check: a change after the check is noticed.
    if (!watching) watching = begin_watch(client, watch, deadline);
    if (watching) watching->bell().quiet();
    std::string seen;
    try {
      seen = look(client.with({.timeout = std::max(deadline - real_clock()->now(), breather)}));
    } catch (const Error& error) {
      seen = error.what();
    }
    if (seen.empty()) return;
    if (real_clock()->now() >= deadline) throw WaitTimeout(options.timeout, what, seen);
    if (watching && watching->bell().wait(deadline)) continue;
    watching.reset();
    take_a_breath(deadline);
  }
}

std::string expectation(const ResourceId& resource, const ObjectKey& key, std::string_view what) {
  return resource.kind + " " + key.str() + " " + std::string(what);
}

std::string pretty(std::string_view raw) {
  Json document = Json::parse(raw);
  if (document["metadata"].is_object()) document["metadata"].erase("managedFields");
  return document.dump(2);
}

std::string pretty(const std::vector<std::string_view>& raws) {
  std::string text = "there are " + std::to_string(raws.size());
  for (std::size_t at = 0; at < std::min(raws.size(), objects_shown); ++at) text += "\n" + pretty(raws[at]);
  return text;
}

std::string missing_parts(const Json& part, std::string_view raw) {
  const std::vector<std::string> lines = missing(part, Json::parse(raw));
  if (lines.empty()) return {};
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text + "; it is\n" + pretty(raw);
}

}  // namespace detail

std::vector<Snapshot<core_v1::Event>> events(const Client& client, const EventMatch& match) {
  std::vector<Snapshot<core_v1::Event>> found;
  for (Snapshot<core_v1::Event>& event :
       client.list<core_v1::Event>({.namespace_ = match.namespace_}).items) {
    if (matches(*event, match)) found.push_back(std::move(event));
  }
  return found;
}

Snapshot<core_v1::Event> wait_for_event(const Client& client, const EventMatch& match,
                                        const WaitOptions& options) {
  Snapshot<core_v1::Event> found;
  detail::wait_for(client, {.resource = core_v1::Event::resource, .namespace_ = match.namespace_},
                   match_text(match), options, [&](const Client& bound) -> std::string {
                     const auto fitting = events(bound, match);
                     if (!fitting.empty()) found = fitting.front();
                     if (found) return "";
                     const auto all = events(bound, {.namespace_ = match.namespace_});
                     std::string text = "there are " + std::to_string(all.size());
                     for (const auto& event : all) text += "\n    " + event_text(*event);
                     return text;
                   });
  return found;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
