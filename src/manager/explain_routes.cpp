// SPDX-License-Identifier: Apache-2.0
#include "manager/explain_routes.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/manager/manager.hpp>

#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Distinguishes these responses from those of a server without such a page.
constexpr const char* marker = "X-Evenkeel-Explain";

http::Response marked_answer(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {marker, "1"}},
          .body = std::move(body)};
}

http::Response json_answer(int status, const Json& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}, {marker, "1"}},
          .body = body.dump(2) + "\n"};
}

bool wants_json(const http::Target& target) {
  const std::string* format = target.find("format");
  return format != nullptr && *format == "json";
}

http::Response not_found(const std::string& sentence, bool json) {
  if (json) return json_answer(404, Json::object({{"error", sentence}}));
  return marked_answer(404, shown_text(sentence) + "\n");
}

std::string names_of(const ExplainSubjects& subjects) {
  std::string names;
  for (const Controller* controller : subjects.controllers) {
    names += (names.empty() ? "" : ", ") + controller->name();
  }
  return names.empty() ? "none" : names;
}

http::Response list(const ExplainSubjects& subjects, bool json) {
  Json array = Json::array();
  std::string text;
  for (Controller* controller : subjects.controllers) {
    const ControllerSummary summary = controller->summary(1, subjects.blocked_reason);
    text += shown_text(summary.verdict) + "\n";
    array.push_back(Json::object(
        {{"controller", summary.controller}, {"kind", summary.kind}, {"verdict", summary.verdict}}));
  }
  if (json) return json_answer(200, Json::object({{"controllers", std::move(array)}}));
  return marked_answer(200, text.empty() ? "there is no controller\n" : text);
}

template <class Answer>
http::Response answer(const Answer& given, bool json) {
  return json ? json_answer(200, to_json(given)) : marked_answer(200, to_text(given));
}

}  // namespace

http::Response answer_explain(std::string_view question, const http::Target& target,
                              const ExplainSubjects& subjects) {
  const bool json = wants_json(target);
  while (question.ends_with('/')) question.remove_suffix(1);
  if (question.empty()) return list(subjects, json);
  const std::size_t end = std::min(question.find('/'), question.size());
  const std::string name(question.substr(0, end));
  const auto found = std::find_if(subjects.controllers.begin(), subjects.controllers.end(),
                                  [&](const Controller* controller) { return controller->name() == name; });
  if (found == subjects.controllers.end()) {
    return not_found("there is no controller " + name + "; there are: " + names_of(subjects), json);
  }
  if (end == question.size()) return answer((*found)->summary(10, subjects.blocked_reason), json);
  const std::string_view object = question.substr(end + 1);
  const std::size_t slash = object.find('/');
  if (slash == std::string_view::npos) {
    return answer((*found)->explain({.namespace_ = {}, .name = std::string(object)}, subjects.blocked_reason),
                  json);
  }
  const std::string_view rest = object.substr(slash + 1);
  if (rest.find('/') != std::string_view::npos) {
    return not_found("an object is asked for as CONTROLLER/NAMESPACE/NAME or CONTROLLER/NAME", json);
  }
  return answer(
      (*found)->explain({.namespace_ = std::string(object.substr(0, slash)), .name = std::string(rest)},
                        subjects.blocked_reason),
      json);
}

}  // namespace detail

http::Response Manager::answer_explain(const http::ServerCall& call) const {
  return detail::answer_explain(call.rest, call.target,
                                {.controllers = controllers(), .blocked_reason = blocked_reason()});
}

}  // namespace v0
}  // namespace evenkeel
