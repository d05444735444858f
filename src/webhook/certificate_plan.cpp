// SPDX-License-Identifier: Apache-2.0
#include "webhook/certificate_plan.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <evenkeel/base/duration_text.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

WallTime after(WallTime time, Duration duration) {
  return time + std::chrono::duration_cast<WallTime::duration>(duration);
}

bool is_due(const Lifetime& lifetime, WallTime now) {
  return now >= lifetime.begin + (lifetime.end - lifetime.begin) * 2 / 3;
}

WallTime settled_at(const Lifetime& authority, const CertificateOptions& options) {
  return after(authority.begin, certificate_backdate + options.settle);
}

bool is_valid(const Lifetime& lifetime, WallTime now) {
  return lifetime.begin <= now && now < lifetime.end;
}

// An authority signs until the next one has settled; from then, its last certificate has one life left. The
// clock by which the next one was made may be behind that of the authority. Replicas whose clocks never agree
// may replace each other's authorities without end: then the oldest ones go before their time.
std::vector<std::size_t> needless(const CertificateState& state, const CertificateOptions& options,
                                  WallTime now) {
  constexpr std::size_t most = 8;
  std::vector<std::size_t> found;
  for (std::size_t at = 1; at < state.authorities.size(); ++at) {
    const Lifetime& authority = state.authorities[at];
    if (state.serving && state.serving->signer == at && now < authority.end) continue;
    WallTime replaced = settled_at(state.authorities[at - 1], options);
    if (authority.begin <= now) replaced = std::max(replaced, authority.begin);
    if (now >= after(replaced, options.validity) || now >= authority.end || at >= most) found.push_back(at);
  }
  return found;
}

bool must_make_authority(const CertificateState& state, WallTime now) {
  return state.authorities.empty() || !state.can_sign || now < state.authorities.front().begin ||
         is_due(state.authorities.front(), now);
}

bool must_issue(const CertificateState& state, const CertificateOptions& options, WallTime now,
                bool new_authority) {
  if (!state.serving || !state.serving->signer) return true;
  const CertificateState::Serving& serving = *state.serving;
  if (now < serving.lifetime.begin || now >= after(serving.lifetime.end, -options.settle)) return true;
  if (!is_valid(state.authorities[*serving.signer], now)) return true;
  const bool settled = !new_authority && now >= settled_at(state.authorities.front(), options);
  const bool of_old_authority = serving.signer != std::size_t{0};
  if (of_old_authority || new_authority) return settled;
  return is_due(serving.lifetime, now) || !serving.names_match;
}

}  // namespace

CertificatePlan plan_certificates(const CertificateState& state, const CertificateOptions& options,
                                  WallTime now) {
  CertificatePlan plan;
  plan.drop = needless(state, options, now);
  plan.make_authority = must_make_authority(state, now);
  plan.issue = must_issue(state, options, now, plan.make_authority);
  return plan;
}

void check_certificate_options(const CertificateOptions& options) {
  const auto check = [](bool good, const char* what, Duration value, const char* least, Duration limit) {
    if (good) return;
    throw std::invalid_argument(std::string("CertificateOptions: ") + what + " of " + format_duration(value) +
                                " is shorter than three times " + least + " of " + format_duration(limit));
  };
  if (options.check_period <= Duration::zero())
    throw std::invalid_argument("CertificateOptions: check_period is not positive");
  check(options.settle >= options.check_period * 3, "settle", options.settle, "check_period",
        options.check_period);
  check(options.validity >= options.settle * 3, "validity", options.validity, "settle", options.settle);
  check(options.authority_validity >= options.validity * 3, "authority_validity", options.authority_validity,
        "validity", options.validity);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
