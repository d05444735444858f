// SPDX-License-Identifier: Apache-2.0
// Builders of views for tests of decisions: members by text and age.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/coordination/gate.hpp>

namespace evenkeel::coordination {

inline constexpr TimePoint kNow{std::chrono::hours{1000}};

/// Returns "dc1/storage-1" as a member since `age`, with the part of its unit before '-' as kind.
struct Aged {
  std::string_view name;
  Duration age = std::chrono::minutes{1};
  Version since = 1;
};

inline Member member_of(const Aged& one) {
  const auto slash = one.name.find('/');
  const std::string unit(one.name.substr(slash + 1));
  return {.ref = {std::string(one.name.substr(0, slash)), unit},
          .kind = unit.substr(0, unit.find('-')),
          .since = one.since,
          .seen = kNow - one.age};
}

inline Instance instance_of(std::string scope, Mode mode = Mode::global, Presence presence = Presence::live,
                            Duration unchanged = std::chrono::seconds{5}) {
  Instance one;
  one.record = {.instance = "uid-" + scope, .incarnation = "run-1", .mode = mode};
  one.scope = std::move(scope);
  one.version = 1;
  one.presence = presence;
  one.unchanged = unchanged;
  return one;
}

/// Returns a view of the action "restart" with the live scopes dc1, dc2 and dc3.
inline View view_of(const std::vector<Aged>& pending, const std::vector<Aged>& ready) {
  View view;
  view.action = "restart";
  view.version = 10;
  view.silence = std::chrono::seconds{60};
  for (const Aged& one : pending) view.pending.push_back(member_of(one));
  for (const Aged& one : ready) view.ready.push_back(member_of(one));
  std::ranges::sort(view.pending, {}, &Member::ref);
  std::ranges::sort(view.ready, {}, &Member::ref);
  for (const char* scope : {"dc1", "dc2", "dc3"}) view.instances.push_back(instance_of(scope));
  return view;
}

/// Formats targets: "dc1/storage-1 dc2/log-1".
inline std::string names_of(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& one : targets) text += (text.empty() ? "" : " ") + one.ref.scope + "/" + one.ref.unit;
  return text;
}

}  // namespace evenkeel::coordination
