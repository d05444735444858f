// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/testing/faults.hpp>

#include "testing/fault_injector.hpp"
#include "testing/status_answer.hpp"

namespace evenkeel::inline v0::testing {
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
  constexpr std::pair<std::string_view, double> units[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  for (const auto& [unit, length] : units) {
    if (text.substr(digits) != unit) continue;
    const double total = number<double>(member, text.substr(0, digits)) * length;
    if (total > 86400e9) refuse(std::string(member) + ": at most one day");
    return Duration(static_cast<Duration::rep>(total));
  }
  refuse(std::string(member) + ": expected a time like 200ms, found \"" + std::string(text) + "\"");
}

FaultDrop drop(std::string_view text) {
  if (text == "before") return FaultDrop::before;
  if (text == "after") return FaultDrop::after;
  refuse("drop: expected before or after, found \"" + std::string(text) + "\"");
}

void set_member(FaultRule& rule, std::string_view member, std::string_view value) {
  if (member == "verb") {
    rule.verb = value;
  } else if (member == "resource") {
    rule.resource = value;
  } else if (member == "namespace") {
    rule.namespace_ = value;
  } else if (member == "name") {
    rule.name = value;
  } else if (member == "user") {
    rule.user = value;
  } else if (member == "skip") {
    rule.skip = number<std::size_t>(member, value);
  } else if (member == "count") {
    rule.count = number<std::size_t>(member, value);
  } else if (member == "probability") {
    rule.probability = number<double>(member, value);
  } else if (member == "seed") {
    rule.seed = number<std::uint64_t>(member, value);
  } else if (member == "delay") {
    rule.delay = duration(member, value);
  } else if (member == "status") {
    rule.status = number<int>(member, value);
  } else if (member == "reason") {
    rule.reason = value;
  } else if (member == "message") {
    rule.message = value;
  } else if (member == "retry-after") {
    rule.retry_after = std::chrono::seconds(number<std::uint32_t>(member, value));
  } else if (member == "drop") {
    rule.drop = drop(value);
  } else if (member == "cut-after") {
    rule.cut_after = number<std::size_t>(member, value);
  } else if (member == "cut-spread") {
    rule.cut_spread = number<std::size_t>(member, value);
  } else {
    refuse("unknown member \"" + std::string(member) + "\"");
  }
}

// "deployments.apps/status" against group apps, resource deployments, subresource status.
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

bool matches(const FaultRule& rule, const RequestTarget& target, std::string_view user) {
  return (rule.verb.empty() || rule.verb == target.verb) && matches_resource(rule.resource, target) &&
         (rule.namespace_.empty() || rule.namespace_ == target.namespace_) &&
         (rule.name.empty() || rule.name == target.name) && (rule.user.empty() || rule.user == user);
}

}  // namespace

void check(const FaultRule& rule) {
  if (!rule.verb.empty() && std::find(std::begin(verbs), std::end(verbs), rule.verb) == std::end(verbs))
    refuse("verb: unknown verb \"" + rule.verb + "\"");
  if (!(rule.probability >= 0.0 && rule.probability <= 1.0)) refuse("probability: must be between 0 and 1");
  if (rule.status != 0 && (rule.status < 400 || rule.status > 599)) refuse("status: must be 400 to 599");
  if (rule.delay < Duration::zero()) refuse("delay: must not be negative");
  if (rule.cut_spread > 0 && !rule.cut_after) refuse("cut_spread: needs cut_after");
  if (rule.cut_spread > max_cut || rule.cut_after.value_or(0) > max_cut)
    refuse("cut_after, cut_spread: at most 2^40 bytes");
  if (rule.retry_after && rule.status == 0) refuse("retry_after: needs status");
  if (rule.drop != FaultDrop::never && (rule.status != 0 || rule.cut_after))
    refuse("drop: goes with neither status nor cut_after");
  if (rule.delay == Duration::zero() && rule.status == 0 && rule.drop == FaultDrop::never && !rule.cut_after)
    refuse("does nothing: set delay, status, drop or cut_after");
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
    if (takes(entry)) return plan_of(entry);
  }
  return {};
}

bool FaultInjector::takes(Entry& entry) {
  const FaultRule& rule = entry.rule;
  if (entry.matched <= rule.skip) return false;
  if (rule.count != 0 && entry.fired + entry.reserved >= rule.count) return false;
  // 53 bits make a double in [0, 1) that is the same with every standard library.
  return static_cast<double>(entry.random() >> 11) * 0x1p-53 < rule.probability;
}

FaultPlan FaultInjector::plan_of(Entry& entry) {
  const FaultRule& rule = entry.rule;
  FaultPlan plan{.rule = entry.id, .delay = rule.delay, .drop = rule.drop, .cut_after = rule.cut_after};
  if (rule.status != 0) plan.answer = fault_answer(rule);
  if (plan.cut_after && rule.cut_spread > 0) {
    const std::uint64_t draw = entry.random();
    *plan.cut_after += static_cast<std::size_t>(draw % (std::uint64_t{rule.cut_spread} + 1));
  }
  ++(plan.cut_after ? entry.reserved : entry.fired);
  return plan;
}

void FaultInjector::fired(const FaultPlan& plan) {
  if (Entry* entry = plan.cut_after ? find(plan.rule) : nullptr) {
    --entry->reserved;
    ++entry->fired;
  }
}

void FaultInjector::spared(const FaultPlan& plan) {
  if (Entry* entry = plan.cut_after ? find(plan.rule) : nullptr) --entry->reserved;
}

FaultInjector::Entry* FaultInjector::find(FaultId id) {
  for (auto* list : {&rules_, &retired_}) {
    for (Entry& entry : *list) {
      if (entry.id == id) return &entry;
    }
  }
  return nullptr;
}

}  // namespace evenkeel::inline v0::testing
