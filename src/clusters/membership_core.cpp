// SPDX-License-Identifier: Apache-2.0
#include "clusters/membership_core.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

MembershipCore::Entry* MembershipCore::changed(std::string_view name) {
  const auto found = clusters_.find(name);
  if (found == clusters_.end()) return nullptr;
  changed_.emplace(name);
  return &found->second;
}

bool MembershipCore::is_current(const Entry& entry) {
  return is_wanted(entry) && entry.offers.front().provider == entry.provider &&
         entry.offers.front().description.version == entry.version;
}

bool MembershipCore::on_offered(std::string_view provider, ClusterDescription description) {
  if (stopping_) return true;
  Entry& entry = clusters_[description.name];
  changed_.insert(description.name);
  const auto known = std::find_if(entry.offers.begin(), entry.offers.end(),
                                  [&](const Offer& offer) { return offer.provider == provider; });
  if (known != entry.offers.end()) {
    known->description = std::move(description);
  } else {
    entry.offers.push_back({std::string(provider), std::move(description)});
  }
  return entry.offers.front().provider == provider;
}

void MembershipCore::on_withdrawn(std::string_view provider, std::string_view name) {
  Entry* const entry = changed(name);
  if (entry == nullptr) return;
  std::erase_if(entry->offers, [&](const Offer& offer) { return offer.provider == provider; });
}

void MembershipCore::on_failed(std::string_view name) {
  if (Entry* const entry = changed(name); entry != nullptr && entry->phase == Phase::engaged)
    entry->phase = Phase::failed;
}

void MembershipCore::on_overflow(std::string_view name) {
  if (Entry* const entry = changed(name); entry != nullptr && entry->phase == Phase::engaged)
    entry->overflowed = true;
}

void MembershipCore::on_drained(std::string_view name) {
  if (Entry* const entry = changed(name); entry != nullptr && entry->phase == Phase::leaving)
    entry->drained = true;
}

void MembershipCore::on_retired(std::string_view name) {
  if (Entry* const entry = changed(name); entry != nullptr && entry->retiring) {
    entry->phase = entry->overflowed ? Phase::failed : Phase::absent;
    entry->overflowed = false;
    entry->retiring = false;
    entry->drained = false;
  }
}

void MembershipCore::stop() {
  stopping_ = true;
  for (auto& [name, entry] : clusters_) {
    entry.offers.clear();
    changed_.insert(name);
  }
}

std::optional<MembershipCore::Step> MembershipCore::step_of(const std::string& name, Entry& entry) {
  switch (entry.phase) {
    case Phase::absent:
    case Phase::failed: {
      if (!is_wanted(entry) || (entry.phase == Phase::failed && is_current(entry))) return std::nullopt;
      const Offer& offer = entry.offers.front();
      entry.phase = Phase::engaged;
      entry.version = offer.description.version;
      entry.provider = offer.provider;
      return Step{.kind = StepKind::engage, .name = name, .description = offer.description};
    }
    case Phase::engaged:
      if (is_current(entry) && !entry.overflowed) return std::nullopt;
      entry.phase = Phase::leaving;
      return Step{.kind = StepKind::leave, .name = name};
    case Phase::leaving:
      if (!entry.drained || entry.retiring) return std::nullopt;
      entry.retiring = true;
      return Step{.kind = StepKind::retire, .name = name};
  }
  return std::nullopt;
}

std::optional<MembershipCore::Step> MembershipCore::next_step() {
  while (!changed_.empty()) {
    const std::string name = std::move(changed_.extract(changed_.begin()).value());
    const auto found = clusters_.find(name);
    if (found == clusters_.end()) continue;
    if (auto step = step_of(name, found->second)) return step;
    const bool over = found->second.phase == Phase::absent || found->second.phase == Phase::failed;
    if (over && !is_wanted(found->second)) clusters_.erase(found);
  }
  return std::nullopt;
}

MembershipCore::Phase MembershipCore::phase(std::string_view name) const {
  const auto found = clusters_.find(name);
  return found == clusters_.end() ? Phase::absent : found->second.phase;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
