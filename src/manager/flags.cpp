// SPDX-License-Identifier: Apache-2.0
#include "manager/flags.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>

namespace evenkeel::inline v0::detail {
namespace {

constexpr int exit_usage = 2;

const std::map<std::string, LogLevel> log_levels = {{"debug", LogLevel::debug},
                                                    {"info", LogLevel::info},
                                                    {"warn", LogLevel::warn},
                                                    {"error", LogLevel::error},
                                                    {"off", LogLevel::off}};
const std::map<std::string, LogFormat> log_formats = {{"text", LogFormat::text}, {"json", LogFormat::json}};

// One word of a fixed set, or an error that lists the set.
template <class Value>
void add_choice(CLI::App& app, const std::string& flag, const std::map<std::string, Value>& choices,
                Value& target, const std::string& help) {
  std::string words;
  for (const auto& [word, value] : choices) words += (words.empty() ? "" : ", ") + word;
  app.add_option_function<std::string>(
         flag,
         [&choices, &target, flag, words](const std::string& text) {
           const auto found = choices.find(text);
           if (found == choices.end()) {
             throw CLI::ValidationError(flag, "\"" + text + "\" is none of " + words);
           }
           target = found->second;
         },
         help)
      ->type_name("WORD");
}

void add_duration(CLI::App& app, const std::string& flag, std::optional<Duration>& target,
                  const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [&target, flag](const std::string& text) {
           target = parse_duration(text);
           if (!target) {
             throw CLI::ValidationError(flag,
                                        "\"" + text + "\" is no duration; write 500ms, 30s, 2m or 1h30m");
           }
         },
         help)
      ->type_name("DURATION");
}

void add_workers(CLI::App& app, std::optional<std::size_t>& target) {
  app.add_option_function<std::string>(
         "--workers",
         [&target](const std::string& text) {
           std::uint32_t number = 0;
           const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
           if (failure != std::errc() || end != text.data() + text.size() || number < 1 || number > 4096) {
             throw CLI::ValidationError("--workers", "\"" + text + "\" is no number from 1 to 4096");
           }
           target = number;
         },
         "Reconciles that a controller runs at once, unless it sets its own number (1)")
      ->type_name("NUMBER");
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option(
         "--kubeconfig", flags.kubeconfig,
         "File that says where the cluster is (KUBECONFIG, then the pod's own account, then ~/.kube/config)")
      ->type_name("FILE");
  app.add_option("--context", flags.context, "Context of the kubeconfig (its current-context)")
      ->type_name("NAME");
  app.add_option("--namespace", flags.namespace_, "Watch this namespace only (all)")->type_name("NAME");
  add_workers(app, flags.workers);
  add_choice(app, "--log-level", log_levels, flags.log_level, "debug, info, warn, error or off (info)");
  add_choice(app, "--log-format", log_formats, flags.log_format, "text or json (text)");
  app.add_option("--log-file", flags.log_file, "Append the log to this file (standard error)")
      ->type_name("FILE");
  add_duration(app, "--grace-period", flags.grace_period,
               "How long running reconciles may take to end once a stop was asked for (30s)");
  add_duration(app, "--sync-timeout", flags.sync_timeout,
               "How long a controller waits for its first lists before it says so in the log (2m)");
  add_duration(app, "--reconcile-timeout", flags.reconcile_timeout,
               "How long one reconcile may take; its calls fail after that (no limit)");
  app.add_flag("--print-crds", flags.print_crds,
               "Print the CustomResourceDefinitions of the reconciled kinds as YAML, and end");
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units = {
      {{"ns", 1},
       {"us", 1'000},
       {"ms", 1'000'000},
       {"s", 1'000'000'000},
       {"m", 60'000'000'000},
       {"h", 3'600'000'000'000}}};
  if (text == "0") return Duration::zero();
  std::int64_t total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::uint32_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789"));
    std::int64_t scale = 0;
    for (const auto& [name, size] : units) scale = name == unit ? size : scale;
    if (scale == 0) return std::nullopt;
    if (number > (std::numeric_limits<std::int64_t>::max() - total) / scale) return std::nullopt;
    total += number * scale;
    text.remove_prefix(unit.size());
  }
  return Duration{total};
}

FlagsOutcome parse_flags(int argc, const char* const* argv, const std::string& name,
                         const std::string& version, const std::string& description) {
  FlagsOutcome outcome;
  CLI::App app(description, name);
  app.set_help_flag("-h,--help", "Print this and end");
  app.set_version_flag("--version", name + " " + version, "Print the version and end");
  add_flags(app, outcome.flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    outcome.exit_code = 0;
    outcome.text = app.help();
  } catch (const CLI::CallForVersion& called) {
    outcome.exit_code = 0;
    outcome.text = std::string(called.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    outcome.exit_code = exit_usage;
    outcome.text = name + ": " + error.what() + "\nSee " + name + " --help.\n";
  }
  return outcome;
}

}  // namespace evenkeel::inline v0::detail
