// SPDX-License-Identifier: Apache-2.0
// The environment itself: its processes, authentication, error messages and cleanup.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/kinds/rbac.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/testing/environment.hpp>

#include "../client/widget.hpp"
#include "../manager/child.hpp"
#include "../support/await.hpp"
#include "real_environment.hpp"

namespace {

namespace ek = evenkeel;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ek::testing::Component;
using ek::testing::Environment;
using ek::testing::EnvironmentOptions;
using ek::tests::await;
using ek::tests::environment;
using ek::tests::error_code;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Returns the text of the error that the constructor throws with these options.
std::string start_error(const EnvironmentOptions& options) {
  try {
    const Environment environment(options);
    return "(it started)";
  } catch (const ek::Error& error) {
    return error.what();
  }
}

/// Returns the processes whose command line contains this text.
std::vector<std::string> processes(const std::string& text) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string command{std::istreambuf_iterator<char>(file), {}};
    if (command.find(text) != std::string::npos) found.push_back(entry.path().filename());
  }
  return found;
}

ek::ConfigMap config_map(const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"k", "v"}}};
}

TEST(Environment, ServesWithRbacAndTls) {
  const ek::Client client(environment().config());
  EXPECT_TRUE(environment().url().starts_with("https://127.0.0.1:"));
  EXPECT_EQ(client.create(config_map("serves"))->data.at("k"), "v");
  EXPECT_EQ(client.get<ek::ConfigMap>({"default", "serves"})->metadata.name, "serves");
  ek::Config nobody = environment().config();
  nobody.token = "wrong";
  EXPECT_EQ(error_code([&] { ek::Client(nobody).list<ek::ConfigMap>(); }), 401);
  nobody.token.clear();
  EXPECT_EQ(error_code([&] { ek::Client(nobody).list<ek::ConfigMap>(); }), 403) << "anonymous";
}

TEST(Environment, ItsKubeconfigLeadsThere) {
  const ek::Config config = ek::parse_kubeconfig(environment().kubeconfig());
  EXPECT_EQ(config.server, environment().url());
  EXPECT_TRUE(ek::Client(config).get<ek::Namespace>({"", "kube-system"}));
  const ek::Config other = ek::parse_kubeconfig(environment().kubeconfig_for({.user = "eve", .groups = {}}));
  EXPECT_EQ(error_code([&] { ek::Client(other).list<ek::ConfigMap>(); }), 403);
}

TEST(Environment, UsersMayDoWhatTheirRolesSay) {
  const ek::Client admin(environment().config());
  const std::string team = ek::tests::fresh_namespace(admin);
  const ek::Client eve(environment().config_for({.user = "eve", .groups = {"readers"}}));
  const auto list = [&] { eve.list<ek::ConfigMap>({.namespace_ = team}); };
  try {
    list();
    FAIL() << "eve may read";
  } catch (const ek::ApiError& error) {
    EXPECT_TRUE(error.is_forbidden());
    EXPECT_THAT(error.message(), HasSubstr("User \"eve\" cannot list resource \"configmaps\""));
  }
  environment().install(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: read, namespace: )" +
                        team + R"(}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: read, namespace: )" +
                        team + R"(}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}]
)");
  await("the role to be seen", [&] { return error_code(list) == 0; });
  EXPECT_EQ(error_code([&] { eve.create(ek::ConfigMap{.metadata = {.name = "a", .namespace_ = team}}); }),
            403);
  const ek::Client other(environment().config_for({.user = "adam", .groups = {}}));
  EXPECT_EQ(error_code([&] { other.list<ek::ConfigMap>({.namespace_ = team}); }), 403);
}

TEST(Environment, InstallsTheDefinitionsOfTypes) {
  environment().install<ek::tests::Widget>();
  environment().install<ek::tests::Widget>();  // exists already
  const ek::Client client(environment().config());
  const auto made = client.create(ek::tests::Widget{.metadata = {.name = "a", .namespace_ = "default"}});
  EXPECT_EQ(made->metadata.generation, 1);
  EXPECT_EQ(client.patch_status(made, [](ek::tests::WidgetStatus& status) { status.ready_replicas = 2; })
                ->status.ready_replicas,
            2);
}

TEST(Environment, InstallsManifestsWithDefinitionsAndTheirObjects) {
  environment().install(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: toys, singular: toy, kind: Toy, listKind: ToyList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: example.com/v1, kind: Toy, metadata: {name: ball}}
- {apiVersion: example.com/v2, kind: Toy, metadata: {name: car, namespace: kube-public}}
)");
  const ek::ResourceClient toys =
      ek::Client(environment().config()).resource({"example.com", "v2", "Toy", "toys"});
  EXPECT_EQ(toys.list().items.size(), 2u);
}

TEST(Environment, SaysWhatIsWrongWithAManifest) {
  const auto problem = [](const std::string& manifest) -> std::string {
    try {
      environment().install(manifest);
    } catch (const ek::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem("{apiVersion: v1, kind: Nothing, metadata: {name: a}}"),
            "Nothing/a: the server knows no kind Nothing in \"v1\"");
  EXPECT_THAT(problem("{apiVersion: v1, kind: ConfigMap, metadata: {name: A}}"),
              HasSubstr("ConfigMap/A: ConfigMap \"A\" is invalid: metadata.name"));
  EXPECT_THAT(problem("a: [\n"), HasSubstr("line"));
}

TEST(Environment, ControllersAct) {
  const ek::Client client(environment().config());
  const std::string team = ek::tests::fresh_namespace(client);
  const auto owner = client.create(ek::ConfigMap{.metadata = {.name = "owner", .namespace_ = team}});
  client.create(ek::ConfigMap{
      .metadata = {
          .name = "owned",
          .namespace_ = team,
          .owner_references = {
              {.api_version = "v1", .kind = "ConfigMap", .name = "owner", .uid = owner->metadata.uid}}}});
  environment().install(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: )" +
                        team + R"(}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: none}]}}
)");
  await("the Deployment's pods",
        [&] { return client.list<ek::Pod>({.namespace_ = team}).items.size() == 2; });
  client.remove<ek::ConfigMap>({team, "owner"});
  await("the owned object to go", [&] { return !client.find<ek::ConfigMap>({team, "owned"}); });
  client.remove<ek::Namespace>({"", team});
  await("the namespace to go", [&] { return !client.find<ek::Namespace>({"", team}); });
}

TEST(Environment, ComponentsComeBackWhereTheyWere) {
  const ek::Client client(environment().config());
  client.create(config_map("kept"));
  const std::string url = environment().url();
  EXPECT_THROW(environment().start(Component::api_server), std::invalid_argument) << "it runs";
  environment().kill(Component::api_server);
  EXPECT_THROW(client.with({.max_retries = 0}).get<ek::ConfigMap>({"default", "kept"}), ek::TransportError);
  environment().start(Component::api_server);
  EXPECT_EQ(environment().url(), url);
  EXPECT_TRUE(client.get<ek::ConfigMap>({"default", "kept"}));
  environment().restart(Component::etcd);
  EXPECT_TRUE(client.get<ek::ConfigMap>({"default", "kept"}));
  environment().restart(Component::controller_manager);
  EXPECT_THAT(environment().log(Component::etcd), HasSubstr("\"level\":\"info\""));
}

TEST(Environment, SeveralAtOnceKnowNothingOfEachOther) {
  const Environment other(
      {.token = "mine", .tokens = {{.token = "hers", .caller = {.user = "eve", .groups = {}}}}});
  EXPECT_NE(other.url(), environment().url());
  EXPECT_NE(other.directory(), environment().directory());
  const ek::Client here(environment().config());
  const ek::Client there(other.config());
  EXPECT_EQ(other.config().token, "mine");
  there.create(config_map("there"));
  EXPECT_FALSE(here.find<ek::ConfigMap>({"default", "there"}));
  ek::Config eve = other.config();
  eve.token = "hers";
  EXPECT_EQ(error_code([&] { ek::Client(eve).list<ek::ConfigMap>(); }), 403);
  ek::Config stranger = environment().config();
  stranger.server = other.url();
  EXPECT_THROW(ek::Client(stranger).list<ek::ConfigMap>(), ek::TransportError) << "another authority";
}

TEST(Environment, StopsAtOnceWithAWatchOpenAndLeavesNothing) {
  Environment one;
  const ek::Client client(one.config());
  const std::string directory = one.directory();
  EXPECT_GE(processes(directory).size(), 3u) << "keeper, etcd, kube-apiserver";
  struct Opened final : ek::http::StreamHandler {
    void on_response(int status, const ek::http::Headers&) override { code = status; }
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override { ended = true; }
    std::atomic<int> code = 0;
    std::atomic<bool> ended = false;
  };
  const auto watch = std::make_shared<Opened>();
  client.transport()->stream({.target = "/api/v1/configmaps?watch=1",
                              .headers = {{"Authorization", "Bearer " + one.config().token}}},
                             watch);
  await("the watch to be opened", [&] { return watch->code == 200; });
  const auto start = std::chrono::steady_clock::now();
  one.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(processes(directory), std::vector<std::string>());
  EXPECT_FALSE(fs::exists(directory));
  await("the watch to end", [&] { return watch->ended.load(); });
  one.stop();
}

// A process is killed while its environment runs, and while it starts; the program only calls the library.
TEST(Environment, NothingIsLeftOfAProcessThatIsKilled) {
  const std::string folder = ::testing::TempDir() + "killed-" + std::to_string(::getpid());
  fs::create_directories(folder);
  for (const int number : {SIGKILL, SIGSEGV}) {
    for (const bool ready : {true, false}) {
      ek::Child program({EVENKEEL_CONTROL_PLANE, "--write-kubeconfig", folder + "/kubeconfig"},
                        {"TMPDIR=" + folder, "HOME=" + std::string(std::getenv("HOME")),
                         "KUBEBUILDER_ASSETS=" + std::string(std::getenv("KUBEBUILDER_ASSETS"))});
      const auto begun = [&] { return processes(folder + "/evenkeel-environment").size() >= 3; };
      if (ready)
        await("the program to be ready", [&] { return fs::exists(folder + "/kubeconfig"); });
      else
        await("the program to start components", begun);
      program.signal(number);
      EXPECT_EQ(program.wait(), -number);
      await("all processes to end", [&] { return processes(folder + "/evenkeel-environment").empty(); });
      fs::remove(folder + "/kubeconfig");
      await("the directory to be removed", [&] { return fs::is_empty(folder); });
    }
  }
  fs::remove(folder);
}

TEST(Environment, SaysWhichProgramIsMissing) {
  // On any machine: no PATH contains a program with this name.
  const EnvironmentOptions options{.etcd = "/no/such/etcd"};
  EXPECT_THAT(start_error(options), AllOf(HasSubstr("no /no/such/etcd; looked in "), HasSubstr("the PATH")));
  EXPECT_EQ(Environment::missing_programs(options), start_error(options));
  EXPECT_EQ(Environment::missing_programs(), "");
}

TEST(Environment, ShowsTheLogOfAComponentThatEnds) {
  EXPECT_THAT(start_error({.api_server_flags = {"--nonsense"}}),
              HasSubstr("but kube-apiserver ended with code 1; the end of the log of kube-apiserver:\n"
                        "  | Error: unknown flag: --nonsense"));
}

TEST(Environment, SaysWhatItWaitedFor) {
  EXPECT_THAT(start_error({.timeout = 200ms}),
              AllOf(HasSubstr("waited 0.2 s for "), HasSubstr("; the end of the log of ")));
  EXPECT_THROW(Environment({.timeout = 0ms}), std::invalid_argument);
}

/// An etcd whose first starts find their port taken.
class UnluckyEtcd {
 public:
  explicit UnluckyEtcd(int failures) : file_(::testing::TempDir() + "etcd-" + std::to_string(::getpid())) {
    std::ofstream(file_)
        << "#!/bin/sh\necho >>\"$0.tries\"\n[ $(wc -l <\"$0.tries\") -gt " << failures << " ] && exec "
        << std::getenv("KUBEBUILDER_ASSETS")
        << "/etcd \"$@\"\necho 'listen tcp 127.0.0.1:1: bind: address already in use' >&2\nexit 1\n";
    fs::permissions(file_, fs::perms::owner_all);
  }
  ~UnluckyEtcd() {
    fs::remove(file_);
    fs::remove(file_ + ".tries");
  }
  UnluckyEtcd(const UnluckyEtcd&) = delete;
  UnluckyEtcd& operator=(const UnluckyEtcd&) = delete;
  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

TEST(Environment, TakesOtherPortsWhenSomebodyWasFaster) {
  const UnluckyEtcd etcd(2);
  const Environment environment({.etcd = etcd.file()});
  EXPECT_TRUE(ek::Client(environment.config()).get<ek::Namespace>({"", "default"}));
}

TEST(Environment, GivesUpWhenPortsAreAlwaysTaken) {
  const UnluckyEtcd etcd(1000);
  EXPECT_THAT(start_error({.etcd = etcd.file()}), HasSubstr("bind: address already in use"));
}

}  // namespace
