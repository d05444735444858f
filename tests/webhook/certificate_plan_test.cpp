// SPDX-License-Identifier: Apache-2.0
// Decisions about shared certificates, in virtual time.
#include "webhook/certificate_plan.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <vector>

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

// ---- Clocks that differ

TEST(CertificatePlan, AnAuthorityOfTheFutureDoesNotSignAndIsReplacedAtOnce) {
  CertificateState state = fresh();
  state.authorities[0] = made(1h, options.authority_validity);  // by a replica whose clock was ahead
  state.serving = CertificateState::Serving{made(0s, options.validity), true, 0};
  const CertificatePlan plan = plan_certificates(state, options, at(0s));
  EXPECT_TRUE(plan.make_authority);
  EXPECT_TRUE(plan.issue) << "nobody accepts what the other one has signed";
  EXPECT_THAT(plan.drop, IsEmpty()) << "it may be this clock that is wrong: others may serve below it";
}

TEST(CertificatePlan, AClockThatIsBehindByLessThanTheBackdateIsNoReason) {
  EXPECT_TRUE(plan_certificates(fresh(), options, at(-certificate_backdate)).empty());
  EXPECT_FALSE(plan_certificates(fresh(), options, at(-certificate_backdate - 1s)).empty());
}

TEST(CertificatePlan, AnAuthorityOfTheFutureIsDroppedWhenWhatItReplacedHasEnded) {
  CertificateState state = fresh();
  state.authorities.push_back(made(24h * 365 * 8, options.authority_validity));
  EXPECT_THAT(plan_certificates(state, options, at(options.settle + options.validity)).drop, ElementsAre(1U));
}

TEST(CertificatePlan, IssuesAtOnceIfTheSignerHasEnded) {
  CertificateState state = fresh();
  state.authorities.push_back({at(-48h), at(1h)});
  state.serving->signer = 1;
  EXPECT_FALSE(plan_certificates(state, options, at(59min)).drop.size() > 0);
  EXPECT_TRUE(plan_certificates(state, options, at(1h)).issue);
}

/// A Secret whose replicas have clocks that differ, and an API server whose clock is right.
class Clocks {
 public:
  explicit Clocks(std::vector<Duration> offsets) {
    for (const Duration offset : offsets) replicas_.push_back({.offset = offset});
  }
  /// Lets a replica read the Secret, write it, inject the bundle and serve.
  void refresh(std::size_t number) {
    Replica& replica = replicas_[number];
    const Duration clock = now_ + replica.offset;
    CertificateState state{.can_sign = !bundle_.empty()};
    for (const Authority& each : bundle_) state.authorities.push_back(each.lifetime);
    if (serving_) {
      state.serving = CertificateState::Serving{serving_->lifetime, true, std::nullopt};
      for (std::size_t at = 0; at < bundle_.size(); ++at) {
        if (bundle_[at].id == serving_->signer) state.serving->signer = at;
      }
    }
    const CertificatePlan plan = plan_certificates(state, options, at(clock));
    for (auto drop = plan.drop.rbegin(); drop != plan.drop.rend(); ++drop)
      bundle_.erase(bundle_.begin() + static_cast<std::ptrdiff_t>(*drop));
    if (plan.make_authority)
      bundle_.insert(bundle_.begin(), {made(clock, options.authority_validity), ++last_id_});
    if (plan.issue) {
      Lifetime lifetime = made(clock, options.validity);
      lifetime.end = std::min(lifetime.end, bundle_.front().lifetime.end);
      serving_ = Serving{lifetime, bundle_.front().id};
    }
    if (!plan.empty()) ++writes_;
    replica.serving = serving_;
  }
  /// Returns true if the API server accepts the certificate of each replica whose clock is right.
  bool right_ones_are_accepted() const {
    return std::all_of(replicas_.begin(), replicas_.end(), [this](const Replica& each) {
      return each.offset != 0s || !each.serving || accepts(*each.serving);
    });
  }
  void pass(Duration time) { now_ += time; }
  std::size_t authorities() const { return bundle_.size(); }
  std::size_t writes() const { return writes_; }

 private:
  struct Authority {
    Lifetime lifetime;
    int id;
  };
  struct Serving {
    Lifetime lifetime;
    int signer;
  };
  struct Replica {
    Duration offset;
    std::optional<Serving> serving = {};
  };
  bool accepts(const Serving& serving) const {
    const auto valid = [this](const Lifetime& one) { return one.begin <= at(now_) && at(now_) < one.end; };
    return valid(serving.lifetime) && std::any_of(bundle_.begin(), bundle_.end(), [&](const Authority& each) {
             return each.id == serving.signer && valid(each.lifetime);
           });
  }

  std::vector<Replica> replicas_;
  std::vector<Authority> bundle_;
  std::optional<Serving> serving_;
  Duration now_{};
  int last_id_ = 0;
  std::size_t writes_ = 0;
};

// The order is that of the numbers of the replicas, and its reverse.
TEST(CertificatePlan, ReplicasWhoseClocksAreRightAreAcceptedWhateverTheOthersShow) {
  constexpr Duration year = 24h * 365;
  for (const Duration wrong : {Duration(1h), Duration(-1h), Duration(24h * 61), Duration(-24h * 61), 8 * year,
                               -8 * year, -30 * year}) {
    for (const bool right_first : {true, false}) {
      Clocks world(right_first ? std::vector<Duration>{0s, 0s, wrong} : std::vector<Duration>{wrong, 0s, 0s});
      for (int round = 0; round < 200; ++round) {
        for (std::size_t number = 0; number < 3; ++number) {
          world.refresh(number);
          ASSERT_TRUE(world.right_ones_are_accepted()) << "round " << round << ", replica " << number
                                                       << ", a clock is wrong by " << wrong / 1h << " h";
          ASSERT_LE(world.authorities(), 9U);
        }
        world.pass(round < 100 ? Duration(10s) : Duration(24h));
      }
    }
  }
}

TEST(CertificatePlan, ReplicasThatDifferByAnHourAgreeAfterOneExchange) {
  for (const std::vector<Duration>& offsets :
       {std::vector<Duration>{1h, 0s}, {0s, 1h}, {0s, -1h}, {-1h, 0s}}) {
    Clocks world(offsets);
    for (int round = 0; round < 1000; ++round) {
      for (std::size_t number = 0; number < 2; ++number) world.refresh(number);
      world.pass(10s);
    }
    EXPECT_LE(world.writes(), 2U);
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
