// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

namespace evenkeel::model {
namespace {

std::int64_t version_of(const Json& lease) {
  return std::stoll(lease.at({"metadata", "resourceVersion"}).as_string());
}
std::string holder_of(const Json& lease) {
  return lease["spec"]["holderIdentity"].string_or("");
}
std::int64_t transitions_of(const Json& lease) {
  return std::max<std::int64_t>(lease["spec"]["leaseTransitions"].integer_or(0), 0);
}
Duration duration_of(const Json& spec) {
  return std::chrono::seconds{std::max<std::int64_t>(spec["leaseDurationSeconds"].integer_or(0), 0)};
}

std::string text_of(const Core::Request& request) {
  const char* const names[] = {"get", "create", "update"};
  const std::string name = names[static_cast<int>(request.ask)];
  const std::string id = " #" + std::to_string(request.id);
  return request.ask == Core::Ask::get ? name + id : name + id + " " + model::text_of(request.body);
}

}  // namespace

World::World(std::uint64_t seed) : random_(seed) {
  const std::size_t count = 2 + random_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    Instance each;
    each.identity = std::string(1, static_cast<char>('a' + i));
    each.rate = 0.92 + 0.01 * static_cast<double>(random_.below(17));
    each.offset = std::chrono::hours(1 + random_.below(1000));
    instances_.push_back(std::move(each));
    restart(instances_.back());
  }
}

void World::restart(Instance& each) {
  each.core = std::make_unique<Core>(detail::ElectionCoreOptions{.namespace_ = "ns",
                                                                 .name = "op",
                                                                 .identity = each.identity,
                                                                 .lease_duration = lease_duration,
                                                                 .renew_deadline = renew_deadline,
                                                                 .retry_period = retry_period,
                                                                 .release = !random_.once_in(8),
                                                                 .seed = random_.next()});
  ++each.epoch;
  each.told = {};
  each.led = false;
  each.watches = true;
  each.next_event = store_.changes.empty() ? 0 : store_.changes.size() - 1;
}

void World::apply(const Operation& operation) {
  using Kind = Operation::Kind;
  Instance& each = instances_[operation.who % instances_.size()];
  switch (operation.kind) {
    case Kind::step:
      do_step(each);
      break;
    case Kind::advance: {
      const Duration steps[] = {1ms, 20ms, 500ms, 1s, 2s, 5s, 9s, 20s};
      now_ += steps[operation.what % 8];
      break;
    }
    case Kind::arrive:
    case Kind::answer:
    case Kind::lose:
      do_request(operation, each);
      break;
    case Kind::event:
      if (each.next_event < store_.changes.size()) do_event(each, each.next_event++);
      break;
    case Kind::odd_event:
      if (!store_.changes.empty()) do_event(each, operation.what % store_.changes.size());
      break;
    case Kind::watching:
      each.watches = operation.what % 2 == 0;
      each.core->on_watching(each.watches);
      break;
    case Kind::resign:
      note(each.identity + " resigns");
      each.core->resign(local(each));
      break;
    case Kind::restart:
      note(each.identity + " starts again");
      restart(each);
      break;
    case Kind::calendar:
      each.calendar += operation.what % 2 == 0 ? 86'400 : -86'400;
      break;
    case Kind::remove:
      if (!store_.lease) break;
      note("somebody deletes " + model::text_of(*store_.lease));
      meddled_ = true;
      store_.remove();
      break;
    case Kind::edit:
    case Kind::label:
      do_edit(operation);
      break;
  }
  look_at_all();
}

void World::do_step(Instance& each) {
  if (each.core->end()) restart(each);
  // At most one request: next_step() must not send one request after the other.
  for (int requests = 0;; ++requests) {
    Core::Step step = each.core->next_step(local(each), wall(each));
    if (!step.request) return;
    if (requests > 20) return violate(each.identity + " sends request after request");
    send(each, std::move(*step.request));
    look(each);
  }
}

void World::send(Instance& each, Core::Request request) {
  note(each.identity + (leads(each) ? ", leading, sends " : " sends ") + text_of(request));
  if (request.ask != Core::Ask::get) check_sent(each, request);
  each.requests.push_back({.request = std::move(request), .epoch = each.epoch, .led = leads(each)});
}

// A candidate claims only a Lease that is free as far as it knows, and frees one only if its claim took it
// after it resigned; a leader writes only into its own.
void World::check_sent(const Instance& each, const Core::Request& request) {
  const Told& told = each.told;
  const std::string who = each.identity + ": ";
  if (each.core->end()) violate(who + "writes after the end of its candidacy");
  if (request.ask == Core::Ask::update) {
    if (version_of(request.body) != told.version || told.deleted) {
      return violate(who + "decides on another Lease than the newest that it was told of");
    }
  } else if (!told.deleted && !told.missed) {
    return violate(who + "makes a Lease although it was told of one");
  }
  if (leads(each)) return;
  if (holder_of(request.body) != each.identity) {
    if (!each.core->is_resigning()) violate(who + "frees a Lease without leading");
    if (told.holder != each.identity) violate(who + "frees a Lease that it does not hold");
    return;
  }
  if (each.core->is_resigning()) violate(who + "claims a Lease after it resigned");
  const bool is_foreign = !told.holder.empty() && told.holder != each.identity;
  if (is_foreign && local(each) < told.since + duration_of(told.spec)) {
    violate(who + "claims a Lease that " + told.holder + " holds for another while");
  }
}

void World::do_request(const Operation& operation, Instance& each) {
  if (each.requests.empty()) return;
  const std::size_t index = operation.what % each.requests.size();
  InFlight& flight = each.requests[index];
  if (operation.kind == Operation::Kind::arrive) {
    if (!flight.arrived) arrive(each, flight);
  } else if (operation.kind == Operation::Kind::answer && flight.arrived) {
    answer(each, index);
  } else {
    fail(each, index);
  }
}

void World::arrive(Instance& each, InFlight& flight) {
  check_stored(each, flight);
  flight.arrived = true;
  flight.answer = store_.handle(flight.request, flight.object);
  const char* const names[] = {" is done", " finds no Lease", " meets a conflict"};
  note(each.identity + "'s #" + std::to_string(flight.request.id) + names[static_cast<int>(flight.answer)] +
       (flight.answer == LeaseStore::Answer::object ? ": " + model::text_of(flight.object) : ""));
}

// Checks a write before it is stored: the previous holder, the writer's leadership, and increasing terms.
void World::check_stored(const Instance& each, const InFlight& flight) {
  if (flight.request.ask == Core::Ask::get) return;
  if (store_.judge(flight.request) != LeaseStore::Answer::object) return;
  const Json& after = flight.request.body;
  const std::string who = each.identity + ": ";
  const std::string holder = holder_of(after);
  if (holder != each.identity && !holder.empty()) violate(who + "writes another holder than itself");
  const std::int64_t term = transitions_of(after);
  if (term > most_transitions) violate(who + "writes a leaseTransitions that no server takes");
  if (!store_.lease) return;
  const Json& before = *store_.lease;
  const bool held = holder_of(before) == each.identity;
  const bool into_its_own = flight.led || holder.empty();
  if (into_its_own && !held) violate(who + "overwrites a Lease of " + holder_of(before) + " as if it led");
  if (!into_its_own && term != transitions_of(before) + 1) {
    violate(who + "takes the Lease with term " + std::to_string(term) + " after " +
            std::to_string(transitions_of(before)));
  }
  if (into_its_own && term < transitions_of(before)) violate(who + "takes the term back");
  if (before["spec"] == after["spec"]) violate(who + "renews without a change that others see");
}

void World::answer(Instance& each, std::size_t index) {
  const InFlight flight = std::move(each.requests[index]);
  each.requests.erase(each.requests.begin() + static_cast<std::ptrdiff_t>(index));
  if (flight.epoch != each.epoch) return;  // its process has ended
  note(each.identity + " is answered #" + std::to_string(flight.request.id));
  const std::uint64_t id = flight.request.id;
  switch (flight.answer) {
    case LeaseStore::Answer::object:
      tell(each, flight.object, false);
      return each.core->on_answered(id, flight.object, local(each));
    case LeaseStore::Answer::missing:
      each.told.missed = true;
      return each.core->on_missing(id, local(each));
    case LeaseStore::Answer::conflict:
      return each.core->on_conflict(id, local(each));
  }
}

void World::fail(Instance& each, std::size_t index) {
  const InFlight flight = std::move(each.requests[index]);
  each.requests.erase(each.requests.begin() + static_cast<std::ptrdiff_t>(index));
  if (flight.epoch != each.epoch) return;
  note(each.identity + "'s #" + std::to_string(flight.request.id) + " fails");
  each.core->on_failure(flight.request.id, local(each));
}

void World::do_event(Instance& each, std::size_t index) {
  if (!each.watches) return;
  const LeaseStore::Change& change = store_.changes[index];
  note(each.identity + " sees " + (change.deleted ? "the deletion of " : "") + model::text_of(change.lease));
  tell(each, change.lease, change.deleted);
  each.core->on_watching(true);
  if (change.deleted) {
    each.core->on_deleted(change.lease, local(each));
  } else {
    each.core->on_event(change.lease, local(each));
  }
}

void World::tell(Instance& each, const Json& lease, bool deleted) {
  const std::int64_t version = version_of(lease);
  Told& told = each.told;
  if (version <= told.version) return;
  const bool same = !told.deleted && told.version >= 0 && told.spec == lease["spec"];
  const TimePoint since = same ? told.since : local(each);
  told = {.version = version,
          .deleted = deleted,
          .missed = false,
          .holder = holder_of(lease),
          .spec = lease["spec"],
          .since = since};
}

void World::do_edit(const Operation& operation) {
  if (!store_.lease) return;
  Json lease = *store_.lease;
  if (operation.kind == Operation::Kind::label) {
    lease["metadata"]["labels"]["l"] = std::to_string(operation.what);
  } else {
    meddled_ = true;
    Json& spec = lease["spec"];
    const std::uint64_t number = operation.what / 8;
    switch (operation.what % 8) {
      case 0:
        spec["holderIdentity"] = "stranger";
        break;
      case 1:
        spec["holderIdentity"] = "";
        break;
      case 2:
        spec["holderIdentity"] = instances_[number % instances_.size()].identity;
        break;
      case 3:
        spec["leaseTransitions"] = static_cast<std::int64_t>(number % 40);
        break;
      case 4:
        spec["leaseTransitions"] = most_transitions - static_cast<std::int64_t>(number % 3);
        break;
      case 5:
        spec["leaseDurationSeconds"] = static_cast<std::int64_t>(number % 40);
        break;
      case 6:
        spec["renewTime"] = nullptr;
        break;
      default:
        lease["spec"] = Json::object();
    }
  }
  store_.store(std::move(lease));
  note("somebody writes " + model::text_of(*store_.lease));
}

// ---- Invariants after every operation

void World::look_at_all() {
  int leaders = 0;
  for (Instance& each : instances_) {
    look(each);
    // A leader that has resigned writes nothing but the release, after which another one may lead.
    if (leads(each) && !each.core->is_resigning()) ++leaders;
  }
  if (leaders > 1 && !meddled_) violate("two lead at the same time");
}

void World::look(Instance& each) {
  const bool leads_now = leads(each);
  const bool begins = leads_now && !each.led;
  const bool is_longer = leads_now && each.led && each.core->term()->valid_until > each.valid_until;
  const std::string who = each.identity + ": ";
  if (leads_now && each.told.holder != each.identity) {
    violate(who + "leads although it was told of a newer holder \"" + each.told.holder + "\"");
  }
  if ((begins || is_longer) && each.told.deleted) {
    violate(who + "takes a claim for good whose Lease it knows to be deleted");
  }
  if (begins) {
    const auto term = static_cast<std::int64_t>(each.core->term()->number);
    note(each.identity + " leads, term " + std::to_string(term));
    if (!meddled_ && term <= last_term_) violate(who + "leads in a term that is not greater than the last");
    last_term_ = std::max(last_term_, term);
  }
  if (each.led && !leads_now) note(each.identity + " leads no more");
  each.led = leads_now;
  if (leads_now) each.valid_until = each.core->term()->valid_until;
}

// ---- After the faults

void World::settle() {
  for (Instance& each : instances_) {
    while (!each.requests.empty()) fail(each, each.requests.size() - 1);
    each.watches = true;
    each.core->on_watching(true);
  }
  // A counter at its limit blocks the instances until it is reset.
  if (store_.lease && transitions_of(*store_.lease) == most_transitions) {
    Json mended = *store_.lease;
    mended["spec"]["leaseTransitions"] = 1;
    store_.store(std::move(mended));
  }
  for (const Duration end = now_ + 120s; now_ < end && problem_.empty(); now_ += 500ms) settle_once();
  const auto leaders = std::count_if(instances_.begin(), instances_.end(),
                                     [this](const Instance& each) { return leads(each); });
  if (leaders != 1) return violate(std::to_string(leaders) + " lead two minutes after the last fault");
  for (const Instance& each : instances_) {
    if (leads(each) && holder_of(*store_.lease) != each.identity) violate("the store names another holder");
  }
}

void World::settle_once() {
  for (Instance& each : instances_) {
    while (each.next_event < store_.changes.size()) do_event(each, each.next_event++);
    do_step(each);
    while (!each.requests.empty()) {
      arrive(each, each.requests.front());
      answer(each, 0);
    }
  }
  look_at_all();
}

}  // namespace evenkeel::model
