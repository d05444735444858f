// SPDX-License-Identifier: Apache-2.0
// Arbitrary Leases, and campaigns: the input is a list of operations on a candidate. Responses come late,
// twice or never; Leases are broken, deleted and written by others.
#include <algorithm>
#include <vector>

#include "election/election_core.hpp"
#include "election/lease_record.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

using Core = detail::ElectionCore;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Campaign {
 public:
  explicit Campaign(Reader& reader)
      : reader_(reader),
        core_({.namespace_ = "ns",
               .name = "op",
               .identity = "me",
               .lease_duration = seconds(15),
               .renew_deadline = seconds(10),
               .retry_period = seconds(2),
               .release = reader.below(2) == 0}) {}

  void run() {
    for (int i = 0; i < 300 && !reader_.done() && !core_.end(); ++i) step();
  }

 private:
  void step() {
    switch (reader_.below(10)) {
      case 0:
      case 1:
        return ask();
      case 2:
        return store();
      case 3:
        now_ += milliseconds(100 * reader_.byte());
        return;
      case 4:
        return write_as_other();
      case 5:
        return core_.on_event(lease_, now_);
      case 6:
        return remove();
      case 7:
        return fail();
      case 8:
        return core_.on_watching(reader_.below(2) == 0);
      default:
        if (reader_.below(4) == 0) core_.resign(now_);
        if (reader_.below(8) == 0) lease_ = broken();
    }
  }

  void ask() {
    Core::Step step = core_.next_step(now_, WallTime(seconds(1'800'000'000)));
    check(step.request || step.next_due > now_ || core_.end(),
          "a candidate does not ask to be asked at once");
    const auto& term = core_.term();
    if (term) {
      check(now_ < term->valid_until, "a term that is over has ended");
      // Until it has recreated a deleted Lease there is no holder; candidates that knew it respect the term.
      check(core_.holder() == "me" || core_.holder().empty(), "a leader takes nobody else for the holder");
    }
    if (step.request) requests_.push_back(*std::move(step.request));
  }

  /// Processes a request as a server; the response is lost, late or repeated.
  void store() {
    if (requests_.empty()) return;
    const Core::Request request = requests_[reader_.below(requests_.size())];
    const std::string version = lease_.at({"metadata", "resourceVersion"}).string_or("");
    const bool exists = !lease_.is_null();
    if (request.ask == Core::Ask::create
            ? exists
            : request.ask == Core::Ask::update && exists &&
                  request.body.at({"metadata", "resourceVersion"}) != Json(version))
      return core_.on_conflict(request.id, now_);
    if (request.ask != Core::Ask::create && !exists) return core_.on_missing(request.id, now_);
    if (request.ask != Core::Ask::get) put(request.body);
    if (reader_.below(8) != 0) core_.on_answered(request.id, lease_, now_);
  }

  void fail() {
    if (!requests_.empty()) core_.on_failure(requests_[reader_.below(requests_.size())].id, now_);
  }

  void put(Json lease) {
    lease["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease_ = std::move(lease);
  }

  void write_as_other() {
    put(Json::object(
        {{"metadata", Json::object({{"name", "op"}, {"namespace", "ns"}})},
         {"spec", Json::object({{"holderIdentity", reader_.below(4) == 0 ? "" : "other"},
                                {"leaseDurationSeconds", static_cast<std::int64_t>(reader_.byte()) - 1},
                                {"leaseTransitions", transitions()}})}}));
  }
  std::int64_t transitions() {
    static constexpr std::int64_t known[] = {0, 1, -1, 2'147'483'646, 2'147'483'647, INT64_MAX, INT64_MIN};
    return known[reader_.below(std::size(known))];
  }

  void remove() {
    const Json last = lease_;
    lease_ = Json();
    seen_deleted(core_, last);
  }
  template <class C>
  void seen_deleted(C& core, const Json& last) {
    if constexpr (requires { core.on_deleted(last, now_); })
      core.on_deleted(last, now_);
    else
      core.on_deleted(last);
  }

  Json broken() {
    try {
      return Json::parse(reader_.until('\n'));
    } catch (const DecodeError&) {
      return Json::object({{"spec", "none"}});
    }
  }

  Reader& reader_;
  Core core_;
  TimePoint now_ = TimePoint(seconds(1000));
  Json lease_ = {};
  std::uint64_t version_ = 10;
  std::vector<Core::Request> requests_ = {};
};

}  // namespace

void election(std::string_view input) {
  try {
    const detail::LeaseRecord record = detail::LeaseRecord::read(Json::parse(input));
    check(record.duration >= Duration::zero(), "a claim does not last less than nothing");
    static_cast<void>(detail::is_newer(record.version, record.holder));
  } catch (const DecodeError&) {
    // Then it is only a list of operations.
  }
  Reader reader(input);
  Campaign(reader).run();
}

}  // namespace evenkeel::fuzz
