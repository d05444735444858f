// SPDX-License-Identifier: Apache-2.0
#include "programs/coordctl/gates.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/coordination/sets.hpp>

namespace evenkeel::program {
namespace {

namespace co = coordination;

/// Seconds are precise enough for people; tenths if there are few seconds.
std::string length_text(Duration length) {
  using Tenths = std::chrono::duration<std::int64_t, std::deci>;
  const Duration least = std::max(length, Duration::zero());
  if (least < std::chrono::seconds{10}) return format_duration(std::chrono::round<Tenths>(least));
  return format_duration(std::chrono::round<std::chrono::seconds>(least));
}

std::string count_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " unit" : " units");
}

std::string blockers_text(const co::Blocked& blocked) {
  std::string text;
  for (const auto& [scope, count] : blocked.not_ready) {
    text += (text.empty() ? "" : ", ") + scope + " (" + std::to_string(count) + " not ready)";
  }
  return text.empty() ? blocked.why : text;
}

std::string outcome_text(const co::View& view, const co::Verdict& verdict, TimePoint now) {
  if (view.claim && view.claim->record.state == co::ClaimState::executing) {
    return view.claim->record.owner.scope + " is executing claim " + std::to_string(view.claim->record.epoch);
  }
  if (const co::Proceed* go = verdict.proceed()) return "open for " + count_text(go->units);
  if (const co::WaitUntil* wait = verdict.wait()) {
    return "quiet window, " + length_text(wait->until - now) + " left";
  }
  if (const co::Blocked* blocked = verdict.blocked()) return "waits for " + blockers_text(*blocked);
  return "nothing to do";
}

}  // namespace

std::string gate_line(const co::View& view, const co::Verdict& verdict, TimePoint now) {
  std::string text = view.action + ": " + outcome_text(view, verdict, now);
  for (const co::LeftOut& out : verdict.left_out) text += "; without " + out.scope + ": " + out.why;
  return text;
}

std::vector<std::string> actions_of(const std::vector<std::string>& sets) {
  constexpr std::string_view ready = "readyFor";
  std::vector<std::string> actions;
  for (const std::string& set : sets) {
    if (!set.starts_with(ready) || set.size() == ready.size()) continue;
    std::string action = set.substr(ready.size());
    action.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(action.front())));
    actions.push_back(std::move(action));
  }
  return actions;
}

Gates::Gates(co::Layout layout, Duration quiet_window, co::LivenessOptions liveness)
    : layout_(std::move(layout)), quiet_window_(quiet_window), viewer_(layout_, liveness) {}

std::vector<std::string> Gates::lines(co::StoreSnapshot& snapshot, const std::vector<std::string>& actions,
                                      TimePoint now) {
  std::vector<std::string> lines;
  for (const std::string& action : actions) {
    const co::View view = viewer_.view(co::read_view(snapshot, layout_, action, cache_), now);
    if (view.pending.empty()) continue;
    const co::ActionPolicy policy{.action = action, .quiet_window = quiet_window_};
    lines.push_back(gate_line(view, evaluate(view, policy, {}, now), now));
  }
  return lines;
}

}  // namespace evenkeel::program
