// SPDX-License-Identifier: Apache-2.0
// Flags of the program, in addition to those of ek::run().
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/evenkeel.hpp>

#include "manager/flags.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Mode : std::uint8_t { careful, quick };

struct Chosen {
  std::string image = "nginx:1.27";
  bool gate = false;
  bool cautious = true;
  int level = -3;
  std::uint16_t port = 8443;
  double share = 0.5;
  Duration every = 90s;
  std::vector<std::string> zones = {"a", "b"};
  Mode mode = Mode::careful;
  std::string colour = "none";
};

FlagSet flags_of(Chosen& chosen) {
  FlagSet flags;
  flags.add("--default-image", chosen.image, "Image of Demos that name none")
      .add("--feature-gate", chosen.gate, "Try what is new")
      .add("--cautious", chosen.cautious, "Ask twice")
      .add("--level", chosen.level, "Of detail")
      .add("--webhook-port", chosen.port, "Where webhooks listen")
      .add("--share", chosen.share, "Of the cluster")
      .add("--every", chosen.every, "Between two looks")
      .add("--zone", chosen.zones, "A zone, several times for several", "ZONE")
      .add("--mode", chosen.mode, {{"careful", Mode::careful}, {"quick", Mode::quick}}, "How to go about it")
      .add("--colour",
           [&chosen](std::string_view text) {
             if (text == "octarine") throw std::invalid_argument("\"octarine\" cannot be seen");
             chosen.colour = text;
           },
           "Of the logo", {.value = "COLOUR", .default_text = "none"});
  return flags;
}

detail::FlagsOutcome parse(const RunOptions& program, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/bin/demo-operator");
  return detail::parse_flags(static_cast<int>(arguments.size()), arguments.data(), program);
}

TEST(FlagSet, CopiesAreSetsOfTheirOwn) {
  bool one = false;
  bool two = false;
  FlagSet flags;
  EXPECT_TRUE(flags.all().empty());
  flags.add("--one", one, "The first");
  FlagSet copy = flags;
  copy.add("--two", two, "The second");
  EXPECT_EQ(flags.all().size(), 1U);
  ASSERT_EQ(copy.all().size(), 2U);
  EXPECT_EQ(copy.all()[1].name, "--two");
  static_assert(std::is_nothrow_copy_constructible_v<FlagSet>, "see FlagSet's member");
}

class OwnFlags : public ::testing::Test {
 protected:
  detail::FlagsOutcome parse(std::vector<const char*> arguments) {
    return evenkeel::parse({.name = "demo-operator", .flags = flags_of(chosen)}, std::move(arguments));
  }
  Chosen chosen;
};

TEST_F(OwnFlags, KeepTheirDefaultsUnlessGiven) {
  EXPECT_FALSE(parse({"--workers", "2"}).exit_code);
  EXPECT_EQ(chosen.image, "nginx:1.27");
  EXPECT_TRUE(chosen.cautious);
  EXPECT_THAT(chosen.zones, ElementsAre("a", "b"));
}

TEST_F(OwnFlags, AreReadBesideThoseOfTheLibrary) {
  const auto outcome =
      parse({"--default-image", "httpd:2.4", "--workers=3", "--feature-gate", "--cautious=false",
             "--level=-7", "--webhook-port", "9443", "--share", "0.25", "--every=1h30m", "--zone", "x",
             "--zone=y", "--mode", "quick", "--colour", "red"});
  ASSERT_FALSE(outcome.exit_code) << outcome.text;
  EXPECT_EQ(outcome.flags.settings.defaults.workers, 3U);
  EXPECT_EQ(chosen.image, "httpd:2.4");
  EXPECT_TRUE(chosen.gate);
  EXPECT_FALSE(chosen.cautious);
  EXPECT_EQ(chosen.level, -7);
  EXPECT_EQ(chosen.port, 9443);
  EXPECT_EQ(chosen.share, 0.25);
  EXPECT_EQ(chosen.every, 90min);
  EXPECT_THAT(chosen.zones, ElementsAre("x", "y"));
  EXPECT_EQ(chosen.mode, Mode::quick);
  EXPECT_EQ(chosen.colour, "red");
}

TEST_F(OwnFlags, StandInHelpUnderAHeadingOfTheirOwnWithTheirDefaults) {
  const std::string help = parse({"--help"}).text;
  const std::size_t heading = help.find("Flags of demo-operator:");
  ASSERT_NE(heading, std::string::npos) << help;
  EXPECT_LT(help.find("--workers"), heading);
  const std::string own = help.substr(heading);
  for (const char* line :
       {"--default-image TEXT", "Image of Demos that name none (default: nginx:1.27)",
        "Try what is new (default: false)", "Ask twice (default: true)", "--level NUMBER",
        "Of detail (default: -3)", "Where webhooks listen (default: 8443)", "Of the cluster (default: 0.5)",
        "--every DURATION", "Between two looks (default: 1m30s)", "--zone ZONE",
        "A zone, several times for several (default: a, b)", "--mode WORD",
        "How to go about it (default: careful)", "--colour COLOUR", "Of the logo (default: none)"}) {
    EXPECT_THAT(own, HasSubstr(line));
  }
  for (const char* once : {"TEXT ...", "NUMBER ...", "DURATION ...", "WORD ...", "COLOUR ..."})
    EXPECT_THAT(own, Not(HasSubstr(once)));
  EXPECT_THAT(own, HasSubstr("--zone ZONE ..."));
}

TEST_F(OwnFlags, AWrongValueEndsWithTwoAndNamesTheFlag) {
  const std::pair<std::vector<const char*>, std::string> all[] = {
      {{"--level", "high"}, "--level: \"high\" is not a number from -2147483648 to 2147483647"},
      {{"--webhook-port", "65536"}, "--webhook-port: \"65536\" is not a number from 0 to 65535"},
      {{"--webhook-port=-1"}, "--webhook-port: \"-1\" is not a number from 0 to 65535"},
      {{"--share", "half"}, "--share: \"half\" is not a number"},
      {{"--share", "inf"}, "--share: \"inf\" is not a number"},
      {{"--mode", "slow"}, "--mode: \"slow\" is none of careful, quick"},
      {{"--colour", "octarine"}, "--colour: \"octarine\" cannot be seen"},
      {{"--every", "-1s"}, "--every: "},
      {{"--level", "1", "--level", "2"}, "--level: was given twice"},
  };
  for (const auto& [arguments, says] : all) {
    const auto outcome = parse(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << says;
    EXPECT_THAT(outcome.text, AllOf(::testing::StartsWith("demo-operator: " + says),
                                    ::testing::EndsWith("\nSee demo-operator --help.\n")));
  }
}

TEST_F(OwnFlags, AMisspeltFlagIsNamedWithTheOneThatIsNear) {
  const std::pair<std::vector<const char*>, std::string> all[] = {
      {{"--defaultimage", "foo"}, "--defaultimage: there is no such flag; did you mean --default-image?"},
      {{"--worker=3"}, "--worker: there is no such flag; did you mean --workers?"},
      {{"--workers", "2", "--log-levle", "debug", "--zoon", "x"},
       "--log-levle: there is no such flag; did you mean --log-level?"},
      {{"--nothing-like-it"}, "--nothing-like-it: there is no such flag"},
      {{"-x"}, "-x: there is no such flag"},
      {{"stray", "--nothing-like-it"}, "\"stray\" is unexpected; all arguments are flags and their values"},
      {{"--workers", "2", "stray", "other"},
       "\"stray\" is unexpected; all arguments are flags and their values"},
  };
  for (const auto& [arguments, says] : all) {
    const auto outcome = parse(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << says;
    EXPECT_EQ(outcome.text, "demo-operator: " + says + "\nSee demo-operator --help.\n");
  }
}

TEST(FlagSet, NamesAreCheckedWhenTheyAreAdded) {
  std::string text;
  const auto problem = [&](std::vector<std::string> names) -> std::string {
    FlagSet flags;
    try {
      for (const std::string& name : names) flags.add(name, text, "");
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  for (const char* wrong : {"default-image", "-d", "--", "---x", "--Image", "--a b", "--a=b", ""}) {
    EXPECT_EQ(problem({wrong}), "FlagSet: \"" + std::string(wrong) +
                                    "\" is not a flag name such as --default-image, in lower case");
  }
  EXPECT_EQ(problem({"--image", "--image"}), "FlagSet: two flags are called --image");
  EXPECT_THROW(FlagSet().add("--image", std::function<void(std::string_view)>(), ""), std::invalid_argument);
  FlagSet taken;
  taken.add("--workers", text, "");
  EXPECT_THROW(parse({.flags = taken}, {}), std::invalid_argument);
}

TEST(Flags, HelpNamesTheDefaultsOfTheProgram) {
  RunOptions program{.name = "demo-operator"};
  program.manager.workers = 7;
  program.manager.reconcile_timeout = 45s;
  program.manager.sync_timeout = 3min;
  program.manager.lifecycle.grace_period = 20s;
  program.manager.cache.namespace_ = "team-a";
  program.manager.election =
      ElectionOptions{.name = "demo-lock", .namespace_ = "locks", .lease_duration = 60s};
  program.endpoint = {.metrics_address = ":9090",
                      .metrics_tls = {.certificate = "/tls/tls.crt", .key = "/tls/tls.key"},
                      .metrics_token_file = "/token",
                      .probe_address = ":9091",
                      .explanations = Explanations::on};
  const std::string help = parse(program, {"--help"}).text;
  for (const char* text :
       {"reconciles of a controller (default: 7)", "its API calls fail (default: 45s)", "(default: 3m",
        "at shutdown (default: 20s)", "this namespace only (default: team-a)",
        "(default: true; --leader-elect=false: no election)", "Name of the Lease (default: demo-lock)",
        "Namespace of the Lease (default: locks)", "may take over (default: 1m", "(default: :9090)",
        "(default: /tls/tls.crt)", "(default: /tls/tls.key)", "(default: /token)", "(default: :9091)",
        "not reconciled (default: on)"}) {
    std::string flat;  // CLI11 breaks long lines
    for (const char letter : help) {
      if (letter != '\n' && !(letter == ' ' && flat.ends_with(' '))) flat += letter == '\n' ? ' ' : letter;
    }
    EXPECT_THAT(flat, HasSubstr(text));
  }
}

TEST(Flags, AnElectionOfTheProgramIsTunedAndEndedByFlags) {
  RunOptions program;
  EXPECT_EQ(parse(program, {"--leader-elect-retry-period", "1s"}).exit_code, 2);
  program.manager.election = ElectionOptions{};
  const auto tuned = parse(program, {"--leader-elect-retry-period", "1s"});
  ASSERT_FALSE(tuned.exit_code) << tuned.text;
  EXPECT_TRUE(tuned.flags.election.on);
  EXPECT_FALSE(parse({}, {}).flags.election.on);
  EXPECT_FALSE(parse(program, {"--leader-elect=false"}).flags.election.on);
  EXPECT_TRUE(parse(program, {"--leader-elect"}).flags.election.on);
}

TEST(Flags, DurationsOfTheElectionThatCannotBeAreNamed) {
  const auto problem = [](const ElectionOptions& election) -> std::string {
    try {
      detail::check_election_flags(election);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.lease_duration = 5s}),
            "--leader-elect-lease-duration: 5s is not longer than the renew deadline of 10s "
            "(--leader-elect-renew-deadline)");
  EXPECT_EQ(problem({.retry_period = 9s}),
            "--leader-elect-renew-deadline: 10s is not longer than 1.2 times the retry period of 9s "
            "(--leader-elect-retry-period)");
  EXPECT_EQ(problem({.retry_period = 0s}), "--leader-elect-retry-period: 0s is not positive");
}

}  // namespace
}  // namespace evenkeel
