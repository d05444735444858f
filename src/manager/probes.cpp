// SPDX-License-Identifier: Apache-2.0
#include "manager/probes.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/caught.hpp"
#include "base/shown_text.hpp"
#include "serve/stable_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

http::Response text_answer(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(text)};
}

}  // namespace

void Probe::add(std::string name, Check check) {
  if (name.empty() || shown_text(name) != name) {
    throw std::invalid_argument(name_ + ": the name of a check is empty, or has a control character");
  }
  if (!check) throw std::invalid_argument("check " + name + ": a function is needed");
  MutexLock lock(mutex_);
  if (!checks_.emplace(name, std::move(check)).second) {
    throw std::invalid_argument("there are two checks " + name + " of " + name_);
  }
}

// Calls a check, and logs if its result changed; durations in the text are ignored.
std::string Probe::ask(const std::string& name, const Check& check) {
  std::string problem = detail::foreign_exception;
  try {
    problem = check();
  } catch (const std::exception& error) {
    problem = error.what();
    if (problem.empty()) problem = "it threw";
  } catch (...) {
  }
  std::string before;
  {
    MutexLock lock(mutex_);
    before = std::exchange(problems_[name], http::detail::stable_text(problem));
  }
  if (http::detail::stable_text(problem) == before) return problem;
  if (problem.empty()) {
    log_.info("check passes again", {{"probe", name_}, {"check", name}});
  } else {
    log_.warn("check failed", {{"probe", name_}, {"check", name}, {"problem", problem}});
  }
  return problem;
}

http::Response Probe::answer(std::string_view check, const http::Target& target) {
  if (check.empty()) return answer_all(target);
  std::pair<std::string, Check> found;
  {
    MutexLock lock(mutex_);
    const auto at = checks_.find(check);
    if (at != checks_.end()) found = *at;
  }
  if (!found.second) return text_answer(404, "404 page not found\n");
  const std::string problem = ask(found.first, found.second);
  if (!problem.empty()) return text_answer(500, "internal server error: " + shown_text(problem) + "\n");
  return text_answer(200, "ok");
}

http::Response Probe::answer_all(const http::Target& target) {
  std::map<std::string, Check, std::less<>> checks;
  {
    MutexLock lock(mutex_);
    checks = checks_;
  }
  std::set<std::string> excluded;
  for (const auto& [key, value] : target.query) {
    if (key == "exclude") excluded.insert(value);
  }
  std::vector<Result> results;
  for (const auto& [name, check] : checks) {
    const bool left_out = excluded.erase(name) > 0;
    results.push_back(
        {.name = name, .problem = left_out ? std::string() : ask(name, check), .excluded = left_out});
  }
  const bool failed =
      std::any_of(results.begin(), results.end(), [](const Result& one) { return !one.problem.empty(); });
  const bool verbose = target.find("verbose") != nullptr;
  return text_answer(failed ? 500 : 200, probe_text(name_, results, excluded, verbose));
}

std::string probe_text(std::string_view probe, const std::vector<Probe::Result>& results,
                       const std::set<std::string>& unknown_excludes, bool verbose) {
  const bool failed = std::any_of(results.begin(), results.end(),
                                  [](const Probe::Result& one) { return !one.problem.empty(); });
  if (!failed && !verbose) return "ok";
  std::string text;
  for (const Probe::Result& one : results) {
    if (one.problem.empty()) {
      text += "[+]" + one.name + (one.excluded ? " excluded: ok\n" : " ok\n");
    } else {
      text += "[-]" + one.name + " failed: " + shown_text(one.problem) + "\n";
    }
  }
  std::string unknown;
  for (const std::string& name : unknown_excludes)
    unknown += (unknown.empty() ? "\"" : ",\"") + shown_text(name) + "\"";
  if (!unknown.empty()) {
    text += "warn: some health checks cannot be excluded: no matches for " + unknown + "\n";
  }
  return text + std::string(probe) + (failed ? " check failed\n" : " check passed\n");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
