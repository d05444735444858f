// SPDX-License-Identifier: Apache-2.0
#include "ring_doors.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>

namespace {

ek::http::Response json_answer(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

ek::http::Response problem(int status, std::string_view text) {
  return json_answer(status, ek::Json::object({{"problem", text}}).dump());
}

double unix_seconds(ek::WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

ek::http::Response status_of(SharedRing& ring) {
  ek::MutexLock lock(ring.mutex);
  return json_answer(200, ek::to_json(ring.database.status(ring.clock->now())));
}

ek::http::Response journal_of(SharedRing& ring) {
  ek::MutexLock lock(ring.mutex);
  return json_answer(200, ek::to_json(RingJournal{.started_at = unix_seconds(ring.started),
                                                  .now_seconds = ring.database.seconds(ring.clock->now()),
                                                  .entries = ring.database.journal()}));
}

}  // namespace

RingDoor::RingDoor(std::string name, SharedRing& ring) : name_(std::move(name)), ring_(ring) {
  open();
  ek::MutexLock lock(serving_mutex_);
  address_ = "127.0.0.1:" + std::to_string(server_->port(0));
}

RingDoor::~RingDoor() {
  close();
}

std::string RingDoor::url() const {
  return "http://" + address_;
}

void RingDoor::set_fault(const RingFault& fault) {
  if (fault.kind == "cut") close();
  {
    ek::MutexLock lock(mutex_);
    fault_ = fault;
    changed_.notify_all();
  }
  if (fault.kind != "cut") open();
}

void RingDoor::open() {
  {
    ek::MutexLock lock(mutex_);
    closing_ = false;
  }
  ek::MutexLock lock(serving_mutex_);
  if (server_) return;
  auto server = std::make_unique<ek::http::Server>(ek::http::ServerOptions{.thread_name = "door-" + name_});
  const std::size_t site = server->add_site({.address = address_});
  server->route(
      site, "/", [this](const ek::http::ServerCall& call) { return answer(call); },
      {.access = ek::http::RouteAccess::anyone, .methods = {ek::http::Method::get, ek::http::Method::post}});
  server->start();
  server_ = std::move(server);
}

void RingDoor::close() {
  {
    ek::MutexLock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  ek::MutexLock lock(serving_mutex_);
  server_.reset();
}

ek::http::Response RingDoor::answer(const ek::http::ServerCall& call) {
  bool lose = false;
  if (std::optional<ek::http::Response> suffered = suffer(lose)) return *std::move(suffered);
  ek::http::Response response = perform(call);
  return lose ? problem(504, "the answer was lost") : response;
}

// Applies the fault before the call is executed. Returns a response if the call is not to be executed.
std::optional<ek::http::Response> RingDoor::suffer(bool& lose) {
  ek::MutexLock lock(mutex_);
  if (fault_.kind == "open") return std::nullopt;
  const RingFault fault = fault_;
  if (fault_.count > 0 && --fault_.count == 0) fault_ = {.door = name_, .kind = "open"};
  lose = fault.kind == "lose";
  if (fault.kind == "refuse") return problem(503, "the database refuses all calls");
  if (fault.kind == "hang") {
    while (!closing_ && fault_.kind == "hang") ring_.clock->wait(changed_, lock);
    return problem(503, "the database did not answer");
  }
  if (fault.kind == "slow") {
    const ek::TimePoint until = ring_.clock->now() + std::chrono::duration_cast<ek::Duration>(
                                                         std::chrono::duration<double>(fault.seconds));
    while (!closing_ && ring_.clock->now() < until) ring_.clock->wait_until(changed_, lock, until);
  }
  return std::nullopt;
}

ek::http::Response RingDoor::perform(const ek::http::ServerCall& call) {
  const std::string& path = call.target.path;
  if (path == "/status" && call.request.method == ek::http::Method::get) return status_of(ring_);
  if (call.request.method != ek::http::Method::post) return problem(404, "no such call");
  RingOrder order;
  try {
    order = ek::from_json<RingOrder>(call.request.body, path);
  } catch (const ek::DecodeError& error) {
    return problem(400, error.what());
  }
  ek::MutexLock lock(ring_.mutex);
  RingDatabase& database = ring_.database;
  const ek::TimePoint now = ring_.clock->now();
  RingAnswer answer;
  if (path == "/exclude") {
    answer = database.exclude(name_, order, now);
  } else if (path == "/include") {
    answer = database.include(name_, order, now);
  } else if (path == "/kill") {
    answer = database.kill(name_, order, now);
  } else if (path == "/coordinators") {
    answer = database.set_coordinators(name_, order, now);
  } else if (path == "/fence") {
    answer = database.raise_fence(order);
  } else {
    return problem(404, "no such call");
  }
  return answer.done ? json_answer(200, "{}") : problem(409, answer.problem);
}

RingDoors::RingDoors(SharedRing& ring, const std::vector<std::string>& callers, const std::string& admin)
    : ring_(ring), server_({.thread_name = "admin"}) {
  for (const std::string& caller : callers) doors_.push_back(std::make_unique<RingDoor>(caller, ring));
  const std::size_t site = server_.add_site({.address = admin});
  const ek::http::RouteOptions read{.access = ek::http::RouteAccess::anyone};
  const ek::http::RouteOptions write{.access = ek::http::RouteAccess::anyone,
                                     .methods = {ek::http::Method::post}};
  server_.route(
      site, "/status", [this](const ek::http::ServerCall&) { return status_of(ring_); }, read);
  server_.route(
      site, "/journal", [this](const ek::http::ServerCall&) { return journal_of(ring_); }, read);
  server_.route(
      site, "/doors", [this](const ek::http::ServerCall&) { return json_answer(200, urls()); }, read);
  server_.route(
      site, "/faults", [this](const ek::http::ServerCall& call) { return set_fault(call); }, write);
  server_.start();
}

std::string RingDoors::urls() const {
  ek::Json urls = ek::Json::object({{"admin", admin_url()}});
  for (const auto& door : doors_) urls[door->name()] = door->url();
  return urls.dump();
}

ek::http::Response RingDoors::set_fault(const ek::http::ServerCall& call) {
  try {
    const auto fault = ek::from_json<RingFault>(call.request.body, "fault");
    for (const auto& door : doors_) {
      if (door->name() != fault.door) continue;
      door->set_fault(fault);
      return json_answer(200, "{}");
    }
    return problem(404, "no such door: " + fault.door);
  } catch (const ek::DecodeError& error) {
    return problem(400, error.what());
  }
}
