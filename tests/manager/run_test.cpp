// SPDX-License-Identifier: Apache-2.0
// The demo operator as a process: flags, signals, exit codes, and its behaviour with an unusable cluster.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/manager/run.hpp>

#include "../support/await.hpp"
#include "../support/repository.hpp"
#include "apiserver/shell/tls_certificates.hpp"
#include "child.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tests::await;

std::string write_file(const std::string& name, const std::string& text) {
  const std::string path =
      ::testing::TempDir() + "evenkeel_run_test_" + std::to_string(::getpid()) + "_" + name;
  std::ofstream(path) << text;
  return path;
}

std::unique_ptr<Child> start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), EVENKEEL_DEMO_OPERATOR);
  return std::make_unique<Child>(std::move(arguments), std::vector<std::string>{"HOME=/nonexistent"});
}

/// Runs it to completion.
std::unique_ptr<Child> run_to_end(std::vector<std::string> arguments, int code) {
  auto child = start(std::move(arguments));
  EXPECT_EQ(child->wait(), code) << child->log();
  return child;
}

// A server that serves Demos, and the operator connected to it.
class RunTest : public ::testing::Test {
 protected:
  void serve(apiserver::ApiServerOptions options = {}) {
    server = std::make_unique<apiserver::ApiServer>(std::move(options));
    kubeconfig = write_file("kubeconfig", server->kubeconfig());
  }
  // Installs the CustomResourceDefinition like a user, but as JSON.
  void install_crd() { server->install(demo_crd()); }
  static std::string demo_crd() {
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"demos.demo.evenkeel.dev"},"spec":{"group":"demo.evenkeel.dev","scope":"Namespaced",
      "names":{"kind":"Demo","plural":"demos","singular":"demo","listKind":"DemoList"},
      "versions":[{"name":"v1alpha1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";
  }
  void create_demo(const std::string& name, const std::string& image) {
    const std::string body =
        R"({"apiVersion":"demo.evenkeel.dev/v1alpha1","kind":"Demo","metadata":{"name":")" + name +
        R"("},"spec":{"replicas":1,"image":")" + image + R"("}})";
    http::Request request{.method = http::Method::post,
                          .target = "/apis/demo.evenkeel.dev/v1alpha1/namespaces/default/demos",
                          .body = body};
    request.headers.set("Content-Type", "application/json");
    ASSERT_EQ(server->core()->handle(request).status, 201);
  }
  std::unique_ptr<Child> start_operator(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--kubeconfig", kubeconfig};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return start(std::move(arguments));
  }

  std::unique_ptr<apiserver::ApiServer> server;
  std::string kubeconfig;
};

TEST_F(RunTest, PrintsItsCrdsWithoutACluster) {
  const auto child = run_to_end({"--print-crds", "--kubeconfig", "/nonexistent"}, 0);
  EXPECT_THAT(child->output(),
              StartsWith("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"));
  EXPECT_THAT(child->output(),
              AllOf(HasSubstr("name: demos.demo.evenkeel.dev\n"), HasSubstr("kind: Demo\n"),
                    HasSubstr("status: {}\n"), HasSubstr("specReplicasPath: .spec.replicas\n")));
  EXPECT_EQ(child->log(), "");
}

/// Returns flag and default of each row of the table in docs/flags.md; the default is empty where it is not a
/// literal.
std::map<std::string, std::string> documented_flags() {
  std::istringstream file(tests::read_repository_file("docs/flags.md"));
  std::map<std::string, std::string> flags;
  const std::regex row(R"(\| `(--[a-z-]+)` \|[^|]*\| (?:`([^`]*)`)?[^|]*\|.*)");
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, found, row)) flags[found[1]] = found[2];
  }
  return flags;
}

/// Returns the file in docs/flags.md.
std::string documented_settings() {
  const std::string page = tests::read_repository_file("docs/flags.md");
  const std::size_t begin = page.find("```yaml\n") + 8;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST_F(RunTest, AllDocumentedFlagsWorkTogether) {
  serve();
  install_crd();
  const apiserver::CertifiedKey authority = apiserver::make_authority();
  const apiserver::CertifiedKey pair = apiserver::make_server_certificate(authority, {"127.0.0.1"});
  const std::map<std::string, std::string> values = {
      {"--kubeconfig", kubeconfig},
      {"--context", "evenkeel"},
      {"--namespace", "default"},
      {"--cache-directory", write_file("copies.txt", "") + ".d"},
      {"--config", write_file("documented.yaml", documented_settings())},
      {"--kube-api-qps", "50"},
      {"--kube-api-burst", "100"},
      {"--workers", "demo=2"},
      {"--reconcile-timeout", "30s"},
      {"--requeue-priority", "slow"},
      {"--leader-elect-name", "demo-lock"},
      {"--leader-elect-namespace", "default"},
      {"--metrics-bind-address", "127.0.0.1:0"},
      {"--metrics-cert-file", write_file("tls.crt", pair.certificate)},
      {"--metrics-key-file", write_file("tls.key", pair.key)},
      {"--metrics-token-file", write_file("token", "t")},
      {"--health-probe-bind-address", "localhost:0"},  // differs from the address of the metrics
      {"--webhook-cert-file", write_file("webhook.crt", pair.certificate)},
      {"--webhook-key-file", write_file("webhook.key", pair.key)},
      {"--webhook-service", "default/demo"},
      {"--otlp-endpoint", "http://127.0.0.1:9/v1/traces"},
      {"--trace-ratio", "0.5"},
      {"--access-record", write_file("access.txt", "")},
      {"--manifest-namespace", "demo-system"},
      {"--manifest-image", "demo:1"},
      {"--manifest-replicas", "2"},
      {"--log-level", "info"},
      {"--log-format", "text"},
      {"--log-file", "/dev/stderr"}};
  const std::set<std::string> without_value = {"--leader-elect", "--streaming-lists", "--debug-endpoints",
                                               "--console", "--manifest-service-monitor"};
  // Each excludes another flag: --metrics-token-file, and an election; see ShardsAreChosenByFlags.
  const std::set<std::string> excluded = {
      "--metrics-access-reviews", "--shards",    "--shards-name", "--shards-namespace",
      "--shards-slots",           "--shards-by", "--shards-label"};
  const std::set<std::string> print_and_end = {"--print-crds", "--print-manifests", "--print-rbac",
                                               "--version", "--help"};
  std::vector<std::string> arguments;
  for (const auto& [flag, default_value] : documented_flags()) {
    if (print_and_end.contains(flag)) {
      EXPECT_FALSE(run_to_end({flag}, 0)->output().empty()) << flag;
      continue;
    }
    if (excluded.contains(flag)) continue;
    arguments.push_back(flag);
    if (without_value.contains(flag)) continue;
    const auto given = values.find(flag);
    ASSERT_TRUE(given != values.end() || !default_value.empty()) << flag << " needs a value in this test";
    arguments.push_back(given != values.end() ? given->second : default_value);
  }
  EXPECT_GE(arguments.size(), values.size() * 2 + without_value.size());
  const auto child = start(arguments);
  EXPECT_THAT(child->wait_for_line("serving what=metrics"), HasSubstr("url=https://127.0.0.1:"));
  EXPECT_THAT(child->wait_for_line("serving what=probes"), HasSubstr("url=http://localhost:"));
  EXPECT_THAT(child->wait_for_line("workers started"), HasSubstr("controller=demo"));
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(RunTest, RecordsTheRightsThatItsRequestsNeed) {
  serve();
  install_crd();
  const std::string record = write_file("access.txt", "delete - pods default various\n");
  const auto child = start({"--kubeconfig", kubeconfig, "--access-record", record});
  child->wait_for_line("workers started");
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
  EXPECT_EQ(content_of(record),
            "# Requests of demo-operator: verb, API group, resource, namespace and name; - is none, * are "
            "various.\n"
            "delete - pods default various\n"
            "list - configmaps - -\n"
            "list demo.evenkeel.dev demos - -\n"
            "watch - configmaps - -\n"
            "watch demo.evenkeel.dev demos - -\n");
  EXPECT_THAT(run_to_end({"--print-rbac", "--access-record", record}, 0)->output(),
              HasSubstr("  - pods\n  verbs:\n  - delete\n"));
}

TEST_F(RunTest, RefusesARecordThatItCannotRead) {
  const std::string record = write_file("access.txt", "delete pods\n");
  const std::string problem = "demo-operator: --access-record: " + record +
                              ":1: expected VERB GROUP RESOURCE NAMESPACE NAME, found \"delete pods\"\n"
                              "See demo-operator --help.\n";
  EXPECT_EQ(run_to_end({"--access-record", record}, 2)->log(), problem);
  EXPECT_EQ(run_to_end({"--print-rbac", "--access-record", record}, 2)->log(), problem);
  EXPECT_EQ(run_to_end({"--print-rbac", "--access-record", record + ".no"}, 2)->log(),
            "demo-operator: --access-record: " + record +
                ".no cannot be read: No such file or directory\nSee demo-operator --help.\n");
}

// Another user of the machine may have prepared the place.
TEST_F(RunTest, WritesARecordIntoAFileOfItsOwn) {
  serve();
  install_crd();
  const std::string victim = write_file("victim.txt", "precious\n");
  const std::string record = victim + ".record";
  ASSERT_EQ(::symlink(victim.c_str(), (record + ".new").c_str()), 0);
  const auto child = start({"--kubeconfig", kubeconfig, "--access-record", record});
  child->wait_for_line("workers started");
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
  EXPECT_EQ(content_of(victim), "precious\n");
  EXPECT_THAT(content_of(record), HasSubstr("list demo.evenkeel.dev demos - -\n"));
  struct stat found {};
  ASSERT_EQ(::lstat(record.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode, static_cast<mode_t>(S_IFREG | S_IRUSR | S_IWUSR));
  ASSERT_EQ(::chmod(record.c_str(), 0666), 0);
  EXPECT_EQ(run_to_end({"--access-record", record}, 2)->log(),
            "demo-operator: --access-record: " + record +
                " cannot be read: everybody can write it\nSee demo-operator --help.\n");
}

TEST_F(RunTest, ShardsAreChosenByFlags) {
  serve();
  install_crd();
  const std::vector<std::string> chosen = {"--kubeconfig", kubeconfig,           "--shards", "--shards-name",
                                           "ring",         "--shards-namespace", "default",  "--shards-slots",
                                           "16",           "--shards-by",        "namespace"};
  const auto child = start(chosen);
  EXPECT_THAT(child->wait_for_line("joined the ring"), HasSubstr("ring=default/ring"));
  const http::Request members{.target = "/apis/coordination.k8s.io/v1/namespaces/default/leases"};
  EXPECT_THAT(server->core()->handle(members).body,
              HasSubstr(R"("sharding.evenkeel.dev/division":"namespace")"));
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
  std::vector<std::string> both = chosen;
  both.push_back("--leader-elect");
  const auto refused = start(both);
  EXPECT_EQ(refused->wait(), 2);
  EXPECT_THAT(
      refused->log(),
      HasSubstr(
          "demo-operator: --shards and --leader-elect exclude each other: with shards all replicas work\n"));
}

TEST_F(RunTest, HelpAndVersionGoToStandardOutput) {
  EXPECT_THAT(run_to_end({"--help"}, 0)->output(), HasSubstr("--kubeconfig FILE"));
  EXPECT_THAT(run_to_end({"--version"}, 0)->output(), StartsWith("demo-operator "));
}

TEST_F(RunTest, AWrongFlagEndsWithTwo) {
  const auto child = run_to_end({"--workers", "none"}, 2);
  EXPECT_THAT(child->log(), HasSubstr("--workers: \"none\" is not a number from 1 to 4096"));
  EXPECT_EQ(child->output(), "");
}

TEST_F(RunTest, AConfigurationFileThatIsWrongEndsWithTwoAndSaysWhere) {
  const std::string file = write_file("settings.yaml", "controllers:\n  demo:\n    workers: many\n");
  const auto child = run_to_end({"--config", file}, 2);
  EXPECT_EQ(child->log(), "demo-operator: " + file +
                              ":3: controllers.demo.workers: \"many\" is not a number from 1 to 4096\n"
                              "See demo-operator --help.\n");
  EXPECT_THAT(run_to_end({"--config", "/nonexistent/f"}, 2)->log(),
              HasSubstr("/nonexistent/f cannot be read"));
}

TEST_F(RunTest, SettingsOfAControllerThatThereIsNotEndWithTwo) {
  serve();
  EXPECT_THAT(run_to_end({"--kubeconfig", kubeconfig, "--workers", "demos=2"}, 2)->log(),
              HasSubstr("demo-operator: --workers: there is no controller \"demos\"; there is demo\nSee"));
  const std::string file = write_file("settings.yaml", "controllers:\n  demos:\n    workers: 2\n");
  EXPECT_THAT(run_to_end({"--kubeconfig", kubeconfig, "--config", file}, 2)->log(),
              HasSubstr(file + ":2: controllers.demos: there is no controller \"demos\"; there is demo\n"));
}

// A flag takes precedence over the file; the effective settings are logged at the start, and are applied.
TEST_F(RunTest, SettingsOfFlagsAndFileAreInForce) {
  serve();
  install_crd();
  create_demo("sick", "web:broken");
  const std::string file = write_file("settings.yaml",
                                      "controllers:\n  demo:\n    workers: 3\n    eventGate: off\n"
                                      "    requeuePriority: slow\n"
                                      "    rateLimiter: exponential(7ms, 8ms)\n");
  const auto child = start_operator({"--config", file, "--workers", "demo=2", "--reconcile-timeout", "1m"});
  EXPECT_THAT(child->wait_for_line("settings of a controller"),
              AllOf(HasSubstr("controller=demo workers=2 rate_limiter=\"exponential(7ms, 8ms)\""),
                    HasSubstr("reconcile_timeout=1m0s event_gate=off"), HasSubstr("requeue_priority=-100")));
  EXPECT_THAT(child->wait_for_line("workers started"), HasSubstr("workers=2"));
  EXPECT_THAT(child->wait_for_line("attempt=1 "), HasSubstr("next_try_in=7ms"));
  EXPECT_THAT(child->wait_for_line("attempt=2 "), HasSubstr("next_try_in=8ms"));
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

TEST_F(RunTest, AKubeconfigThatCannotBeUsedEndsWithThreeAndIsNamed) {
  EXPECT_THAT(run_to_end({"--kubeconfig", "/nonexistent/kubeconfig"}, 3)->log(),
              HasSubstr("/nonexistent/kubeconfig"));
  const std::string broken = write_file("broken", "apiVersion: v1\nkind: Config\nclusters: {");
  EXPECT_THAT(run_to_end({"--kubeconfig", broken}, 3)->log(), HasSubstr(broken));
  serve();
  const auto child = run_to_end({"--kubeconfig", kubeconfig, "--context", "elsewhere"}, 3);
  EXPECT_THAT(child->log(), AllOf(HasSubstr(kubeconfig), HasSubstr("elsewhere")));
}

TEST_F(RunTest, AServerThatIsNotTrustedEndsWithThree) {
  apiserver::ApiServer other({.tls = true, .token = "secret"});
  serve({.tls = true, .token = "secret"});
  std::string text = server->kubeconfig();
  const auto authority = [](const std::string& config) {
    const std::size_t begin = config.find("certificate-authority-data: ") + 28;
    return std::pair(begin, config.find('\n', begin) - begin);
  };
  const auto [begin, size] = authority(text);
  const auto [other_begin, other_size] = authority(other.kubeconfig());
  text.replace(begin, size, other.kubeconfig().substr(other_begin, other_size));
  const auto child = run_to_end({"--kubeconfig", write_file("distrust", text)}, 3);
  EXPECT_THAT(child->log(),
              AllOf(HasSubstr("the configuration of the cluster cannot be used"), HasSubstr("certificate")));
  EXPECT_THAT(child->log(), ::testing::Not(HasSubstr("secret")));
}

TEST_F(RunTest, SigtermStopsItCleanlyWithItsTotals) {
  for (const int signal : {SIGTERM, SIGINT}) {
    serve();
    install_crd();
    create_demo("web", "web:1");
    const auto child = start_operator({"--log-level", "debug"});
    child->wait_for_line("workers started");
    child->signal(signal);
    EXPECT_EQ(child->wait(), 0) << child->log();
  }
}

TEST_F(RunTest, SigtermEndsItWhileACredentialProgramHangsAtStart) {
  const std::string pipe = write_file("pipe", "");
  std::remove(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string plugin = write_file("plugin", "#!/bin/sh\necho x > " + pipe + "\nexec sleep 300\n");
  ::chmod(plugin.c_str(), 0700);
  const auto child = start({"--kubeconfig", write_file("exec", R"({"current-context": "c",
      "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
      "users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
                                                "interactiveMode": "Never",
                                                "command": ")" + plugin +
                                                                   R"("}}}],
      "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]})")});
  std::string line;
  std::ifstream hangs(pipe);
  std::getline(hangs, line);
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
  EXPECT_THAT(child->log(), ::testing::Not(HasSubstr("the configuration of the cluster cannot be used")));
  std::remove(pipe.c_str());
}

// Otherwise the signal pipe or a socket would get such a number, and the log would be written into it.
TEST_F(RunTest, ClosedStandardDescriptorsAreFilled) {
  serve();
  install_crd();
  const std::string log = write_file("log", "");
  const std::string command = std::string(EVENKEEL_DEMO_OPERATOR) + " --kubeconfig " + kubeconfig +
                              " --log-file " + log + " <&- >&- 2>&- & echo $! >&9; wait $!";
  const std::string pipe = write_file("pid", "");
  Child shell({"/bin/sh", "-c", "exec 9>" + pipe + "; " + command}, {"PATH=/usr/bin:/bin"});
  const auto pid = [&] {
    long number = 0;
    std::ifstream(pipe) >> number;
    return number;
  };
  const auto target = [&](int number) {
    std::error_code none;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid()) + "/fd/" + std::to_string(number),
                                         none)
        .string();
  };
  await("the operator", [&] {  // it handles signals before its first log line
    std::ifstream file(log);
    std::string line;
    return pid() > 0 && std::getline(file, line);
  });
  for (int number = 0; number <= 2; ++number) EXPECT_EQ(target(number), "/dev/null") << number;
  ::kill(static_cast<pid_t>(pid()), SIGTERM);
  EXPECT_EQ(shell.wait(), 0);
}

// The server's own kubeconfig sets the namespace "default".
const char* const lease_target = "/apis/coordination.k8s.io/v1/namespaces/default/leases/demo-operator";

TEST_F(RunTest, LeaderElectionIsAFlagAway) {
  serve();
  install_crd();
  const auto leader = start_operator({"--leader-elect"});
  leader->wait_for_line("workers started");
  const auto standby = start_operator({"--leader-elect"});
  standby->wait_for_line("the holder of the Lease is");
  leader->signal(SIGTERM);
  EXPECT_EQ(leader->wait(), 0) << leader->log();
  standby->wait_for_line("workers started");
  standby->signal(SIGTERM);
  EXPECT_EQ(standby->wait(), 0) << standby->log();
  const http::Response lease = server->core()->handle({.target = lease_target});
  EXPECT_EQ(Json::parse(lease.body).at({"spec", "leaseTransitions"}).integer_or(0), 1);
  EXPECT_EQ(Json::parse(lease.body).at({"spec", "holderIdentity"}).string_or("none"), "");
}

TEST_F(RunTest, ALostLeadEndsItWithFive) {
  serve();
  install_crd();
  const auto child = start_operator({"--leader-elect"});
  child->wait_for_line("workers started");
  http::Request steal{.method = http::Method::patch,
                      .target = lease_target,
                      .body = R"({"spec":{"holderIdentity":"thief"}})"};
  steal.headers.set("Content-Type", "application/merge-patch+json");
  ASSERT_EQ(server->core()->handle(steal).status, 200);
  EXPECT_EQ(child->wait(), 5) << child->log();
  EXPECT_THAT(child->log(), HasSubstr("lost leadership"));
}

TEST_F(RunTest, TimesOfAnElectionThatDoNotGoTogetherEndWithTwo) {
  serve();
  const auto child = start_operator({"--leader-elect", "--leader-elect-lease-duration", "5s"});
  EXPECT_EQ(child->wait(), 2);
  EXPECT_THAT(
      child->log(),
      HasSubstr(
          "demo-operator: --leader-elect-lease-duration: 5s is not longer than the renew deadline of 10s "
          "(--leader-elect-renew-deadline)\nSee demo-operator --help.\n"));
  const auto alone = start_operator({"--leader-elect-name", "x"});
  EXPECT_EQ(alone->wait(), 2);
  EXPECT_THAT(alone->log(), HasSubstr("--leader-elect"));
}

TEST_F(RunTest, TheLastLineOfStandardOutputAreItsTotals) {
  serve();
  install_crd();
  create_demo("web", "web:1");
  create_demo("sick", "web:broken");
  const auto child = start_operator({"--log-level", "debug"});
  child->wait_for_line("attempt=3");
  child->signal(SIGTERM);
  ASSERT_EQ(child->wait(), 0) << child->log();
  const Json totals = Json::parse(child->last_output_line());
  EXPECT_EQ(totals["name"].string_or(""), "demo-operator");
  EXPECT_EQ(totals["objects"].integer_or(0), 2);
  EXPECT_GE(totals["reconciles"].integer_or(0), 4);
  EXPECT_GE(totals["errors"].integer_or(0), 3);
  EXPECT_GE(totals["retries"].integer_or(0), 3);
  EXPECT_TRUE(totals["event_to_reconcile_p50_ms"].is_number());
  EXPECT_GE(totals["event_to_reconcile_p99_ms"].as_number(), totals["event_to_reconcile_p50_ms"].as_number());
  EXPECT_EQ(child->output(), child->last_output_line() + "\n") << "nothing else goes to standard output";
}

TEST_F(RunTest, JsonLogsAreOneDocumentALine) {
  serve();
  install_crd();
  create_demo("sick", "web:broken");
  const auto child = start_operator({"--log-format", "json"});
  const Json failure = Json::parse(child->wait_for_line("reconcile failed"));
  EXPECT_EQ(failure["controller"].string_or(""), "demo");
  EXPECT_EQ(failure["object"].string_or(""), "default/sick");
  EXPECT_EQ(failure["attempt"].integer_or(0), 1);
  EXPECT_EQ(failure["next_try_in"].string_or(""), "5ms");
  EXPECT_EQ(failure["error"].string_or(""), "no such image: web:broken");
  EXPECT_EQ(failure["reconcile_id"].string_or("").size(), 16U);
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0);
  std::istringstream lines(child->log());
  for (std::string line; std::getline(lines, line);) EXPECT_NO_THROW(Json::parse(line)) << line;
}

TEST_F(RunTest, AnUnreachableServerIsWaitedFor) {
  serve();
  const std::uint16_t port = server->port();
  server.reset();
  const auto child = start_operator();
  EXPECT_THAT(child->wait_for_line("cannot reach the server; retrying"), HasSubstr(std::to_string(port)));
  serve({.port = port});
  install_crd();
  child->wait_for_line("workers started");
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

TEST_F(RunTest, RefusedCredentialsAreWaitedOut) {
  serve({.tls = true, .token = "right"});
  std::string text = server->kubeconfig();
  text.replace(text.find("right"), 5, "wrong");
  const auto child = start({"--kubeconfig", write_file("wrong-token", text)});
  EXPECT_THAT(child->wait_for_line("rejects the credentials"), HasSubstr("401"));
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

// A kubeconfig's token is not sent over plain http, so the server did not reject it.
TEST_F(RunTest, WithheldCredentialsAreNamed) {
  serve({.token = "right"});
  const auto child = start_operator();
  EXPECT_THAT(
      child->wait_for_line("the server requires credentials, and none are sent; retrying"),
      AllOf(HasSubstr("without its credentials, because the server is plain http"), HasSubstr("401")));
  EXPECT_THAT(child->log(), Not(HasSubstr("rejects the credentials")));
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

TEST_F(RunTest, AMissingCrdIsNamedAndWaitedFor) {
  serve();
  const auto child = start_operator({"--sync-timeout", "50ms"});
  std::string line = child->wait_for_line("still waiting");
  // A slow machine may log this before the server has responded, and again afterwards.
  while (line.find("404") == std::string::npos) line = child->wait_for_line("still waiting");
  EXPECT_THAT(line, HasSubstr("demos (demo.evenkeel.dev/v1alpha1)"));
  install_crd();
  child->wait_for_line("workers started");
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

TEST_F(RunTest, AForbiddenListIsNamedAndWaitedFor) {
  serve();
  install_crd();
  const apiserver::FaultId refusal = server->inject(
      {.verb = "list", .resource = "demos.demo.evenkeel.dev", .status = 403, .message = "no list for you"});
  const auto child = start_operator({"--streaming-lists=false"});
  EXPECT_THAT(child->wait_for_line("cannot list or watch"),
              AllOf(HasSubstr("kind=Demo"), HasSubstr("problem=forbidden"), HasSubstr("list Demo: 403"),
                    HasSubstr("no list for you"), HasSubstr("does the role allow list and watch?")));
  server->remove_fault(refusal);
  child->wait_for_line("workers started");
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0) << child->log();
}

TEST_F(RunTest, AReconcileThatOutlivesTheGracePeriodEndsItWithFour) {
  serve({.faults = {{.verb = "patch", .resource = "configmaps", .delay = 60s}}});
  install_crd();
  const auto child = start_operator({"--grace-period", "50ms", "--log-level", "debug"});
  child->wait_for_line("workers started");
  create_demo("web", "web:1");
  await("the patch", [&] { return server->fault_counts(1).fired + server->fault_counts(0).fired > 0; });
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 4) << child->log();
  EXPECT_THAT(child->log(), HasSubstr("the grace period was over before these had ended: controller demo"));
  EXPECT_FALSE(child->last_output_line().empty());
}

// Otherwise the destructor of the manager would wait for the reconcile, and the process would never end.
TEST_F(RunTest, AReconcileThatNeverEndsDoesNotKeepAProcessThatLostItsLead) {
  serve();
  const std::string journal = write_file("journal", "");
  Child child({EVENKEEL_LOAD_OPERATOR, "--kubeconfig", kubeconfig, "--leader-elect"},
              {"LOAD_STUCK=web", "LOAD_JOURNAL=" + journal});
  http::Request create{.method = http::Method::post,
                       .target = "/api/v1/namespaces/default/configmaps",
                       .body = R"({"metadata":{"name":"web"},"data":{"wanted":"1"}})"};
  create.headers.set("Content-Type", "application/json");
  ASSERT_EQ(server->core()->handle(create).status, 201);
  await("the reconcile", [&] { return content_of(journal).starts_with("begin "); });
  http::Request steal{.method = http::Method::patch,
                      .target = "/apis/coordination.k8s.io/v1/namespaces/default/leases/load-operator",
                      .body = R"({"spec":{"holderIdentity":"thief"}})"};
  steal.headers.set("Content-Type", "application/merge-patch+json");
  ASSERT_EQ(server->core()->handle(steal).status, 200);
  EXPECT_EQ(child.wait(), 5) << child.log();
  EXPECT_THAT(child.log(), HasSubstr("exiting while parts are still running parts=\"controller configmap\""));
  EXPECT_FALSE(child.last_output_line().empty());
}

TEST_F(RunTest, ASecondSignalEndsItAtOnce) {
  serve({.faults = {{.verb = "patch", .resource = "configmaps", .delay = 60s}}});
  install_crd();
  const auto child = start_operator();
  child->wait_for_line("workers started");
  create_demo("web", "web:1");
  await("the patch", [&] { return server->fault_counts(1).fired + server->fault_counts(0).fired > 0; });
  child->signal(SIGTERM);
  child->wait_for_line("stopping");
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 128 + SIGTERM);
}

TEST_F(RunTest, TheWatchExampleFollowsAKind) {
  serve();
  Child child({EVENKEEL_WATCH_EXAMPLE, "default", "2"}, {"KUBECONFIG=" + kubeconfig});
  for (const char* name : {"one", "two"}) {
    http::Request request{.method = http::Method::post,
                          .target = "/api/v1/namespaces/default/configmaps",
                          .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" +
                                  std::string(name) + R"("}})"};
    request.headers.set("Content-Type", "application/json");
    ASSERT_EQ(server->core()->handle(request).status, 201);
  }
  EXPECT_EQ(child.wait(), 0) << child.log();
  EXPECT_EQ(child.output(), "added default/one\nadded default/two\n");
}

}  // namespace
}  // namespace evenkeel
