// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/max_of.hpp>
#include <evenkeel/ratelimit/parse.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

static_assert(LimiterRule<LimiterText, std::string>);

// Returns the delays after `failures` failures of one key, each at the time at which its delay ended.
std::vector<Duration> delays(AnyLimiter<std::string> limiter, int failures) {
  std::vector<Duration> said;
  TimePoint now{};
  for (int i = 0; i < failures; ++i) {
    said.push_back(limiter.when("key", now));
    now += said.back();
  }
  return said;
}

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_limiter<int>(text));
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "accepted";
}

TEST(ParseLimiter, MakesWhatTheFunctionsOfTheSameNamesMake) {
  const std::vector<std::pair<const char*, AnyLimiter<std::string>>> rows{
      {"exponential(5ms, 1000s)", exponential(5ms, 1000s)},
      {"exponential(1.5ms, 1h2m)", exponential(1500us, 62min)},
      {"fast_slow(5ms, 10s, 3)", fast_slow(5ms, 10s, 3)},
      {"fast_slow(0, 10s, -1)", fast_slow(0ms, 10s, -1)},
      {"token_bucket(10, 2)", token_bucket(10, 2)},
      {"token_bucket(0.5, 1)", token_bucket(0.5, 1)},
      {"token_bucket(10, 1m, 2)", token_bucket(10, 1min, 2)},
      {"max_of(exponential(5ms, 1000s), token_bucket(10, 2))",
       max_of(exponential(5ms, 1000s), token_bucket(10, 2))},
      {"max_of(fast_slow(5ms, 3s, 3))", fast_slow(5ms, 3s, 3)},
      {"with_max_delay(default(), 60s)", with_max_delay(default_limiter<std::string>(), 60s)},
      {"with_jitter(exponential(5ms, 1000s), 0.5, 7)", with_jitter(exponential(5ms, 1000s), 0.5, 7)},
      {"with_jitter(exponential(5ms, 1000s), 1)", with_jitter(exponential(5ms, 1000s), 1)},
      {"default()", default_limiter<std::string>()},
      {"default", default_limiter<std::string>()},
  };
  for (const auto& [text, made] : rows) {
    EXPECT_EQ(delays(parse_limiter<std::string>(text), 25), delays(made, 25)) << text;
  }
}

TEST(ParseLimiter, ChargesForgetsAndCountsThroughEveryPart) {
  auto limiter =
      parse_limiter<std::string>("max_of(token_bucket(10, 1), fast_slow(5ms, 3s, 3), exponential(1ms, 1s))");
  EXPECT_EQ(limiter.when("one", {}), 5ms);
  EXPECT_EQ(limiter.when("two", {}), 100ms);  // one token for both keys
  EXPECT_EQ(limiter.when("one", {}), 200ms);
  EXPECT_EQ(limiter.when("one", {}), 300ms);
  EXPECT_EQ(limiter.when("one", {}), 3s);
  EXPECT_EQ(limiter.retries("one"), 4U);
  EXPECT_EQ(limiter.retries("two"), 1U);
  limiter.forget("one");
  EXPECT_EQ(limiter.retries("one"), 0U);
}

TEST(ParseLimiter, TakesManyParts) {
  std::string text = "max_of(exponential(1ms, 1s)";
  for (int i = 2; i <= 500; ++i) text += ", exponential(" + std::to_string(i) + "ms, 1s)";
  auto limiter = parse_limiter<int>(text + ")");
  EXPECT_EQ(limiter.when(1, {}), 500ms);
  EXPECT_EQ(limiter.when(1, {}), 1s);
  auto copy = limiter;
  EXPECT_EQ(copy.retries(1), 2U);
}

TEST(ParseLimiter, IsARuleThatComposesWithOthers) {
  AnyLimiter<int> limiter = max_of(LimiterText("exponential(5ms, 1s)"), token_bucket(10, 1));
  EXPECT_EQ(limiter.when(1, {}), 5ms);
  EXPECT_EQ(limiter.when(2, {}), 100ms);
}

TEST(ParseLimiter, PrintsWhatItReadWithTidySpaces) {
  EXPECT_EQ(LimiterText(" max_of (exponential( 5ms,1000s ),\n\ttoken_bucket(10 , 100) ) ").text(),
            "max_of(exponential(5ms, 1000s), token_bucket(10, 100))");
  EXPECT_EQ(LimiterText("default").text(), "default()");
  EXPECT_EQ(LimiterText("with_jitter(fast_slow(1m30s,1h,3),0.50)").text(),
            "with_jitter(fast_slow(1m30s, 1h, 3), 0.50)");
}

TEST(ParseLimiter, ErrorsHaveThePositionAndTheProblem) {
  const std::string sum = "exponential(base_delay, max_delay)";
  const std::string bucket = "token_bucket(per_second, burst) or token_bucket(tokens, per, burst)";
  const std::string all =
      "exponential, fast_slow, token_bucket, max_of, with_max_delay, with_jitter or default";
  const std::vector<std::pair<std::string_view, std::string>> rows{
      {"", "1: found the end, expected " + all},
      {"   ", "4: found the end, expected " + all},
      {"5ms", "1: found \"5ms\", expected " + all},
      {"constant(5ms)", "1: found \"constant\", expected " + all},
      {"expnential(5ms, 1s)", "1: found \"expnential\", expected a limiter; did you mean exponential?"},
      {"max_of(bucket(1, 1))", "8: found \"bucket\", expected a limiter; did you mean token_bucket?"},
      {"Max-Of(default())", "1: found \"Max-Of\", expected a limiter; did you mean max_of?"},
      {"with_jiter(default(), 1)", "1: found \"with_jiter\", expected a limiter; did you mean with_jitter?"},
      {"exponential", "12: found the end, expected \"(\" as in " + sum},
      {"exponential)", "12: found \")\", expected \"(\" as in " + sum},
      {"exponential(10, 1000s)",
       "13: found \"10\", expected a duration such as 5ms or 1m30s (base_delay of " + sum + ")"},
      {"exponential(5ms)",
       "16: found \")\", expected \",\" and a duration such as 5ms or 1m30s (max_delay of " + sum + ")"},
      {"exponential(5ms 1s)",
       "17: found \"1s\", expected \",\" and a duration such as 5ms or 1m30s (max_delay of " + sum + ")"},
      {"exponential(5ms, 1s, 3)", "20: found \",\", expected \")\" as in " + sum},
      {"exponential(5ms, 1s", "20: found the end, expected \")\" as in " + sum},
      {"exponential(5ms, )",
       "18: found \")\", expected a duration such as 5ms or 1m30s (max_delay of " + sum + ")"},
      {"exponential(default(), 1s)",
       "13: found \"default\", expected a duration such as 5ms or 1m30s (base_delay "
       "of " +
           sum + ")"},
      {"exponential(2s, 1s)", "1: exponential: need 0 < base_delay <= max_delay"},
      {"max_of(default(), token_bucket(0, 1))", "19: token_bucket: need 1e-9 <= per_second <= 1e9"},
      {"token_bucket(-inf, 1)", "1: token_bucket: need 1e-9 <= per_second <= 1e9"},
      {"token_bucket(10)", "16: found \")\", expected \",\" and a whole number (burst of " + bucket + ")"},
      {"token_bucket(10, 1s)", "18: found \"1s\", expected a whole number (burst of " + bucket + ")"},
      {"token_bucket(10, 100.5)", "18: found \"100.5\", expected a whole number (burst of " + bucket + ")"},
      {"token_bucket(10/s, 100)", "14: found \"10/s\", expected a number (per_second of " + bucket + ")"},
      {"token_bucket(10, 1, 1)",
       "18: found \"1\", expected a duration such as 5ms or 1m30s (per of " + bucket + ")"},
      {"token_bucket(10, 99999999999999999999)",
       "18: found \"99999999999999999999\", expected a whole number "
       "(burst of " +
           bucket + ")"},
      {"max_of()", "8: found \")\", expected " + all},
      {"max_of(default(),)", "18: found \")\", expected " + all},
      {"max_of(5ms)", "8: found \"5ms\", expected " + all},
      {"with_max_delay(default(), -1s)", "1: with_max_delay: need max_delay >= 0"},
      {"with_jitter(default(), 2000)", "1: with_jitter: need 0 <= factor <= 1000"},
      {"default(5ms)", "9: found \"5ms\", expected \")\" as in default()"},
      {"default() default()", "11: found \"default\", expected the end"},
      {"default()\x01\xff", "10: found \"\\x01\\xff\", expected the end"},
  };
  for (const auto& [text, what] : rows) {
    EXPECT_EQ(refusal(text), "limiter, column " + what) << text;
  }
}

TEST(ParseLimiter, RefusesNestingThatWouldFillTheStack) {
  std::string text;
  for (int i = 0; i < 16; ++i) text += "max_of(";
  EXPECT_EQ(refusal(text + "default" + std::string(16, ')')),
            "limiter, column 113: found \"default\", expected at most 16 limiters inside each other");
  EXPECT_EQ(refusal(text.substr(7) + "default" + std::string(15, ')')), "accepted");
  for (int i = 0; i < 100'000; ++i) text += "max_of(";
  EXPECT_NE(refusal(text).find("at most 16 limiters"), std::string::npos);
}

// Returns fragments that are likely to be parsed far, in any order, with arbitrary bytes in between.
std::string garbage(std::mt19937_64& random) {
  static const std::vector<std::string> pieces{"exponential",
                                               "fast_slow",
                                               "token_bucket",
                                               "max_of",
                                               "with_max_delay",
                                               "with_jitter",
                                               "default",
                                               "(",
                                               "(",
                                               ")",
                                               ")",
                                               ",",
                                               ", ",
                                               " ",
                                               "5ms",
                                               "1000s",
                                               "1m30s",
                                               "10",
                                               "100",
                                               "0.5",
                                               "-1",
                                               "default()",
                                               "exponential(5ms, 1s)"};
  std::string text;
  for (auto count = random() % 12; count > 0; --count) {
    if (random() % 16 == 0)
      text += static_cast<char>(random());
    else
      text += pieces[random() % pieces.size()];
  }
  return text;
}

TEST(ParseLimiter, TakesOrRefusesWhateverItIsGiven) {
  constexpr std::uint64_t seed = 41;
  std::mt19937_64 random(seed);
  int taken = 0;
  for (int round = 0; round < 30'000; ++round) {
    const std::string text = garbage(random);
    try {
      const LimiterText read(text);
      ++taken;
      ASSERT_EQ(LimiterText(read.text()).text(), read.text()) << text;
      ASSERT_GE(read.limiter<int>().when(1, {}), 0s) << text;
    } catch (const std::invalid_argument& refused) {
      const std::string what = refused.what();
      ASSERT_TRUE(what.starts_with("limiter, column ")) << text << ": " << what;
      ASSERT_LT(what.size(), 300U) << what;
      for (const char letter : what) ASSERT_TRUE(letter >= 0x20 && letter < 0x7f) << text;
    }
  }
  EXPECT_GT(taken, 100);  // ensures that the loop covers both cases
}

// A valid composition with one byte changed, one removed or the rest cut off.
TEST(ParseLimiter, SurvivesEverySingleMistake) {
  const std::string right =
      "with_jitter(with_max_delay(max_of(fast_slow(5ms, 10s, 3), token_bucket(10, 1m, 100)), 1h), 0.1, 7)";
  ASSERT_EQ(LimiterText(right).text(), right);
  const auto is_answered = [](const std::string& text) {
    const std::string what = refusal(text);
    return what == "accepted" || what.starts_with("limiter, column ");
  };
  for (std::size_t at = 0; at < right.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string wrong = right;
      wrong[at] = static_cast<char>(byte);
      EXPECT_TRUE(is_answered(wrong)) << wrong;
    }
    std::string shorter = right;
    shorter.erase(at, 1);
    EXPECT_TRUE(is_answered(shorter)) << shorter;
    EXPECT_NE(refusal(right.substr(0, at)), "accepted") << at;
  }
}

}  // namespace
}  // namespace evenkeel
