// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/base/duration_text.hpp>

#include "apiserver/shell/fault_injector.hpp"
#include "apiserver/shell/status_answer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw std::invalid_argument("fault rule: " + problem);
}

constexpr std::string_view verbs[] = {"get",    "list",  "watch",  "create",
                                      "update", "patch", "delete", "deletecollection"};

constexpr std::size_t max_cut = std::size_t{1} << 40;

template <class Number>
Number number(std::string_view member, std::string_view text) {
  Number value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(std::string(member) + ": expected a number, found \"" + std::string(text) + "\"");
  return value;
}

Duration duration(std::string_view member, std::string_view text) {
  const std::optional<Duration> time = parse_duration(text);
  if (!time)
    refuse(std::string(member) + ": expected a time like 200ms, found \"" + std::string(text) + "\"");
  if (*time > std::chrono::hours{24}) refuse(std::string(member) + ": at most one day");
  return *time;
}

/// Parses one of a few words: chosen("drop", text, {{"before", ...}, {"after", ...}}).
template <class Value>
Value chosen(std::string_view member, std::string_view text,
             std::initializer_list<std::pair<std::string_view, Value>> values) {
  std::string known;
  for (const auto& [word, value] : values) {
    if (word == text) return value;
    known += (known.empty() ? "" : " or ") + std::string(word);
  }
  refuse(std::string(member) + ": expected " + known + ", found \"" + std::string(text) + "\"");
}

struct Member {
  std::string_view name;
  void (*set)(FaultRule& rule, std::string_view name, std::string_view value);
};

template <std::string FaultRule::*member>
void set_text(FaultRule& rule, std::string_view, std::string_view value) {
  rule.*member = value;
}
template <auto member>
void set_number(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.*member = number<std::decay_t<decltype(rule.*member)>>(name, value);
}
template <std::optional<std::size_t> FaultRule::*member>
void set_size(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.*member = number<std::size_t>(name, value);
}
template <auto member>
void set_duration(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.*member = duration(name, value);
}
void set_retry_after(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.retry_after = std::chrono::seconds(number<std::uint32_t>(name, value));
}
void set_drop(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.drop = chosen<FaultDrop>(name, value, {{"before", FaultDrop::before}, {"after", FaultDrop::after}});
}
void set_body(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.body = chosen<FaultBody>(
      name, value,
      {{"garbage", FaultBody::garbage}, {"html", FaultBody::html}, {"no-object", FaultBody::no_object}});
}
void set_ending(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.ending = chosen<FaultEnding>(name, value,
                                    {{"close", FaultEnding::close},
                                     {"reset", FaultEnding::reset},
                                     {"silence", FaultEnding::silence},
                                     {"complete", FaultEnding::complete}});
}
void set_bookmarks(FaultRule& rule, std::string_view name, std::string_view value) {
  rule.bookmarks = chosen<FaultBookmarks>(
      name, value, {{"initial", FaultBookmarks::initial}, {"none", FaultBookmarks::none}});
}

constexpr Member members[] = {
    {"verb", set_text<&FaultRule::verb>},
    {"resource", set_text<&FaultRule::resource>},
    {"namespace", set_text<&FaultRule::namespace_>},
    {"name", set_text<&FaultRule::name>},
    {"user", set_text<&FaultRule::user>},
    {"skip", set_number<&FaultRule::skip>},
    {"count", set_number<&FaultRule::count>},
    {"probability", set_number<&FaultRule::probability>},
    {"seed", set_number<&FaultRule::seed>},
    {"delay", set_duration<&FaultRule::delay>},
    {"status", set_number<&FaultRule::status>},
    {"reason", set_text<&FaultRule::reason>},
    {"message", set_text<&FaultRule::message>},
    {"retry-after", set_retry_after},
    {"drop", set_drop},
    {"body", set_body},
    {"cut-after", set_size<&FaultRule::cut_after>},
    {"cut-spread", set_number<&FaultRule::cut_spread>},
    {"cut-after-events", set_size<&FaultRule::cut_after_events>},
    {"cut-after-time", set_duration<&FaultRule::cut_after_time>},
    {"ending", set_ending},
    {"event-delay", set_duration<&FaultRule::event_delay>},
    {"bookmarks", set_bookmarks},
    {"lag", set_duration<&FaultRule::lag>},
    {"lag-versions", set_number<&FaultRule::lag_versions>},
};

void set_member(FaultRule& rule, std::string_view name, std::string_view value) {
  const Member* member = std::find_if(std::begin(members), std::end(members),
                                      [name](const Member& known) { return known.name == name; });
  if (member == std::end(members)) refuse("unknown member \"" + std::string(name) + "\"");
  member->set(rule, name, value);
}

// Compares "deployments.apps/status" with group apps, resource deployments, subresource status.
bool matches_resource(std::string_view wanted, const RequestTarget& target) {
  if (wanted.empty()) return true;
  if (wanted == "*") return !target.resource.empty();
  const std::size_t slash = std::min(wanted.find('/'), wanted.size());
  const std::string_view subresource = slash < wanted.size() ? wanted.substr(slash + 1) : std::string_view();
  const std::string_view main = wanted.substr(0, slash);
  const std::size_t dot = std::min(main.find('.'), main.size());
  if (main.substr(0, dot) != target.resource || subresource != target.subresource) return false;
  return dot == main.size() || main.substr(dot + 1) == target.group;
}

bool cuts(const FaultRule& rule) {
  return rule.cut_after || rule.cut_after_events || rule.cut_after_time;
}
bool lags(const FaultRule& rule) {
  return rule.lag != Duration::zero() || rule.lag_versions != 0;
}
/// Returns true if the rule contains a fault that only watches can have.
bool wants_watch(const FaultRule& rule) {
  return rule.cut_after_events || rule.cut_after_time || rule.event_delay != Duration::zero() ||
         rule.bookmarks != FaultBookmarks::all || rule.body == FaultBody::no_object;
}

bool matches(const FaultRule& rule, const RequestTarget& target, std::string_view user) {
  if (wants_watch(rule) && target.verb != "watch") return false;
  if (lags(rule) && !target.cached) return false;
  return (rule.verb.empty() || rule.verb == target.verb) && matches_resource(rule.resource, target) &&
         (rule.namespace_.empty() || rule.namespace_ == target.namespace_) &&
         (rule.name.empty() || rule.name == target.name) && (rule.user.empty() || rule.user == user);
}

void check_bounds(const FaultRule& rule) {
  if (!rule.verb.empty() && std::find(std::begin(verbs), std::end(verbs), rule.verb) == std::end(verbs))
    refuse("verb: unknown verb \"" + rule.verb + "\"");
  if (!(rule.probability >= 0.0 && rule.probability <= 1.0)) refuse("probability: must be between 0 and 1");
  if (rule.status != 0 && (rule.status < 400 || rule.status > 599)) refuse("status: must be 400 to 599");
  if (rule.delay < Duration::zero()) refuse("delay: must not be negative");
  if (rule.event_delay < Duration::zero()) refuse("event_delay: must not be negative");
  if (rule.lag < Duration::zero()) refuse("lag: must not be negative");
  if (rule.cut_after_time.value_or(Duration::zero()) < Duration::zero())
    refuse("cut_after_time: must not be negative");
  if (rule.cut_spread > max_cut || rule.cut_after.value_or(0) > max_cut)
    refuse("cut_after, cut_spread: at most 2^40 bytes");
}

void check_verb(const FaultRule& rule) {
  if (rule.verb.empty()) return;
  if (wants_watch(rule) && rule.verb != "watch") refuse("verb: what the rule does needs a watch");
  if (lags(rule) && rule.verb != "watch" && rule.verb != "get" && rule.verb != "list")
    refuse("verb: a lag is for get, list and watch");
}

void check_together(const FaultRule& rule) {
  const bool drops = rule.drop != FaultDrop::never;
  const bool views =
      lags(rule) || rule.event_delay != Duration::zero() || rule.bookmarks != FaultBookmarks::all;
  if (rule.cut_spread > 0 && !rule.cut_after) refuse("cut_spread: needs cut_after");
  if (rule.retry_after && rule.status == 0) refuse("retry_after: needs status");
  if (drops && (rule.status != 0 || rule.body != FaultBody::usual || cuts(rule)))
    refuse("drop: goes with neither status, body nor a cut");
  if (rule.status != 0 && rule.body != FaultBody::usual) refuse("body: does not go with status");
  if (rule.ending && !drops && !cuts(rule)) refuse("ending: needs drop or a cut");
  if (rule.ending == FaultEnding::complete && drops) refuse("ending: a drop cannot be complete");
  if (views && (drops || (rule.status != 0 && !cuts(rule))))
    refuse("lag, event_delay, bookmarks: need an answer to show in");
  if (rule.delay == Duration::zero() && rule.status == 0 && rule.body == FaultBody::usual && !drops &&
      !cuts(rule) && !views)
    refuse("does nothing: set delay, status, drop, body, a cut, event_delay, bookmarks or a lag");
}

/// Returns bytes that are neither JSON nor UTF-8, in one line.
std::string garbage_of(std::mt19937_64& random) {
  std::string out = "\xfe";
  while (out.size() < 64) {
    const char byte = static_cast<char>(random() & 0xff);
    if (byte != '\n') out += byte;
  }
  return out;
}

}  // namespace

void check(const FaultRule& rule) {
  check_bounds(rule);
  check_verb(rule);
  check_together(rule);
}

FaultRule parse_fault_rule(std::string_view text) {
  FaultRule rule;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, comma);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos)
      refuse("expected member=value, found \"" + std::string(pair) + "\"");
    set_member(rule, pair.substr(0, equals), pair.substr(equals + 1));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  check(rule);
  return rule;
}

http::Response fault_answer(const FaultRule& rule) {
  return status_answer(rule.status, rule.reason,
                       rule.message.empty() ? "injected by a fault rule" : rule.message, rule.retry_after);
}

FaultId FaultInjector::add(FaultRule rule) {
  check(rule);
  Entry entry{.id = next_, .rule = std::move(rule)};
  entry.random.seed(entry.rule.seed);
  rules_.push_back(std::move(entry));
  return next_++;
}

void FaultInjector::remove(FaultId id) {
  const auto at =
      std::find_if(rules_.begin(), rules_.end(), [id](const Entry& entry) { return entry.id == id; });
  if (at == rules_.end()) return;
  retired_.push_back(std::move(*at));
  rules_.erase(at);
}

void FaultInjector::clear() {
  for (Entry& entry : rules_) retired_.push_back(std::move(entry));
  rules_.clear();
}

FaultCounts FaultInjector::counts(FaultId id) const {
  for (const auto* list : {&rules_, &retired_}) {
    for (const Entry& entry : *list) {
      if (entry.id == id) return {.matched = entry.matched, .fired = entry.fired};
    }
  }
  return {};
}

FaultPlan FaultInjector::plan(const RequestTarget& target, std::string_view user) {
  for (Entry& entry : rules_) {
    if (!matches(entry.rule, target, user)) continue;
    ++entry.matched;
    if (takes(entry)) return plan_of(entry, target);
  }
  return {};
}

bool FaultInjector::takes(Entry& entry) {
  const FaultRule& rule = entry.rule;
  if (entry.matched <= rule.skip) return false;
  if (rule.count != 0 && entry.fired + entry.reserved >= rule.count) return false;
  // 53 bits make a double in [0, 1) that is equal in all standard libraries.
  return static_cast<double>(entry.random() >> 11) * 0x1p-53 < rule.probability;
}

FaultPlan FaultInjector::plan_of(Entry& entry, const RequestTarget& target) {
  const FaultRule& rule = entry.rule;
  FaultPlan plan{.rule = entry.id,
                 .delay = rule.delay,
                 .drop = rule.drop,
                 .body = rule.body,
                 .cut_after = rule.cut_after,
                 .cut_after_events = rule.cut_after_events,
                 .cut_after_time = rule.cut_after_time,
                 .bookmarks = rule.bookmarks,
                 .lag = {.time = rule.lag, .versions = rule.lag_versions, .events = rule.event_delay},
                 .watch = target.verb == "watch"};
  if (rule.status != 0) plan.answer = fault_answer(rule);
  if (rule.body == FaultBody::garbage) plan.garbage = garbage_of(entry.random);
  if (plan.cut_after && rule.cut_spread > 0) {
    const std::uint64_t draw = entry.random();
    *plan.cut_after += static_cast<std::size_t>(draw % (std::uint64_t{rule.cut_spread} + 1));
  }
  plan.ending = rule.ending.value_or(plan.speaks() ? FaultEnding::complete : FaultEnding::close);
  plan.at_once = plan.watch && !plan.cuts() && plan.speaks();
  ++(plan.cuts() ? entry.reserved : entry.fired);
  return plan;
}

void FaultInjector::on_fired(const FaultPlan& plan) {
  if (Entry* entry = plan.cuts() ? find(plan.rule) : nullptr) {
    --entry->reserved;
    ++entry->fired;
  }
}

void FaultInjector::on_not_fired(const FaultPlan& plan) {
  if (Entry* entry = plan.cuts() ? find(plan.rule) : nullptr) --entry->reserved;
}

FaultInjector::Entry* FaultInjector::find(FaultId id) {
  for (auto* list : {&rules_, &retired_}) {
    for (Entry& entry : *list) {
      if (entry.id == id) return &entry;
    }
  }
  return nullptr;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
