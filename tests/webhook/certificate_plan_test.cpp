// SPDX-License-Identifier: Apache-2.0
// Decisions about shared certificates, in virtual time.
#include "webhook/certificate_plan.hpp"

#include <chrono>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::webhook_tests {
namespace plan {

using namespace std::chrono_literals;
using detail::certificate_backdate;
using detail::CertificatePlan;
using detail::CertificateState;
using detail::Lifetime;
using detail::plan_certificates;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const CertificateOptions options{};
constexpr WallTime start{std::chrono::hours{500000}};

WallTime at(Duration since) {
  return start + std::chrono::duration_cast<WallTime::duration>(since);
}
Lifetime made(Duration when, Duration validity) {
  return {at(when - certificate_backdate), at(when + validity)};
}
CertificateState fresh() {
  CertificateState state{.authorities = {made(0s, options.authority_validity)}, .can_sign = true};
  state.serving = CertificateState::Serving{made(0s, options.validity), true, 0};
  return state;
}

TEST(CertificatePlan, MakesBothWhenNothingIsThere) {
  const CertificatePlan plan = plan_certificates({}, options, start);
  EXPECT_TRUE(plan.make_authority);
  EXPECT_TRUE(plan.issue);
}

TEST(CertificatePlan, KeepsWhatIsGood) {
  EXPECT_TRUE(plan_certificates(fresh(), options, at(24h * 59)).empty());
}

TEST(CertificatePlan, RenewsTheServingCertificateAfterTwoThirds) {
  const CertificatePlan plan = plan_certificates(fresh(), options, at(24h * 61));
  EXPECT_TRUE(plan.issue);
  EXPECT_FALSE(plan.make_authority);
}

TEST(CertificatePlan, IssuesAtOnceForOtherNames) {
  CertificateState state = fresh();
  state.serving->names_match = false;
  EXPECT_TRUE(plan_certificates(state, options, at(1min)).issue);
}

TEST(CertificatePlan, TrustsANewAuthorityBeforeItSigns) {
  CertificateState state = fresh();
  state.can_sign = false;
  const CertificatePlan plan = plan_certificates(state, options, at(1h));
  EXPECT_TRUE(plan.make_authority);
  EXPECT_FALSE(plan.issue);

  state.can_sign = true;
  state.authorities.insert(state.authorities.begin(), made(1h, options.authority_validity));
  state.serving->signer = 1;
  EXPECT_TRUE(plan_certificates(state, options, at(1h + 4min)).empty());
  EXPECT_TRUE(plan_certificates(state, options, at(1h + 5min)).issue);
}

TEST(CertificatePlan, DoesNotWaitWithACertificateThatEnds) {
  CertificateState state = fresh();
  state.can_sign = false;
  const CertificatePlan plan = plan_certificates(state, options, at(options.validity - 4min));
  EXPECT_TRUE(plan.make_authority);
  EXPECT_TRUE(plan.issue);
}

TEST(CertificatePlan, KeepsAnOldAuthorityUntilItsLastCertificateHasEnded) {
  CertificateState state = fresh();
  state.authorities.insert(state.authorities.begin(), made(1h, options.authority_validity));
  state.serving = CertificateState::Serving{made(24h * 60, options.validity), true, 0};
  const Duration last = 1h + options.settle + options.validity;
  EXPECT_THAT(plan_certificates(state, options, at(last - 1s)).drop, IsEmpty());
  EXPECT_THAT(plan_certificates(state, options, at(last)).drop, ElementsAre(1U));
}

TEST(CertificatePlan, NeverDropsTheSignerOfTheServingCertificate) {
  CertificateState state = fresh();
  state.authorities.insert(state.authorities.begin(), made(1h, options.authority_validity));
  state.serving = CertificateState::Serving{made(24h * 60, options.validity), true, 1};
  const CertificatePlan plan = plan_certificates(state, options, at(24h * 100));
  EXPECT_THAT(plan.drop, IsEmpty());
  EXPECT_TRUE(plan.issue);
}

TEST(CertificatePlan, HoldsTheBundleOverEveryMomentOfTenYears) {
  // Replicas read at any time within check_period: what one serves must be signed by an authority that was
  // in the bundle a settle time ago and is in it a settle time later.
  CertificateState state;
  for (Duration now = 0s; now < options.authority_validity * 3; now += 6h) {
    const CertificatePlan plan = plan_certificates(state, options, at(now));
    for (auto drop = plan.drop.rbegin(); drop != plan.drop.rend(); ++drop)
      state.authorities.erase(state.authorities.begin() + static_cast<std::ptrdiff_t>(*drop));
    if (plan.make_authority) {
      state.authorities.insert(state.authorities.begin(), made(now, options.authority_validity));
      state.can_sign = true;
      if (state.serving) state.serving->signer = *state.serving->signer + 1;
    }
    if (plan.issue) {
      ASSERT_TRUE(!state.serving || !plan.make_authority) << "it signs before it is known";
      state.serving = CertificateState::Serving{made(now, options.validity), true, 0};
    }
    ASSERT_LT(*state.serving->signer, state.authorities.size());
    ASSERT_LT(at(now), state.serving->lifetime.end);
    ASSERT_LT(at(now), state.authorities[*state.serving->signer].end);
    ASSERT_LE(state.authorities.size(), 2U);
  }
}

TEST(CertificateOptions, RefuseDurationsThatContradictEachOther) {
  const auto problem = [](const CertificateOptions& wrong) -> std::string {
    try {
      detail::check_certificate_options(wrong);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.settle = 20s}),
            "CertificateOptions: settle of 20s is shorter than three times check_period of 10s");
  EXPECT_EQ(problem({.authority_validity = 24h * 100}),
            "CertificateOptions: authority_validity of 2400h0m0s is shorter than three times validity of "
            "2160h0m0s");
}

}  // namespace plan
}  // namespace evenkeel::webhook_tests
