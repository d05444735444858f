// SPDX-License-Identifier: Apache-2.0
#include "manager/flags.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/base/duration_text.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr int exit_usage = 2;

const std::map<std::string, LogLevel> log_levels = {{"debug", LogLevel::debug},
                                                    {"info", LogLevel::info},
                                                    {"warn", LogLevel::warn},
                                                    {"error", LogLevel::error},
                                                    {"off", LogLevel::off}};
const std::map<std::string, LogFormat> log_formats = {{"text", LogFormat::text}, {"json", LogFormat::json}};

const std::map<std::string, ShardBy> shard_divisions = {{"object", ShardBy::object},
                                                        {"namespace", ShardBy::namespace_},
                                                        {"namespace-range", ShardBy::namespace_range}};

// Adds a flag whose value is one of a set of words; the error lists the set.
template <class Value, class Target>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, const std::map<std::string, Value>& choices,
                        Target& target, const std::string& help) {
  std::string words;
  for (const auto& [word, value] : choices) words += (words.empty() ? "" : ", ") + word;
  return app
      .add_option_function<std::string>(
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

template <class Value>
std::string word_of(const std::map<std::string, Value>& choices, Value value) {
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [value](const auto& choice) { return choice.second == value; });
  return found == choices.end() ? std::string() : found->first;
}

// Converts any exception of a value's parser into an error message for the flag.
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

// Adds a setting of controllers: of all with "VALUE", of one with "NAME=VALUE". May be repeated.
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

// Returns a help text followed by the default.
std::string with_default(const std::string& help, const std::string& value) {
  return value.empty() ? help : help + " (default: " + value + ")";
}

std::string text_or(const std::string& text, const std::string& otherwise) {
  return text.empty() ? otherwise : text;
}

std::string duration_or(const std::optional<Duration>& duration, const std::string& otherwise) {
  return duration && *duration > Duration::zero() ? format_duration(*duration) : otherwise;
}

void add_settings(CLI::App& app, Flags& flags, const ManagerOptions& program) {
  app.add_option("--config", flags.config, "File with settings of controllers; docs/flags.md describes it")
      ->type_name("FILE");
  add_setting(app, "--workers", &ControllerSettings::workers, flags.settings, parse_workers,
              with_default("Concurrent reconciles of a controller", std::to_string(program.workers)),
              "NUMBER");
  add_setting(
      app, "--rate-limiter", &ControllerSettings::rate_limiter, flags.settings,
      [](const std::string& text) { return LimiterText(text); },
      "Rate limiter of a controller's retries (default: max_of(exponential(5ms, 1000s), "
      "token_bucket(10, 100)))",
      "LIMITER");
  add_setting(app, "--reconcile-timeout", &ControllerSettings::reconcile_timeout, flags.settings,
              parse_timeout,
              with_default("Timeout of a reconcile, after which its API calls fail",
                           duration_or(program.reconcile_timeout, "no limit")),
              "DURATION");
  add_setting(app, "--requeue-priority", &ControllerSettings::requeue_priority, flags.settings, parse_lane,
              "Priority of runs that a reconcile requests with requeue_after; slow: behind live changes "
              "(default: that of the run that requests it)",
              "LANE");
}

void add_election_flags(CLI::App& app, ElectionFlags& flags, const std::optional<ElectionOptions>& program) {
  const ElectionOptions election = program.value_or(ElectionOptions());
  flags.on = program.has_value();
  CLI::Option* on = app.add_flag("--leader-elect", flags.on,
                                 with_default("Use leader election: run controllers only while leading",
                                              program ? "true; --leader-elect=false: no election" : ""));
  const auto only_with = [&](CLI::Option* option) {
    if (!program) option->needs(on);
  };
  only_with(app.add_option("--leader-elect-name", flags.name,
                           with_default("Name of the Lease", text_or(election.name, "the program's name")))
                ->type_name("NAME"));
  only_with(app.add_option("--leader-elect-namespace", flags.namespace_,
                           with_default("Namespace of the Lease",
                                        text_or(election.namespace_, "the context's, or the pod's")))
                ->type_name("NAME"));
  only_with(add_duration(app, "--leader-elect-lease-duration", flags.lease_duration,
                         with_default("Time without a renewal after which another instance may take over",
                                      format_duration(election.lease_duration))));
  only_with(add_duration(app, "--leader-elect-renew-deadline", flags.renew_deadline,
                         with_default("Time without a renewal after which the leader gives up",
                                      format_duration(election.renew_deadline))));
  only_with(add_duration(app, "--leader-elect-retry-period", flags.retry_period,
                         with_default("Interval between renewals", format_duration(election.retry_period))));
}

void add_shard_flags(CLI::App& app, ShardFlags& flags, const std::optional<ShardOptions>& program) {
  const ShardOptions shards = program.value_or(ShardOptions());
  flags.on = program.has_value();
  CLI::Option* on = app.add_flag("--shards", flags.on,
                                 with_default("Divide the objects among the replicas, by Leases",
                                              program ? "true; --shards=false: reconcile all" : ""));
  const auto only_with = [&](CLI::Option* option) {
    if (!program) option->needs(on);
  };
  only_with(app.add_option("--shards-name", flags.name,
                           with_default("Name of the ring, and of the Lease with its table",
                                        text_or(shards.name, "the program's name, with -shards")))
                ->type_name("NAME"));
  only_with(app.add_option("--shards-namespace", flags.namespace_,
                           with_default("Namespace of the Leases",
                                        text_or(shards.namespace_, "the context's, or the pod's")))
                ->type_name("NAME"));
  only_with(app.add_option("--shards-slots", flags.slots,
                           with_default("Number of slots of a new ring", std::to_string(shards.slots)))
                ->type_name("NUMBER")
                ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096})));
  only_with(add_choice(app, "--shards-by", shard_divisions, flags.by,
                       with_default("The part of a key that selects its replica, the same for all replicas: "
                                    "object, namespace or namespace-range",
                                    word_of(shard_divisions, shards.by))));
  only_with(app.add_option("--shards-label", flags.label,
                           with_default("Label by whose values servers select the objects of a replica, with "
                                        "namespace-range",
                                        text_or(shards.label, "none: by hash, if they can")))
                ->type_name("KEY"));
}

void add_endpoint_flags(CLI::App& app, EndpointSettings& settings, const EndpointOptions& program) {
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
          with_default("Address of the metrics endpoint, e.g. :8080; 0: none",
                       text_or(program.metrics_address, "0")));
  file("--metrics-cert-file", settings.metrics_cert_file,
       with_default("Serve metrics over TLS with this certificate", program.metrics_tls.certificate));
  file("--metrics-key-file", settings.metrics_key_file,
       with_default("Private key of that certificate", program.metrics_tls.key));
  file("--metrics-token-file", settings.metrics_token_file,
       with_default("Serve metrics to clients that send the token in this file",
                    text_or(program.metrics_token_file, "anyone")));
  address("--health-probe-bind-address", settings.probe_address,
          with_default("Address of /healthz and /readyz, e.g. :8081; 0: none",
                       text_or(program.probe_address, "0")));
  app.add_flag_callback(
      "--debug-endpoints", [&settings] { settings.explanations = Explanations::on; },
      with_default("Serve /debug/explain beside the metrics: why an object is not reconciled",
                   program.explanations == Explanations::on ? "on" : ""));
  app.add_flag_callback(
      "--metrics-access-reviews", [&settings] { settings.access_reviews = AccessReviews::on; },
      with_default("Serve metrics to clients whose token and rights the API server confirms",
                   program.access_reviews == AccessReviews::on ? "on" : ""));
  app.add_flag_callback(
      "--console", [&settings] { settings.console = Console::on; },
      with_default("Serve a page of live graphs and explanations at /console, beside the metrics",
                   program.console == Console::on ? "on" : ""));
}

void add_webhook_flags(CLI::App& app, WebhookFlags& flags, const WebhookServerOptions& program) {
  const std::string flag = "--webhook-bind-address";
  app.add_option_function<std::string>(
         flag,
         [&flags, flag](const std::string& text) {
           take_value(flag, [&] { flags.address = parse_bind_address(text); });
         },
         with_default("Address of the webhook server, e.g. :9443; 0: none", text_or(program.address, "0")))
      ->type_name("ADDRESS");
  app.add_option("--webhook-cert-file", flags.cert_file,
                 with_default("Serve webhooks with this certificate",
                              text_or(program.tls.certificate, "one that the program makes")))
      ->type_name("FILE");
  app.add_option("--webhook-key-file", flags.key_file,
                 with_default("Private key of that certificate", program.tls.key))
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--webhook-service",
         [&flags](const std::string& text) {
           const std::size_t slash = text.find('/');
           if (slash == 0 || slash == std::string::npos || slash + 1 == text.size() ||
               text.find('/', slash + 1) != std::string::npos)
             throw CLI::ValidationError("--webhook-service", "\"" + text + "\" is not NAMESPACE/NAME");
           flags.service = text;
         },
         "Service of the webhook server (default: the pod's namespace, and the program's name with -webhook)")
      ->type_name("NAMESPACE/NAME");
}

void add_flow_control_flags(CLI::App& app, Flags& flags) {
  constexpr double most_per_second = 1e6;
  constexpr std::int64_t largest_burst = 1'000'000;
  CLI::Option* rate =
      app.add_option(
             "--kube-api-qps", flags.kube_api_qps,
             "Requests per second to the API server, without watches and the election (default: no limit)")
          ->type_name("NUMBER")
          ->check(CLI::Range(0.001, most_per_second));
  app.add_option("--kube-api-burst", flags.kube_api_burst,
                 "Requests that may exceed that rate at once (default: twice the rate)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::int64_t{1}, largest_burst))
      ->needs(rate);
}

void add_tracing_flags(CLI::App& app, Flags& flags) {
  CLI::Option* endpoint = app.add_option("--otlp-endpoint", flags.otlp_endpoint,
                                         "URL to which spans are exported with OTLP over HTTP, e.g. "
                                         "http://collector:4318/v1/traces (default: none)")
                              ->type_name("URL");
  app.add_option("--trace-ratio", flags.trace_ratio, "Fraction of the traces that are recorded (default: 1)")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(endpoint);
}

void add_manifest_flags(CLI::App& app, ManifestFlags& flags, const RunOptions& program) {
  const ManifestOptions& options = program.manifests;
  app.add_flag(
      "--print-manifests", flags.print_manifests,
      "Print the manifests that the program needs in a cluster as YAML, and exit; its Deployment passes the "
      "other flags");
  app.add_flag("--print-rbac", flags.print_rbac, "Print the service account and its roles only, and exit");
  app.add_option(
         "--access-record", flags.access_record,
         "Before it exits, add the rights that its requests needed to this file; with --print-manifests or "
         "--print-rbac, grant them (default: none)")
      ->type_name("FILE");
  app.add_option("--manifest-namespace", flags.namespace_,
                 with_default("Namespace of the operator",
                              text_or(options.namespace_, "the program's name, with -system")))
      ->type_name("NAME");
  app.add_option(
         "--manifest-image", flags.image,
         with_default("Image of the operator", text_or(options.image, "the program's name and version")))
      ->type_name("IMAGE");
  app.add_option("--manifest-replicas", flags.replicas,
                 with_default("Replicas of the operator", options.replicas != 0
                                                              ? std::to_string(options.replicas)
                                                              : "2 with an election or shards, otherwise 1"))
      ->type_name("NUMBER")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000}));
  app.add_flag("--manifest-service-monitor", flags.service_monitor,
               "Print a ServiceMonitor of the Prometheus Operator as well");
}

void add_flags(CLI::App& app, Flags& flags, const RunOptions& program) {
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "Kubeconfig of the cluster (default: KUBECONFIG, then the pod's service account, then "
                 "~/.kube/config)")
      ->type_name("FILE");
  app.add_option("--context", flags.context, "Context of the kubeconfig (default: its current-context)")
      ->type_name("NAME");
  app.add_option("--namespace", flags.namespace_,
                 with_default("Watch this namespace only", text_or(program.manager.cache.namespace_, "all")))
      ->type_name("NAME");
  add_flow_control_flags(app, flags);
  add_settings(app, flags, program.manager);
  add_election_flags(app, flags.election, program.manager.election);
  add_shard_flags(app, flags.shards, program.manager.shards);
  add_endpoint_flags(app, flags.settings.endpoint, program.endpoint);
  add_webhook_flags(app, flags.webhooks, program.webhooks);
  add_tracing_flags(app, flags);
  add_choice(app, "--log-level", log_levels, flags.log_level,
             "debug, info, warn, error or off (default: info)");
  add_choice(app, "--log-format", log_formats, flags.log_format, "text or json (default: text)");
  app.add_option("--log-file", flags.log_file, "Append the log to this file (default: standard error)")
      ->type_name("FILE");
  add_duration(app, "--grace-period", flags.grace_period,
               with_default("Grace period of running reconciles at shutdown",
                            format_duration(program.manager.lifecycle.grace_period)));
  const std::optional<Duration>& delay = program.manager.lifecycle.shutdown_delay;
  add_duration(app, "--shutdown-delay", flags.shutdown_delay,
               with_default("Time after a stop for which servers and webhooks continue, while /readyz fails",
                            delay ? format_duration(*delay) : "10s with webhooks, otherwise 0s"));
  add_duration(app, "--sync-timeout", flags.sync_timeout,
               with_default("Time after which a controller logs that it still waits for the initial lists",
                            duration_or(program.manager.sync_timeout, "2m")));
  app.add_option("--cache-directory", flags.cache_directory,
                 with_default(
                     "Directory for copies of the caches, from which the next start resumes; not shared with "
                     "other programs",
                     text_or(program.manager.cache.disk.directory, "none")))
      ->type_name("DIRECTORY");
  flags.streaming_lists = program.manager.cache.reflector.streaming_list;
  app.add_flag(
      "--streaming-lists", flags.streaming_lists,
      with_default("Read the objects of a kind as a streaming list; --streaming-lists=false: in pages",
                   flags.streaming_lists ? "true" : "false"));
  app.add_flag("--print-crds", flags.print_crds,
               "Print the CustomResourceDefinitions of the program's kinds as YAML, and exit");
  add_manifest_flags(app, flags.manifests, program);
}

void add_program_flags(CLI::App& app, const RunOptions& program) {
  for (const ProgramFlag& flag : program.flags.all()) {
    const std::string help = with_default(flag.help, flag.text.default_text);
    CLI::Option* option = nullptr;
    if (flag.on_or_off != nullptr) {
      option = app.add_flag(flag.name, *flag.on_or_off, help);
    } else {
      const auto take = [&flag](const std::vector<std::string>& texts) {
        if (texts.size() > 1 && !flag.repeated) throw CLI::ValidationError(flag.name, "was given twice");
        for (const std::string& text : texts) take_value(flag.name, [&] { flag.take(text); });
      };
      option = app.add_option_function<std::vector<std::string>>(flag.name, take, help)
                   ->allow_extra_args(false)
                   ->type_name(flag.text.value);
      // Without a bound CLI11 appends "..." to the name of the value. `take` rejects a second one by itself.
      if (!flag.repeated) option->expected(1, 1 << 20);
    }
    option->group("Flags of " + program.name);
  }
}

std::string flag_name(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

// Returns the Levenshtein distance of two words.
std::size_t edit_distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Returns the flag that is most similar to `word`; empty if none is similar.
std::string nearest_flag(const CLI::App& app, const std::string& word) {
  std::string nearest;
  std::size_t least = 3;  // a larger distance is not considered a spelling mistake
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::size_t distance = edit_distance(word, "--" + name);
      if (distance >= least) continue;
      least = distance;
      nearest = "--" + name;
    }
  }
  return nearest;
}

// In the order of the command line; CLI11's message has the reverse order.
std::string unexpected(const CLI::App& app, int argc, const char* const* argv) {
  const std::vector<std::string> rest = app.remaining(true);
  for (int at = 1; at < argc; ++at) {
    const std::string argument = argv[at];
    if (std::find(rest.begin(), rest.end(), argument) == rest.end()) continue;
    if (!argument.starts_with('-') || argument == "-" || argument == "--")
      return "\"" + argument + "\" is unexpected; all arguments are flags and their values";
    const std::string name = flag_name(argument);
    const std::string near = nearest_flag(app, name);
    return name + ": there is no such flag" + (near.empty() ? "" : "; did you mean " + near + "?");
  }
  return "unexpected arguments";
}

}  // namespace

FlagsOutcome parse_flags(int argc, const char* const* argv, const RunOptions& program) {
  FlagsOutcome outcome;
  CLI::App app(program.description, program.name);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", program.name + " " + program.version, "Print the version and exit");
  add_flags(app, outcome.flags, program);
  try {
    add_program_flags(app, program);
  } catch (const CLI::OptionAlreadyAdded& error) {
    throw std::invalid_argument(std::string("FlagSet: a flag of ek::run() has the same name: ") +
                                error.what());
  }
  const auto refuse = [&](const std::string& problem) {
    outcome.exit_code = exit_usage;
    outcome.text = program.name + ": " + problem + "\nSee " + program.name + " --help.\n";
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    outcome.exit_code = 0;
    outcome.text = app.help();
  } catch (const CLI::CallForVersion& called) {
    outcome.exit_code = 0;
    outcome.text = std::string(called.what()) + "\n";
  } catch (const CLI::ExtrasError&) {
    refuse(unexpected(app, argc, argv));
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  return outcome;
}

WebhookServerOptions webhook_options(const WebhookFlags& flags, WebhookServerOptions program) {
  if (flags.address) program.address = *flags.address;
  if (!flags.cert_file.empty()) program.tls.certificate = flags.cert_file;
  if (!flags.key_file.empty()) program.tls.key = flags.key_file;
  if (!flags.service.empty()) {
    const std::size_t slash = flags.service.find('/');
    program.service.namespace_ = flags.service.substr(0, slash);
    program.service.name = flags.service.substr(slash + 1);
  }
  return program;
}

void check_election_flags(const ElectionOptions& election) {
  const auto refuse = [](const std::string& flag, Duration value, const std::string& problem) {
    throw std::invalid_argument(flag + ": " + format_duration(value) + " " + problem);
  };
  const Duration retry = election.retry_period;
  if (retry <= Duration::zero()) refuse("--leader-elect-retry-period", retry, "is not positive");
  if (election.renew_deadline <= retry * 6 / 5) {
    refuse("--leader-elect-renew-deadline", election.renew_deadline,
           "is not longer than 1.2 times the retry period of " + format_duration(retry) +
               " (--leader-elect-retry-period)");
  }
  if (election.lease_duration <= election.renew_deadline) {
    refuse("--leader-elect-lease-duration", election.lease_duration,
           "is not longer than the renew deadline of " + format_duration(election.renew_deadline) +
               " (--leader-elect-renew-deadline)");
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
