// SPDX-License-Identifier: Apache-2.0
#include "manager/flags.hpp"

#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

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

// Anything that a parser of a value says becomes the message of the flag.
template <class Take>
void take_value(const std::string& flag, Take take) {
  try {
    take();
  } catch (const std::invalid_argument& wrong) {
    throw CLI::ValidationError(flag, wrong.what());
  }
}

CLI::Option* add_duration(CLI::App& app, const std::string& flag, std::optional<Duration>& target,
                          const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [&target, flag](const std::string& text) {
            take_value(flag, [&] { target = parse_timeout(text); });
          },
          help)
      ->type_name("DURATION");
}

// A setting of controllers: of all with "VALUE", of one with "NAME=VALUE". May be given for several.
template <class Value, class Parse>
void add_setting(CLI::App& app, const std::string& flag, std::optional<Value> ControllerSettings::*setting,
                 SettingsSource& source, Parse parse, const std::string& help, const std::string& type) {
  const auto take = [&source, flag, setting, parse](const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = equals == std::string::npos ? std::string() : text.substr(0, equals);
    if (equals == 0) throw CLI::ValidationError(flag, "\"" + text + "\" names no controller before the =");
    ControllerSettings& settings = name.empty() ? source.defaults : source.controllers[name].settings;
    if (!name.empty()) source.controllers[name].where = flag;
    if (settings.*setting) {
      throw CLI::ValidationError(flag, "was given twice for " + (name.empty() ? "all controllers" : name));
    }
    take_value(flag, [&] { settings.*setting = parse(text.substr(name.empty() ? 0 : equals + 1)); });
  };
  app.add_option_function<std::vector<std::string>>(
         flag,
         [take](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) take(text);
         },
         help)
      ->allow_extra_args(false)
      ->type_name("[NAME=]" + type);
}

void add_settings(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config, "File with settings of controllers; docs/flags.md describes it")
      ->type_name("FILE");
  add_setting(app, "--workers", &ControllerSettings::workers, flags.settings, parse_workers,
              "Reconciles that a controller runs at once (1)", "NUMBER");
  add_setting(
      app, "--rate-limiter", &ControllerSettings::rate_limiter, flags.settings,
      [](const std::string& text) { return LimiterText(text); },
      "What retries of a controller wait for (max_of(exponential(5ms, 1000s), token_bucket(10, 100)))",
      "LIMITER");
  add_setting(app, "--reconcile-timeout", &ControllerSettings::reconcile_timeout, flags.settings,
              parse_timeout, "How long one reconcile may take; its calls fail after that (no limit)",
              "DURATION");
}

void add_election_flags(CLI::App& app, ElectionFlags& flags) {
  CLI::Option* on =
      app.add_flag("--leader-elect", flags.on, "Take part in an election, and work only while leading");
  app.add_option("--leader-elect-name", flags.name, "The Lease that is held (the program's name)")
      ->type_name("NAME")
      ->needs(on);
  app.add_option("--leader-elect-namespace", flags.namespace_,
                 "The namespace of the Lease (the context's, or the pod's)")
      ->type_name("NAME")
      ->needs(on);
  add_duration(app, "--leader-elect-lease-duration", flags.lease_duration,
               "After so long without a sign of the leader others take over (15s)")
      ->needs(on);
  add_duration(app, "--leader-elect-renew-deadline", flags.renew_deadline,
               "A leader that could not renew the Lease for so long ends (10s)")
      ->needs(on);
  add_duration(app, "--leader-elect-retry-period", flags.retry_period, "Between two renewals (2s)")
      ->needs(on);
}

void add_endpoint_flags(CLI::App& app, EndpointSettings& settings) {
  const auto address = [&app](const std::string& flag, std::optional<std::string>& target,
                              const std::string& help) {
    app.add_option_function<std::string>(
           flag,
           [&target, flag](const std::string& text) {
             take_value(flag, [&] { target = parse_bind_address(text); });
           },
           help)
        ->type_name("ADDRESS");
  };
  const auto file = [&app](const std::string& flag, std::optional<std::string>& target,
                           const std::string& help) {
    app.add_option(flag, target, help)->type_name("FILE");
  };
  address("--metrics-bind-address", settings.metrics_address,
          "Serve metrics there, :8080 for example; 0: nowhere (0)");
  file("--metrics-cert-file", settings.metrics_cert_file, "Serve metrics over TLS with this certificate");
  file("--metrics-key-file", settings.metrics_key_file, "The key of that certificate");
  file("--metrics-token-file", settings.metrics_token_file,
       "Serve metrics to who has the token in this file (anyone)");
  address("--health-probe-bind-address", settings.probe_address,
          "Serve /healthz and /readyz there, :8081 for example; 0: nowhere (0)");
  app.add_flag_callback(
      "--debug-endpoints", [&settings] { settings.explanations = Explanations::on; },
      "Beside metrics, answer at /debug/explain why an object is not reconciled");
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option(
         "--kubeconfig", flags.kubeconfig,
         "File that says where the cluster is (KUBECONFIG, then the pod's own account, then ~/.kube/config)")
      ->type_name("FILE");
  app.add_option("--context", flags.context, "Context of the kubeconfig (its current-context)")
      ->type_name("NAME");
  app.add_option("--namespace", flags.namespace_, "Watch this namespace only (all)")->type_name("NAME");
  add_settings(app, flags);
  add_election_flags(app, flags.election);
  add_endpoint_flags(app, flags.settings.endpoint);
  add_choice(app, "--log-level", log_levels, flags.log_level, "debug, info, warn, error or off (info)");
  add_choice(app, "--log-format", log_formats, flags.log_format, "text or json (text)");
  app.add_option("--log-file", flags.log_file, "Append the log to this file (standard error)")
      ->type_name("FILE");
  add_duration(app, "--grace-period", flags.grace_period,
               "How long running reconciles may take to end once a stop was asked for (30s)");
  add_duration(app, "--sync-timeout", flags.sync_timeout,
               "How long a controller waits for its first lists before it says so in the log (2m)");
  app.add_flag("--print-crds", flags.print_crds,
               "Print the CustomResourceDefinitions of the reconciled kinds as YAML, and end");
}

}  // namespace

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
