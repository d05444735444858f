// SPDX-License-Identifier: Apache-2.0
#include "manager/operations.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

#include <evenkeel/manager/manager.hpp>

#include "manager/guarded_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

http::Response Operations::answer_probe(const http::Target& target) {
  for (const auto& [path, probe] : {std::pair<std::string_view, Probe*>{"/healthz", &healthz_},
                                    std::pair<std::string_view, Probe*>{"/readyz", &readyz_}}) {
    if (!target.path.starts_with(path)) continue;
    const std::string_view rest = std::string_view(target.path).substr(path.size());
    if (rest.empty()) return probe->answer({}, target);
    if (rest.front() == '/') return probe->answer(rest.substr(1), target);
  }
  return {.status = 404,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = "404 page not found\n"};
}

Probe::Check Operations::guarded(Probe::Check check) const {
  return check ? guard_check(std::move(check), clock_, on_thread_start_) : nullptr;
}

void Operations::add(EndpointRoute route) {
  TakeRoute take;
  {
    MutexLock lock(mutex_);
    routes_.push_back(route);
    take = take_;
  }
  if (take) take(route);
}

void Operations::hand_routes_to(TakeRoute take) {
  std::vector<EndpointRoute> routes;
  {
    MutexLock lock(mutex_);
    routes = routes_;
    take_ = take;
  }
  for (const EndpointRoute& route : routes) take(route);
}

void Operations::add(ConsoleSection section) {
  if (section.title.empty() || !section.read) {
    throw std::invalid_argument("Manager: a section of the console needs a title and a function");
  }
  MutexLock lock(mutex_);
  for (const ConsoleSection& other : console_sections_) {
    if (other.title == section.title) {
      throw std::invalid_argument("Manager: two sections of the console are called " + section.title);
    }
  }
  console_sections_.push_back(std::move(section));
}

std::vector<Operations::ConsoleSection> Operations::console_sections() const {
  MutexLock lock(mutex_);
  return console_sections_;
}

std::string unready(const Controller& controller, TimePoint now) {
  std::string problems;
  for (const WatchHealth& watch : controller.watch_health()) {
    const bool refused = watch.problem == WatchProblem::no_such_kind ||
                         watch.problem == WatchProblem::forbidden ||
                         watch.problem == WatchProblem::unauthorized;
    if (watch.synced && !refused) continue;
    problems += (problems.empty() ? "" : " | ") + watch.describe(now);
    if (watch.problem == WatchProblem::none) problems += ": not listed yet";
    const std::string_view hint = watch_problem_hint(watch.problem);
    if (!hint.empty()) problems += "; " + std::string(hint);
  }
  return problems;
}

}  // namespace detail

void Manager::add_health_check(std::string name, std::function<std::string()> check) {
  operations().healthz().add(std::move(name), operations().guarded(std::move(check)));
}
void Manager::add_readiness_check(std::string name, std::function<std::string()> check) {
  operations().readyz().add(std::move(name), operations().guarded(std::move(check)));
}
http::Response Manager::answer_probe(std::string_view target) {
  return operations().answer_probe(http::parse_target(target));
}
void Manager::route(std::string path, std::function<http::Response(const http::ServerCall&)> handler,
                    const http::RouteOptions& options) {
  operations().add(detail::EndpointRoute{std::move(path), std::move(handler), options});
}
void Manager::add_console_section(std::string title, std::function<Json()> read) {
  operations().add(detail::Operations::ConsoleSection{std::move(title), std::move(read)});
}

}  // namespace v0
}  // namespace evenkeel
