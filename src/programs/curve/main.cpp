// SPDX-License-Identifier: Apache-2.0
// evenkeel-curve: requeues of failing objects under a rate limiter, as a table and a picture.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/ratelimit/parse.hpp>

#include "programs/curve/curve.hpp"
#include "programs/curve/report.hpp"

namespace {

namespace ek = evenkeel;

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

struct Flags {
  std::string limiter = "default()";
  std::vector<std::uint32_t> objects = {1, 100, 10'000};
  ek::curve::StormOptions storm = {};
  bool csv = false;
  std::string svg = {};
  std::string png = {};
};

ek::Duration duration(const std::string& flag, const std::string& text) {
  const auto read = ek::parse_duration(text);
  if (!read)
    throw CLI::ValidationError(flag, "\"" + text + "\" is not a duration such as 500ms, 30s or 1h30m");
  return *read;
}

void declare(CLI::App& app, Flags& flags) {
  app.add_option(
         "limiter", flags.limiter,
         "Rate limiter, e.g. 'max_of(exponential(5ms, 1000s), token_bucket(10, 100))'; also fast_slow, "
         "with_max_delay, with_jitter and default()")
      ->capture_default_str();
  app.add_option("--objects", flags.objects, "Numbers of objects that fail, separated by commas")
      ->delimiter(',')
      ->expected(1, 20)
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--seconds", flags.storm.seconds, "Simulated time in seconds")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--run-time",
         [&flags](const std::string& text) { flags.storm.run_time = duration("--run-time", text); },
         "Duration of a reconcile, at the end of which it fails (0ms)")
      ->type_name("DURATION");
  app.add_option("--workers", flags.storm.workers, "Concurrent reconciles; only with --run-time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--newcomer",
         [&flags](const std::string& text) { flags.storm.newcomer = duration("--newcomer", text); },
         "Also print how long an object waits that fails for the first time at this moment")
      ->type_name("DURATION");
  app.add_flag("--csv", flags.csv, "Print comma-separated values instead of a table");
  app.add_option("--svg", flags.svg, "Draw into this file (needs gnuplot)")->type_name("FILE");
  app.add_option("--png", flags.png, "Draw into this file (needs gnuplot)")->type_name("FILE");
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

void run(const Flags& flags) {
  const ek::LimiterText limiter(flags.limiter);
  std::vector<ek::curve::Column> columns;
  std::string newcomers;
  for (const std::uint32_t objects : flags.objects) {
    ek::curve::StormOptions options = flags.storm;
    options.objects = objects;
    ek::curve::Storm storm = ek::curve::simulate(limiter, options);
    columns.push_back({objects, std::move(storm.requeues)});
    if (!storm.newcomer_waits) continue;
    newcomers += "after " + std::to_string(objects) + (objects == 1 ? " object" : " objects") +
                 ", one that fails for the first time at " + ek::format_duration(*flags.storm.newcomer) +
                 " waits " + ek::format_duration(*storm.newcomer_waits) + "\n";
  }
  print(flags.csv ? ek::curve::comma_separated(columns) : ek::curve::table(columns));
  if (!flags.csv) print(newcomers);
  std::fflush(stdout);
  const auto draw = [&](const std::string& file, ek::curve::Picture picture) {
    if (file.empty()) return;
    ek::curve::run_gnuplot(ek::curve::gnuplot_script(columns, limiter.text(), file, picture));
  };
  draw(flags.svg, ek::curve::Picture::svg);
  draw(flags.png, ek::curve::Picture::png);
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Lets objects that always fail go through Evenkeel's work queue in virtual time, and prints how many "
      "of "
      "them a rate limiter brings back in each second.",
      "evenkeel-curve");
  app.set_version_flag("--version", "evenkeel-curve " EVENKEEL_VERSION);
  declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a gnuplot that exits early is reported instead
  try {
    run(flags);
    return EXIT_SUCCESS;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "evenkeel-curve: %s\n", error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evenkeel-curve: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
