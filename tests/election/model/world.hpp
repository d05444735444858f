// SPDX-License-Identifier: Apache-2.0
// Several election cores, one store, and an independent model of what each of them knows and may do.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../workqueue/model/random.hpp"
#include "election/election_core.hpp"

namespace evenkeel::model {

using namespace std::chrono_literals;
using Core = detail::ElectionCore;

constexpr Duration lease_duration = 15s;
constexpr Duration renew_deadline = 10s;
constexpr Duration retry_period = 2s;
constexpr std::int64_t most_transitions = 2'147'483'647;

/// An operation. Its numbers are taken modulo the number of choices, so any subsequence is valid as well.
struct Operation {
  enum class Kind : std::uint8_t {
    step,       ///< An instance performs the next step of its core.
    advance,    ///< Time advances.
    arrive,     ///< A request has its effect.
    answer,     ///< A response arrives; for a request that did not arrive yet, a failure.
    lose,       ///< A request or its response is lost.
    event,      ///< The next watch event.
    odd_event,  ///< Any watch event, repeated or too early.
    watching,   ///< The watch ends or begins.
    resign,
    restart,   ///< The process is killed and starts again; its requests remain in flight.
    calendar,  ///< The wall clock of an instance is set.
    remove,    ///< Another client deletes the Lease.
    edit,      ///< Another client writes into the Lease.
    label,     ///< Another client changes fields outside of the claim.
  };
  Kind kind = Kind::step;
  std::uint64_t who = 0;
  std::uint64_t what = 0;
};

inline std::string text_of(const Json& lease) {
  return "v" + lease.at({"metadata", "resourceVersion"}).string_or("?") + " " + lease["spec"].dump();
}

/// A Lease as an API server stores it.
class LeaseStore {
 public:
  enum class Answer : std::uint8_t { object, missing, conflict };
  struct Change {
    bool deleted = false;
    Json lease = {};
  };

  Answer judge(const Core::Request& request) const {
    if (request.ask != Core::Ask::create && !lease) return Answer::missing;
    if (request.ask == Core::Ask::create && lease) return Answer::conflict;
    if (request.ask == Core::Ask::update &&
        request.body.at({"metadata", "resourceVersion"}) != lease->at({"metadata", "resourceVersion"})) {
      return Answer::conflict;
    }
    return Answer::object;
  }
  Answer handle(const Core::Request& request, Json& object) {
    if (const Answer answer = judge(request); answer != Answer::object) return answer;
    if (request.ask != Core::Ask::get) store(request.body);
    object = *lease;
    return Answer::object;
  }
  void store(Json body) {
    body["metadata"]["resourceVersion"] = std::to_string(++version);
    lease = std::move(body);
    changes.push_back({false, *lease});
  }
  void remove() {
    Json last = *std::exchange(lease, std::nullopt);
    last["metadata"]["resourceVersion"] = std::to_string(++version);
    changes.push_back({true, std::move(last)});
  }

  std::optional<Json> lease = {};
  std::int64_t version = 8;  // about to get a second digit
  std::vector<Change> changes = {};
};

struct InFlight {
  Core::Request request = {};
  std::uint64_t epoch = 0;
  bool led = false;  ///< The sender was the leader when it was sent.
  bool arrived = false;
  LeaseStore::Answer answer = LeaseStore::Answer::missing;
  Json object = {};
};

/// The state that an instance knows from responses and events: the newest one counts.
struct Told {
  std::int64_t version = -1;
  bool deleted = false;
  bool missed = false;  ///< A later response reported that there is none.
  std::string holder = {};
  Json spec = {};
  TimePoint since{};  ///< First time at which its claim was known, by the instance's clock.
};

struct Instance {
  std::string identity = {};
  std::unique_ptr<Core> core = {};
  double rate = 1;
  Duration offset{};
  std::int64_t calendar = 1'800'000'000;
  std::uint64_t epoch = 0;
  bool watches = true;
  std::size_t next_event = 0;
  Told told = {};
  std::deque<InFlight> requests = {};
  bool led = false;            ///< At the last check.
  TimePoint valid_until = {};  ///< At the last check.
};

/// Performs operations, and records the first violation.
class World {
 public:
  explicit World(std::uint64_t seed);

  void apply(const Operation& operation);
  /// Ends all faults and continues until there must be a leader.
  void settle();
  const std::string& problem() const { return problem_; }
  const std::vector<std::string>& history() const { return history_; }

 private:
  void do_step(Instance& each);
  void do_request(const Operation& operation, Instance& each);
  void do_event(Instance& each, std::size_t index);
  void do_edit(const Operation& operation);
  void send(Instance& each, Core::Request request);
  void arrive(Instance& each, InFlight& flight);
  void answer(Instance& each, std::size_t index);
  void fail(Instance& each, std::size_t index);
  void restart(Instance& each);
  void tell(Instance& each, const Json& lease, bool deleted);
  void check_sent(const Instance& each, const Core::Request& request);
  void check_stored(const Instance& each, const InFlight& flight);
  void look(Instance& each);
  void look_at_all();
  void settle_once();
  void note(const std::string& text) {
    history_.push_back(std::to_string(now_.count() / 1'000'000) + " ms: " + text);
  }
  void violate(const std::string& text) {
    if (problem_.empty()) problem_ = std::to_string(now_.count() / 1'000'000) + " ms: " + text;
  }
  TimePoint local(const Instance& each) const {
    return TimePoint(each.offset + std::chrono::duration_cast<Duration>(now_ * each.rate));
  }
  WallTime wall(const Instance& each) const {
    return WallTime(std::chrono::seconds{each.calendar}) +
           std::chrono::duration_cast<WallTime::duration>(now_);
  }
  bool leads(const Instance& each) const {
    return each.core->term() && local(each) < each.core->term()->valid_until;
  }

  Random random_;  // for the settings; operations contain their own numbers
  LeaseStore store_;
  std::deque<Instance> instances_;
  Duration now_{};
  bool meddled_ = false;  // another client wrote into the Lease or deleted it
  std::int64_t last_term_ = -1;
  std::string problem_;
  std::vector<std::string> history_;
};

}  // namespace evenkeel::model
