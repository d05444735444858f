// SPDX-License-Identifier: Apache-2.0
// Reduces a failed sequence to the shortest and simplest form that still fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "operations.hpp"
#include "settings.hpp"

namespace evenkeel::model {

struct Case {
  Settings settings = {};
  Sequence sequence = {};
};

/// Removes chunks, then single operations, reduces numbers and simplifies options, and repeats until nothing
/// more can be removed. `fails` is called some hundred times.
class Shrinker {
 public:
  explicit Shrinker(std::function<bool(const Case&)> fails) : fails_(std::move(fails)) {}

  Case shrink(Case failing) const {
    for (bool changed = true; changed;) {
      changed = leave_out(failing);
      changed = rename_keys(failing) || changed;
      changed = lower_numbers(failing) || changed;
      changed = simplify(failing) || changed;
    }
    return failing;
  }

 private:
  // Replaces `failing` by `candidate` if that fails, too.
  bool take(Case& failing, Case candidate) const {
    if (!fails_(candidate)) return false;
    failing = std::move(candidate);
    return true;
  }

  bool leave_out(Case& failing) const {
    bool changed = false;
    for (std::size_t chunk = failing.sequence.size(); chunk > 0; chunk /= 2) {
      for (std::size_t from = 0; from < failing.sequence.size();) {
        Case candidate = failing;
        const std::size_t count = std::min(chunk, failing.sequence.size() - from);
        const auto first = candidate.sequence.begin() + static_cast<std::ptrdiff_t>(from);
        candidate.sequence.erase(first, first + static_cast<std::ptrdiff_t>(count));
        if (take(failing, std::move(candidate))) {
          changed = true;
        } else {
          from += chunk;
        }
      }
    }
    return changed;
  }

  // Renumbers a key to a lower number in all operations.
  bool rename_keys(Case& failing) const {
    bool changed = false;
    for (std::size_t from = failing.settings.keys; from-- > 0;) {
      bool renamed = false;
      for (std::size_t to = 0; to < from && !renamed; ++to) {
        Case candidate = failing;
        std::size_t count = 0;
        for (Operation& operation : candidate.sequence) {
          if (!has_key(operation.action) || operation.key != from) continue;
          operation.key = to;
          ++count;
        }
        renamed = count > 0 && take(failing, std::move(candidate));
        changed = changed || renamed;
      }
    }
    return changed;
  }

  bool lower_numbers(Case& failing) const {
    bool changed = false;
    for (std::size_t i = 0; i < failing.sequence.size(); ++i) {
      changed = lower(failing, i, &Operation::key, has_key) || changed;
      changed = lower(failing, i, &Operation::priority, has_priority) || changed;
      changed = lower(failing, i, &Operation::time, has_time) || changed;
    }
    return changed;
  }

  // Reduces a number towards zero: zero itself, one or minus one, half, and for small numbers one less.
  template <class Number>
  bool lower(Case& failing, std::size_t at, Number Operation::*member, bool (*has_it)(Action)) const {
    bool changed = false;
    if (!has_it(failing.sequence[at].action)) return false;
    for (;;) {
      const Number now = failing.sequence[at].*member;
      const Number one = static_cast<Number>(now > 0 ? 1 : -1);
      const Number candidates[] = {0, one, static_cast<Number>(now / 2),
                                   static_cast<Number>(now < Number{16} ? now - one : now)};
      bool lower = false;
      for (const Number candidate : candidates) {
        if (now == 0 || candidate == now || lower) continue;
        Case plainer = failing;
        plainer.sequence[at].*member = candidate;
        lower = take(failing, std::move(plainer));
      }
      if (!lower) return changed;
      changed = true;
    }
  }

  bool simplify(Case& failing) const {
    for (const Settings& plainer : simpler(failing)) {
      if (take(failing, {plainer, failing.sequence}))
        return true;  // the remaining candidates derive from the old settings
    }
    return false;
  }

  static std::vector<Settings> simpler(const Case& failing) {
    std::vector<Settings> candidates;
    const Settings& now = failing.settings;
    const auto propose = [&](auto change) {
      Settings settings = now;
      change(settings);
      candidates.push_back(settings);
    };
    if (now.kind != Kind::core_of_strings) propose([](Settings& to) { to.kind = Kind::core_of_strings; });
    if (now.kind == Kind::request_queue) propose([](Settings& to) { to.kind = Kind::work_queue; });
    if (now.store != StoreKind::fifo) propose([](Settings& to) { to.store = StoreKind::fifo; });
    if (now.store == StoreKind::policy_lane) propose([](Settings& to) { to.store = StoreKind::two_lane; });
    if (now.slow_share != 0) propose([](Settings& to) { to.slow_share = 0; });
    if (now.readd != Readd::at_back) propose([](Settings& to) { to.readd = Readd::at_back; });
    if (now.store == StoreKind::fair) {
      propose([](Settings& to) { to.store = StoreKind::priority; });
      if (now.fair.weights != FairSettings().weights)
        propose([](Settings& to) { to.fair.weights = {1, 1, 1}; });
      if (now.has_caps()) propose([](Settings& to) { to.fair.caps = {0, 0, 0}; });
      if (!now.fair.live_first) propose([](Settings& to) { to.fair.live_first = true; });
    }
    if (now.quiet != 0) propose([](Settings& to) { to.quiet = to.max_wait = 0; });
    if (now.quiet > 1) propose([](Settings& to) { --to.quiet; });
    if (now.max_wait > now.quiet) propose([](Settings& to) { --to.max_wait; });
    if (now.min_interval != 0) propose([](Settings& to) { to.min_interval = 0; });
    if (now.min_interval > 1) propose([](Settings& to) { --to.min_interval; });
    if (now.metered) propose([](Settings& to) { to.metered = false; });
    if (!now.charge_waiting) propose([](Settings& to) { to.charge_waiting = true; });
    if (now.limiter.kind == LimiterKind::both) {
      propose([](Settings& to) { to.limiter.kind = LimiterKind::exponential; });
      propose([](Settings& to) { to.limiter.kind = LimiterKind::bucket; });
    }
    std::size_t keys = 1;
    for (const Operation& operation : failing.sequence) keys = std::max(keys, operation.key + 1);
    if (keys < now.keys) propose([&](Settings& to) { to.keys = keys; });
    return candidates;
  }

  std::function<bool(const Case&)> fails_;
};

}  // namespace evenkeel::model
