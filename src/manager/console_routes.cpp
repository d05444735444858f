// SPDX-License-Identifier: Apache-2.0
#include "manager/console_routes.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include <evenkeel/api/time.hpp>
#include <evenkeel/controller/explanation.hpp>

#include "base/caught.hpp"
#include "manager/console_sample.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t listed_keys = 20;

http::Response console_answer(int status, const Json& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"},
                      {"Cache-Control", "no-store"},
                      {"X-Content-Type-Options", "nosniff"}},
          .body = body.dump() + "\n"};
}

http::Response no_such(const std::string& sentence) {
  return console_answer(404, Json::object({{"error", sentence}}));
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Three significant digits suffice for graphs, and make the answer short.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json depths(const std::vector<std::pair<std::string, double>>& labelled) {
  Json array = Json::array();
  for (const auto& [label, depth] : labelled) {
    array.push_back(Json::object({{"label", label}, {"depth", static_cast<std::int64_t>(depth)}}));
  }
  return array;
}

Json points_of(const ConsoleHistory& history, const std::string& controller, std::uint64_t after) {
  const std::vector<ConsoleHistory::Point> points = history.points(controller, after);
  Json series = Json::object();
  for (std::size_t at = 0; at < console_series_names.size(); ++at) {
    Json values = Json::array();
    for (const ConsoleHistory::Point& point : points) {
      values.push_back(rounded(static_cast<double>(point[at])));
    }
    series[console_series_names[at]] = std::move(values);
  }
  return series;
}

std::uint64_t after_of(const http::Target& target) {
  const std::string* text = target.find("after");
  std::uint64_t after = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), after);
  return after;
}

// The most severe of the states, for a badge.
std::string_view state_of(const Controller& controller, const ControllerSample& sample,
                          const std::string& blocked_reason) {
  if (!blocked_reason.empty()) return "blocked";
  if (sample.stuck > 0) return "stuck";
  return controller.is_synced() ? "works" : "not synced";
}

Json problems_of(const Controller& controller, TimePoint now) {
  Json problems = Json::array();
  for (const WatchHealth& watch : controller.watch_health()) {
    if (watch.problem != WatchProblem::none) problems.push_back(watch.describe(now));
  }
  return problems;
}

Json controller_json(const Controller& controller, const ConsoleSubjects& subjects,
                     const ConsoleHistory& history, std::uint64_t after) {
  const ControllerSample sample = sample_of(controller);
  const auto count = [](double value) { return Json(static_cast<std::int64_t>(value)); };
  return Json::object({{"name", controller.name()},
                       {"kind", controller.resource().kind},
                       {"state", state_of(controller, sample, subjects.blocked_reason)},
                       {"problems", problems_of(controller, subjects.now)},
                       {"objects", controller.objects()},
                       {"workers", count(sample.workers)},
                       {"busy", count(sample.busy)},
                       {"stuck", count(sample.stuck)},
                       {"depth", count(sample.depth)},
                       {"lanes", depths(sample.lanes)},
                       {"priorities", depths(sample.priorities)},
                       {"reconciles", count(sample.reconciles)},
                       {"errors", count(sample.errors)},
                       {"retries", count(sample.retries)},
                       {"waitP50", seconds(sample.latency.quantile(0.5))},
                       {"waitP99", seconds(sample.latency.quantile(0.99))},
                       {"points", points_of(history, controller.name(), after)}});
}

Json frame_of(const ConsoleSubjects& subjects, const ConsoleHistory& history) {
  return Json::object({{"program", subjects.program},
                       {"time", MicroTime(subjects.wall_now).str()},
                       {"blocked", subjects.blocked_reason},
                       {"interval", seconds(history.options().interval)},
                       {"capacity", history.options().points},
                       {"sequence", history.sequence()},
                       {"hasSections", !subjects.sections.empty()}});
}

Json watch_json(const CollectionHealth& one, TimePoint now) {
  const InformerHealth& informer = one.informer;
  Json json = Json::object({{"kind", one.resource.kind},
                            {"resource", one.resource.plural},
                            {"apiVersion", one.resource.api_version()},
                            {"namespace", one.namespace_},
                            {"selector", one.selector},
                            {"synced", informer.synced},
                            {"activity", informer.activity},
                            {"problem", watch_problem_name(informer.problem)},
                            {"lastError", informer.last_error},
                            {"objects", informer.objects},
                            {"bytes", informer.bytes},
                            {"events", informer.counters.events},
                            {"lists", informer.counters.lists + informer.counters.streaming_lists},
                            {"watches", informer.counters.watches},
                            {"failures", informer.counters.failures}});
  if (informer.last_event) json["lastEventAgo"] = seconds(now - *informer.last_event);
  if (informer.failing_since) json["failingFor"] = seconds(now - *informer.failing_since);
  if (informer.next_attempt) json["nextAttemptIn"] = seconds(*informer.next_attempt - now);
  return json;
}

Json watches_json(const ConsoleSubjects& subjects) {
  Json watches = Json::array();
  for (const CollectionHealth& one : subjects.watches) watches.push_back(watch_json(one, subjects.now));
  return watches;
}

http::Response overview(const http::Target& target, const ConsoleSubjects& subjects,
                        const ConsoleHistory& history) {
  Json body = frame_of(subjects, history);
  Json controllers = Json::array();
  for (const Controller* controller : subjects.controllers) {
    controllers.push_back(controller_json(*controller, subjects, history, after_of(target)));
  }
  body["controllers"] = std::move(controllers);
  body["watches"] = watches_json(subjects);
  return console_answer(200, body);
}

ObjectKey key_of_text(std::string_view object) {
  const std::size_t slash = object.find('/');
  if (slash == std::string_view::npos) return {.namespace_ = {}, .name = std::string(object)};
  return {.namespace_ = std::string(object.substr(0, slash)), .name = std::string(object.substr(slash + 1))};
}

// The keys that fail, each with its next attempt.
Json retrying(Controller& controller, const ConsoleSubjects& subjects, const ControllerSummary& summary) {
  Json keys = Json::array();
  for (const FailureExplanation& failure : summary.failing) {
    const Explanation state = controller.explain(key_of_text(failure.object), subjects.blocked_reason);
    Json key = Json::object({{"object", failure.object},
                             {"failures", state.failures},
                             {"reason", why_idle_name(state.why)},
                             {"error", failure.error},
                             {"failedAgo", seconds(failure.ago)}});
    if (state.next_attempt_in) key["nextAttemptIn"] = seconds(*state.next_attempt_in);
    keys.push_back(std::move(key));
  }
  return keys;
}

http::Response one_controller(Controller& controller, const http::Target& target,
                              const ConsoleSubjects& subjects, const ConsoleHistory& history) {
  Json body = frame_of(subjects, history);
  const ControllerSummary summary = controller.summary(listed_keys, subjects.blocked_reason);
  body["controller"] = controller_json(controller, subjects, history, after_of(target));
  body["summary"] = to_json(summary);
  body["retrying"] = retrying(controller, subjects, summary);
  return console_answer(200, body);
}

std::optional<std::string_view> after_prefix(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

Controller* find(const ConsoleSubjects& subjects, std::string_view name) {
  const auto found = std::find_if(subjects.controllers.begin(), subjects.controllers.end(),
                                  [&](const Controller* one) { return one->name() == name; });
  return found == subjects.controllers.end() ? nullptr : *found;
}

}  // namespace

// One that throws leaves the others readable.
Json read_sections(const std::vector<Operations::ConsoleSection>& sections) {
  Json all = Json::array();
  for (const Operations::ConsoleSection& section : sections) {
    Json one = Json::object({{"title", section.title}});
    try {
      one["content"] = section.read();
    } catch (const std::exception& error) {
      one["error"] = error.what();
    } catch (...) {
      one["error"] = detail::foreign_exception;
    }
    all.push_back(std::move(one));
  }
  return all;
}

http::Response answer_console(std::string_view question, const http::Target& target,
                              const ConsoleSubjects& subjects, const ConsoleHistory& history) {
  if (question == "overview") return overview(target, subjects, history);
  if (question == "sections") {
    Json body = frame_of(subjects, history);
    body["sections"] = subjects.section_contents;
    return console_answer(200, body);
  }
  if (question == "watches") {
    Json body = frame_of(subjects, history);
    body["watches"] = watches_json(subjects);
    return console_answer(200, body);
  }
  const auto key = after_prefix(question, "keys/");
  const auto controller = key ? key : after_prefix(question, "controllers/");
  if (!controller) return no_such("the console has no " + std::string(question));
  const std::size_t end = std::min(controller->find('/'), controller->size());
  Controller* found = find(subjects, controller->substr(0, end));
  if (found == nullptr) {
    return no_such("there is no controller " + std::string(controller->substr(0, end)));
  }
  if (!key) return one_controller(*found, target, subjects, history);
  const ObjectKey object = key_of_text(end == key->size() ? "" : key->substr(end + 1));
  if (object.name.empty() || object.name.find('/') != std::string::npos) {
    return no_such("an object is asked for as CONTROLLER/NAMESPACE/NAME or CONTROLLER/NAME");
  }
  Json body = frame_of(subjects, history);
  body["explanation"] = to_json(found->explain(object, subjects.blocked_reason));
  return console_answer(200, body);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
