// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/flow_control.hpp>
#include <evenkeel/manager/log.hpp>
#include <evenkeel/manager/run.hpp>
#include <evenkeel/metrics/registry.hpp>
#include <evenkeel/tracing/otlp_exporter.hpp>

#include "api/yaml_writer.hpp"
#include "base/ascii.hpp"
#include "base/caught.hpp"
#include "base/shown_text.hpp"
#include "client/config/access_file.hpp"
#include "manager/deployment_args.hpp"
#include "manager/flags.hpp"
#include "manager/kinds.hpp"
#include "manager/preflight.hpp"
#include "manager/print_manifests.hpp"
#include "manager/settings_file.hpp"
#include "manager/signals.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

// docs/flags.md is the table for users.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_config = 3,
  exit_grace_period = 4,
  exit_lead_lost = 5
};

void print(std::FILE* where, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), where);
  std::fflush(where);
}

double milliseconds(Duration duration) {
  return std::floor(static_cast<double>(duration.count()) / 10'000.0) / 100.0;
}

std::string totals_line(const std::string& name, const ManagerTotals& totals) {
  // Built by hand to order the members for people.
  std::string line = R"({"name":)" + Json(name).dump();
  const auto add = [&](const char* key, const Json& value) {
    line += std::string(",\"") + key + "\":" + value.dump();
  };
  add("objects", totals.objects);
  add("reconciles", totals.counts.reconciles);
  add("errors", totals.counts.error);
  add("conflicts", totals.counts.conflict);
  add("retries", totals.counts.retries);
  add("event_to_reconcile_p50_ms", milliseconds(totals.latency.quantile(0.5)));
  add("event_to_reconcile_p99_ms", milliseconds(totals.latency.quantile(0.99)));
  add("uptime_s", static_cast<double>(totals.uptime / std::chrono::milliseconds{10}) / 100.0);
  return line + "}\n";
}

ShardOptions shard_options(const ManagerOptions& manager, const detail::ShardFlags& flags) {
  ShardOptions shards = manager.shards.value_or(ShardOptions());
  if (!flags.name.empty()) shards.name = flags.name;
  if (!flags.namespace_.empty()) shards.namespace_ = flags.namespace_;
  if (flags.slots != 0) shards.slots = static_cast<std::size_t>(flags.slots);
  if (!flags.label.empty()) shards.label = flags.label;
  if (flags.by) shards.by = *flags.by;
  return shards;
}

ElectionOptions election_options(const ManagerOptions& manager, const detail::ElectionFlags& flags) {
  ElectionOptions election = manager.election.value_or(ElectionOptions());
  if (!flags.name.empty()) election.name = flags.name;
  if (!flags.namespace_.empty()) election.namespace_ = flags.namespace_;
  if (flags.lease_duration) election.lease_duration = *flags.lease_duration;
  if (flags.renew_deadline) election.renew_deadline = *flags.renew_deadline;
  if (flags.retry_period) election.retry_period = *flags.retry_period;
  return election;
}

ManagerOptions manager_options(const RunOptions& options, const detail::Flags& flags) {
  ManagerOptions manager = options.manager;
  if (manager.name == ManagerOptions{}.name) manager.name = options.name;
  if (flags.grace_period) manager.lifecycle.grace_period = *flags.grace_period;
  if (flags.shutdown_delay) manager.lifecycle.shutdown_delay = flags.shutdown_delay;
  if (flags.sync_timeout) manager.sync_timeout = flags.sync_timeout;
  if (!flags.namespace_.empty()) manager.cache.namespace_ = flags.namespace_;
  if (!flags.cache_directory.empty()) manager.cache.disk.directory = flags.cache_directory;
  manager.cache.reflector.streaming_list = flags.streaming_lists;
  if (flags.election.on)
    manager.election = election_options(manager, flags.election);
  else
    manager.election.reset();
  if (flags.shards.on)
    manager.shards = shard_options(manager, flags.shards);
  else
    manager.shards.reset();
  return manager;
}

// "none" and "off" for absent values, so that every line has the same fields.
std::string limit(const std::optional<Duration>& duration, const char* absent) {
  return duration && *duration > Duration::zero() ? format_duration(*duration) : absent;
}

// Lets `settings` decide about each controller that is added, and logs the effective values.
void adjust_controllers(ManagerOptions& manager, std::shared_ptr<detail::Settings> settings) {
  const auto decide = [settings = std::move(settings), before = manager.adjust_controller, log = manager.log,
                       workers = manager.workers,
                       timeout = manager.reconcile_timeout](ControllerOptions& options) {
    if (before) before(options);
    const std::string limiter = settings->apply(options);
    const std::optional<Priority>& requeue = options.requeue_priority;
    const bool gated = options.gate.value_or(EventGate::on) == EventGate::on;
    log.info("settings of a controller",
             {{"controller", options.name},
              {"workers", options.workers.value_or(workers)},
              {"rate_limiter", limiter},
              {"reconcile_timeout",
               limit(options.reconcile_timeout ? options.reconcile_timeout : timeout, "none")},
              {"event_gate", gated ? "on" : "off"},
              {"debounce", limit(options.debounce.quiet, "off")},
              {"min_interval", limit(options.min_interval, "none")},
              {"requeue_priority", requeue ? std::to_string(requeue->value) : "that of the run"}});
  };
  manager.adjust_controller = decide;
}

// `purpose` distinguishes connections in the server's log.
Client make_client(const Config& config, const RunOptions& options, const ManagerOptions& manager,
                   const std::string& purpose = {}, std::shared_ptr<FlowControl> flow_control = {},
                   std::shared_ptr<AccessRecorder> accesses = {}) {
  return Client(config, {.clock = manager.clock,
                         .log = manager.log,
                         .user_agent = options.name + "/" + options.version + purpose,
                         .field_owner = manager.name,
                         .flow_control = std::move(flow_control),
                         .tracer = options.tracer,
                         .access_recorder = std::move(accesses)});
}

/// The exporter and the tracer of --otlp-endpoint; both null without it.
struct Tracing {
  std::shared_ptr<OtlpExporter> exporter = {};
  std::shared_ptr<Tracer> tracer = {};
};

Tracing make_tracing(const RunOptions& options, const detail::Flags& flags, const ManagerOptions& manager) {
  if (flags.otlp_endpoint.empty()) return {};
  try {
    auto exporter = std::make_shared<OtlpExporter>(OtlpOptions{.endpoint = flags.otlp_endpoint,
                                                               .service_name = options.name,
                                                               .service_version = options.version,
                                                               .clock = manager.clock,
                                                               .log = manager.log});
    auto tracer =
        std::make_shared<Tracer>(exporter, TracerOptions{.ratio = flags.trace_ratio, .clock = manager.clock});
    return {std::move(exporter), std::move(tracer)};
  } catch (const std::invalid_argument& wrong) {
    throw detail::SettingsError(std::string("--otlp-endpoint: ") + wrong.what());
  }
}

// Returns null if no rate was given.
std::shared_ptr<FlowControl> make_flow_control(const detail::Flags& flags) {
  if (flags.kube_api_qps == 0) return nullptr;
  const auto twice = static_cast<std::int64_t>(std::ceil(2 * flags.kube_api_qps));
  return std::make_shared<FlowControl>(
      token_bucket(flags.kube_api_qps, flags.kube_api_burst != 0 ? flags.kube_api_burst : twice));
}

// Returns null if nothing is to be recorded. A file that cannot be read ends the program before it starts.
std::shared_ptr<AccessRecorder> make_recorder(const detail::Flags& flags) {
  const std::string& path = flags.manifests.access_record;
  if (path.empty()) return nullptr;
  try {
    (void)detail::read_accesses(path, detail::MissingFile::empty);
  } catch (const std::invalid_argument& wrong) {
    throw detail::SettingsError(wrong.what());
  }
  return std::make_shared<AccessRecorder>();
}

// A program that is started without descriptors 0, 1 or 2 would open sockets and files under these numbers,
// and then write its log into them. The library itself does not change the process's descriptors.
void fill_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", O_RDWR);  // the lowest free one
    if (opened > number) ::close(opened);
  }
}

// Connections of clients count against the limit on descriptors, whose soft value is 1,024 in many systems
// for the sake of programs that call select(); nothing here does. Source: os/rlimit.go of Go.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));  // it works with the old one, too
}

// Reads no file and sends no request: the output depends on the program alone.
Manager offline_manager(const RunOptions& options, ManagerOptions manager) {
  Config nowhere;
  nowhere.server = "http://127.0.0.1:9";
  Client client = make_client(nowhere, options, manager);
  return Manager(std::move(client), std::move(manager));
}

int print_crds(const RunOptions& options, ManagerOptions manager_options, WebhookServerOptions webhooks,
               const std::function<void(Manager&)>& setup) {
  Manager manager = offline_manager(options, std::move(manager_options));
  setup(manager);
  if (webhooks.service.name.empty()) webhooks.service.name = options.name + "-webhook";
  if (webhooks.service.namespace_.empty()) webhooks.service.namespace_ = "default";
  const std::vector<Json> crds = manager.crds(WebhookTarget{.service = webhooks.service});
  std::vector<ResourceId> left_out = manager.kinds_without_crd();
  if (crds.empty()) {
    const std::string kinds = detail::list_kinds(left_out);
    print(stderr, options.name + ": --print-crds: no kind of this program sets installs_crd" +
                      (kinds.empty() ? "" : "; left out: " + kinds) + "\n");
    return exit_usage;
  }
  std::string text;
  for (const Json& crd : crds) text += (text.empty() ? "" : "---\n") + detail::to_yaml(crd);
  print(stdout, text);
  // Definitions of Kubernetes' own kinds are not expected in the output.
  std::erase_if(left_out, [](const ResourceId& kind) { return detail::is_kubernetes_group(kind.group); });
  if (!left_out.empty()) {
    print(stderr, options.name + ": --print-crds: left out, as they do not set installs_crd: " +
                      detail::list_kinds(left_out) + "\n");
  }
  return exit_ok;
}

int wrong_usage(const RunOptions& options, const std::string& problem) {
  print(stderr, options.name + ": " + detail::shown_text(problem) + "\nSee " + options.name + " --help.\n");
  return exit_usage;
}

int print_manifests(const RunOptions& options, const ManagerOptions& chosen, const detail::Flags& flags,
                    const std::vector<std::string>& args, const std::function<void(Manager&)>& setup) {
  const detail::SettingsSource file =
      flags.config.empty() ? detail::SettingsSource() : detail::read_settings(flags.config);
  Manager manager = offline_manager(options, chosen);
  setup(manager);
  try {
    const detail::PrintedManifests printed = detail::manifests_of(
        manager, options, chosen, flags,
        detail::endpoint_options(flags.settings.endpoint, file.endpoint, options.endpoint), args);
    print(stdout, printed.text);
    const char* flag = flags.manifests.print_manifests ? ": --print-manifests: " : ": --print-rbac: ";
    for (const std::string& note : printed.notes)
      print(stderr, options.name + flag + detail::shown_text(note) + "\n");
    return exit_ok;
  } catch (const std::invalid_argument& wrong) {
    return wrong_usage(options, wrong.what());
  }
}

int run_manager(Manager& manager, const std::stop_token& stop, const RunOptions& options, const Log& log) {
  int code = exit_ok;
  try {
    manager.run(stop);
  } catch (const GracePeriodExceeded& error) {
    log.error("stopped without waiting for the grace period", {{"error", error.what()}});
    code = exit_grace_period;
  } catch (const LeadershipLost& error) {
    log.error("ended with an error", {{"error", error.what()}});
    code = exit_lead_lost;
  } catch (const std::exception& error) {
    log.error("ended with an error", {{"error", error.what()}});
    code = exit_failed;
  }
  const std::vector<std::string> stuck = manager.stuck();
  if (!stuck.empty())
    log.error("exiting while parts are still running", {{"parts", detail::ascii::join(stuck)}});
  print(stdout, totals_line(options.name, manager.totals()));
  // A reconciler that ignores its stop token would block the destructor; the process ends anyway.
  if (!stuck.empty()) std::_Exit(code);
  return code;
}

// The log must not end with "starting" if the program's own setup failed.
bool set_up(Manager& manager, const std::function<void(Manager&)>& setup, const Log& log) {
  try {
    setup(manager);
    return true;
  } catch (const detail::SettingsError&) {
    throw;
  } catch (const std::exception& error) {
    log.error("ended with an error", {{"error", error.what()}});
  } catch (...) {
    log.error("ended with an error", {{"error", detail::foreign_exception}});
  }
  return false;
}

int run_operator(const RunOptions& options, ManagerOptions chosen, const detail::Flags& flags,
                 const std::function<void(Manager&)>& setup) {
  const detail::SettingsSource file =
      flags.config.empty() ? detail::SettingsSource() : detail::read_settings(flags.config);
  const auto settings = std::make_shared<detail::Settings>(flags.settings, file);
  adjust_controllers(chosen, settings);
  const Log log = chosen.log;
  const detail::SignalStop signals;
  const std::shared_ptr<AccessRecorder> accesses = make_recorder(flags);
  std::optional<Manager> manager;
  try {
    if (chosen.election) detail::check_election_flags(*chosen.election);
    if (chosen.election && chosen.shards)
      throw std::invalid_argument(
          "--shards and --leader-elect exclude each other: with shards all replicas work");
    const Config config = load_config({.kubeconfig = flags.kubeconfig, .context = flags.context});
    const std::shared_ptr<FlowControl> flow_control = make_flow_control(flags);
    Client client = make_client(config, options, chosen, "", flow_control);
    log.info("starting", {{"name", options.name},
                          {"version", options.version},
                          {"server", config.server},
                          {"config", config.origin}});
    detail::check_server(client.with({.stop = signals.token()}), config, log);
    if (accesses) {  // only what controllers do is recorded
      chosen.own_client = chosen.own_client.value_or(client);
      client = make_client(config, options, chosen, "", flow_control, accesses);
    }
    if ((chosen.election || chosen.shards) && !chosen.election_client) {
      chosen.election_client =
          make_client(config, options, chosen, chosen.election ? " leader-election" : " shards");
    }
    manager.emplace(std::move(client), std::move(chosen));
    manager->serve(detail::endpoint_options(flags.settings.endpoint, file.endpoint, options.endpoint));
    manager->serve_webhooks(detail::webhook_options(flags.webhooks, options.webhooks));
  } catch (const std::invalid_argument& wrong) {  // durations of the election, or files of the endpoint
    return wrong_usage(options, wrong.what());
  } catch (const Error& error) {
    log.error("the configuration of the cluster cannot be used", {{"error", error.what()}});
    return exit_config;
  }
  if (!set_up(*manager, setup, log)) return exit_failed;
  if (const auto problem = settings->unknown_name()) return wrong_usage(options, *problem);
  const int code = run_manager(*manager, signals.token(), options, log);
  if (accesses) detail::write_accesses(flags.manifests.access_record, accesses->record(), options.name);
  return code;
}

}  // namespace

int run(int argc, const char* const* argv, const RunOptions& options,
        const std::function<void(Manager&)>& setup) {
  fill_standard_descriptors();
  raise_descriptor_limit();
  try {
    const std::vector<std::string> args = detail::completed_args(argc, argv, options);
    std::vector<const char*> words = {argc > 0 ? argv[0] : options.name.c_str()};
    for (const std::string& arg : args) words.push_back(arg.c_str());
    const detail::FlagsOutcome parsed =
        detail::parse_flags(static_cast<int>(words.size()), words.data(), options);
    if (parsed.exit_code) {
      print(*parsed.exit_code == exit_ok ? stdout : stderr, parsed.text);
      return *parsed.exit_code;
    }
    ManagerOptions manager = manager_options(options, parsed.flags);
    if (!manager.log.enabled(LogLevel::error)) {
      manager.log = Log(make_log({.level = parsed.flags.log_level,
                                  .format = parsed.flags.log_format,
                                  .file = parsed.flags.log_file}));
    }
    if (parsed.flags.print_crds)
      return print_crds(options, std::move(manager),
                        detail::webhook_options(parsed.flags.webhooks, options.webhooks), setup);
    if (parsed.flags.manifests.print_manifests || parsed.flags.manifests.print_rbac)
      return print_manifests(options, manager, parsed.flags, args, setup);
    const Tracing tracing = make_tracing(options, parsed.flags, manager);
    if (!tracing.exporter) return run_operator(options, std::move(manager), parsed.flags, setup);
    RunOptions traced = options;
    traced.tracer = tracing.tracer;
    return run_operator(traced, std::move(manager), parsed.flags, [&](Manager& made) {
      made.metrics().add("tracing",
                         [exporter = tracing.exporter](MetricSink& sink) { exporter->collect(sink); });
      setup(made);
    });
  } catch (const detail::SettingsError& error) {
    return wrong_usage(options, error.what());
  } catch (const std::exception& error) {
    print(stderr, options.name + ": " + detail::shown_text(error.what()) + "\n");
  } catch (...) {
    print(stderr, options.name + ": " + detail::foreign_exception + "\n");
  }
  return exit_failed;
}

}  // namespace v0
}  // namespace evenkeel
