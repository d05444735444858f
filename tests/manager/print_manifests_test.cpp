// SPDX-License-Identifier: Apache-2.0
// `--print-manifests` and `--print-rbac` of whole programs.
#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/rbac.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/webhook/webhook.hpp>

#include "../support/repository.hpp"
#include "../support/rules_of_role.hpp"
#include "../support/temporary_directory.hpp"
#include "manager/deployment_args.hpp"
#include "manager/derived_rules.hpp"
#include "printed.hpp"

namespace print_manifests_types {

namespace ek = evenkeel;

struct Site {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.example.com", .kind = "Site", .plural = "sites", .installs_crd = true};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Site, metadata)

struct Region {
  static constexpr ek::ResourceInfo resource{.group = "demo.example.com",
                                             .kind = "Region",
                                             .plural = "regions",
                                             .scope = ek::Scope::cluster,
                                             .installs_crd = true};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Region, metadata)

}  // namespace print_manifests_types

namespace evenkeel {
namespace print_manifests_tests {

using namespace print_manifests_types;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

ControllerSpec site_controller() {
  EventChannel<Secret> secrets;
  const ResourceId widgets{"widgets.dev", "v1", "Widget", "widgets"};
  return controller_for<Site>([](Context&, const Site&) {})
      .owns<ConfigMap>()
      .watches<Region>([](const WireObject&) { return std::vector<ObjectKey>(); })
      .watches(widgets, [](const WireObject&) { return std::vector<ObjectKey>(); })
      .source<Secret>(secrets, [](const Secret&) { return ObjectKey(); })
      .finalize("demo.example.com/cleanup", [](Context&, const Site&) {});
}

void setup(Manager& manager) {
  manager.add(site_controller());
}

const std::vector<PolicyRule> rules = {{{""}, {"configmaps"}, {"patch", "create"}},
                                       {{"demo.example.com"}, {"sites/status"}, {"patch"}}};

Printed print(const std::vector<std::string>& args, RunOptions options,
              const std::function<void(Manager&)>& set_up = setup) {
  options.name = "tester";
  options.version = "1.2";
  return run_to_print(args, options, set_up);
}

RunOptions with_rules() {
  RunOptions options;
  options.manifests.rules = rules;
  return options;
}

// A program that has all that manifests know of.
Printed print_all() {
  RunOptions options = with_rules();
  options.endpoint.access_reviews = AccessReviews::on;
  return print(
      {"--print-manifests", "--manifest-service-monitor", "--manifest-image", "registry.dev/tester:3",
       "--manifest-namespace=apps", "--kubeconfig", "kubeconfig", "--workers=4", "--grace-period", "45s"},
      options, [](Manager& manager) {
        setup(manager);
        manager.add(
            webhook_for<Site>().validates([](const Validation<Site>&) { return ValidationResult(); }));
        manager.add_manifest({.objects = {Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
                                                 "metadata": {"name": "more", "namespace": "apps"}})")},
                              .own_rules = {{{""}, {"configmaps"}, {"get"}, {"more"}}},
                              .ports = {{"debug", 6060}}});
      });
}

TEST(PrintManifests, PrintsAllThatTheProgramNeeds) {
  const Printed printed = print_all();
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(printed.out, tests::read_repository_file("tests/manager/data/manifests.yaml"));
}

TEST(PrintManifests, IsTakenByAServer) {
  auto core = std::make_shared<apiserver::SharedCore>();
  core->install(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "servicemonitors.monitoring.coreos.com"},
    "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced",
             "names": {"plural": "servicemonitors", "singular": "servicemonitor", "kind": "ServiceMonitor"},
             "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                           {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})");
  core->install(print_all().out);
  const Client client({.server = "http://core"},
                      {.transport = std::make_shared<apiserver::InProcessTransport>(core)});
  EXPECT_EQ(client.get<Deployment>({"apps", "tester"})->spec.replicas, 2);
  EXPECT_TRUE(client.find<rbac_v1::RoleBinding>({"apps", "tester-runtime"}));
}

TEST(PrintManifests, OfRbacAloneAreTheAccountAndItsRoles) {
  const Printed all = print({"--print-manifests"}, with_rules());
  const Printed alone = print({"--print-rbac"}, with_rules());
  EXPECT_EQ(alone.code, 0);
  EXPECT_EQ(alone.err, "");
  EXPECT_THAT(alone.out, StartsWith("apiVersion: v1\nkind: ServiceAccount\n"));
  EXPECT_THAT(all.out, HasSubstr(alone.out));
  EXPECT_THAT(alone.out, Not(HasSubstr("kind: Deployment")));
}

// A test of rights that compares less would refuse an access that the program is granted.
TEST(PrintManifests, OfRbacGrantThePrintedRules) {
  auto core = std::make_shared<apiserver::SharedCore>();
  core->install("{apiVersion: v1, kind: Namespace, metadata: {name: tester-system}}");
  core->install(print({"--print-rbac"}, with_rules()).out);
  const Client client({.server = "http://core"},
                      {.transport = std::make_shared<apiserver::InProcessTransport>(core)});
  const auto texts = [](const std::vector<PolicyRule>& granted) {
    std::set<std::string> lines;
    for (const PolicyRule& right : single_rights(granted)) lines.insert(right.json().dump());
    return lines;
  };
  const Json role = to_tree(*client.get<rbac_v1::ClusterRole>({"", "tester"}));
  const auto printed = printed_rules({site_controller()}, rules);
  EXPECT_EQ(texts(printed), texts(tests::rules_of_role(role)));
  EXPECT_THAT(compare_rights(printed, {{"get", "demo.example.com", "sites", "default", "a"}}),
              Not(Contains(StartsWith("not granted"))));
}

TEST(PrintManifests, SayIfNothingIsKnownOfReconcilers) {
  EXPECT_EQ(print({"--print-rbac"}, RunOptions()).err,
            "tester: --print-rbac: the roles allow watches and finalizers only; --access-record names a file "
            "with what reconcilers do\n");
}

TEST(PrintManifests, OfOneNamespaceHaveARoleThere) {
  const Printed printed = print({"--print-rbac", "--namespace", "team"}, with_rules());
  EXPECT_THAT(printed.out, HasSubstr("kind: Role\nmetadata:\n  name: tester\n  namespace: team\nrules:\n"
                                     "- apiGroups:\n  - \"\"\n  resources:\n  - configmaps\n"
                                     "  verbs:\n  - get\n  - list\n  - watch\n  - create\n  - patch\n"));
  EXPECT_THAT(printed.out, HasSubstr("kind: ClusterRole\nmetadata:\n  name: tester\nrules:\n- apiGroups:\n"
                                     "  - demo.example.com\n  resources:\n  - regions\n  verbs:\n"
                                     "  - list\n  - watch\n---\n"));
}

TEST(PrintManifests, OfShardsShareLeases) {
  const Printed printed = print({"--print-manifests", "--shards"}, with_rules());
  EXPECT_THAT(printed.out,
              AllOf(HasSubstr("  - leases\n  verbs:\n  - get\n  - list\n  - watch\n  - create\n"
                              "  - update\n  - delete\n"),
                    HasSubstr("      - args:\n        - --shards\n        - --metrics-bind-address=:8080\n"),
                    HasSubstr("  replicas: 2\n")));
}

TEST(PrintManifests, OfRangesListNamespaces) {
  const auto lists_namespaces = HasSubstr("  - namespaces\n  verbs:\n  - list\n");
  RunOptions options = with_rules();
  options.manager.shards = ShardOptions{.by = ShardBy::namespace_range};
  EXPECT_THAT(print({"--print-rbac"}, options).out, lists_namespaces);
  EXPECT_THAT(print({"--print-rbac", "--shards=false"}, options).out, Not(lists_namespaces));
  options.manager.shards->by = ShardBy::namespace_;
  EXPECT_THAT(print({"--print-rbac"}, options).out, Not(lists_namespaces));
}

TEST(PrintManifests, OfRangesWithALabelPatchWhatIsDivided) {
  const auto lists_namespaces = HasSubstr("  - namespaces\n  verbs:\n  - list\n");
  const auto patches = HasSubstr("  - configmaps\n  verbs:\n  - get\n  - list\n  - watch\n  - patch\n");
  RunOptions options;
  options.manager.shards = ShardOptions{.by = ShardBy::namespace_range};
  EXPECT_THAT(print({"--print-rbac"}, options).out, Not(patches));
  const Printed printed = print({"--print-rbac", "--shards-label=sharding.evenkeel.dev/cell"}, options);
  EXPECT_THAT(printed.out, patches);
  EXPECT_THAT(printed.out, Not(lists_namespaces));
}

TEST(PrintManifests, WithoutAnElectionRunOneReplica) {
  const Printed printed = print({"--print-manifests", "--leader-elect=false"}, with_rules());
  EXPECT_THAT(printed.out, AllOf(HasSubstr("  replicas: 1\n"), HasSubstr("    type: Recreate\n"),
                                 Not(HasSubstr("leases")), Not(HasSubstr("PodDisruptionBudget"))));
}

TEST(PrintManifests, NameWhatTheDeploymentDoesNotMount) {
  const Printed printed =
      print({"--print-manifests", "--metrics-token-file=/etc/token", "--log-format", "text"}, with_rules());
  EXPECT_EQ(printed.err,
            "tester: --print-manifests: the Deployment has no volume for --metrics-token-file=/etc/token\n");
  EXPECT_THAT(printed.out, Not(HasSubstr("--log-format=json")));
}

std::string refusal(const std::vector<std::string>& args, const RunOptions& options = RunOptions()) {
  const Printed printed = print(args, options);
  EXPECT_EQ(printed.code, 2) << printed.err;
  EXPECT_EQ(printed.out, "");
  return printed.err;
}

TEST(PrintManifests, AreRefusedIfTheyCouldNotWork) {
  const std::string help = "\nSee tester --help.\n";
  EXPECT_EQ(refusal({"--print-manifests", "--leader-elect=false", "--manifest-replicas=2"}),
            "tester: --manifest-replicas: 2 replicas need --leader-elect or --shards" + help);
  EXPECT_EQ(refusal({"--print-manifests", "--health-probe-bind-address=127.0.0.1:8081"}),
            "tester: --health-probe-bind-address: no kubelet reaches 127.0.0.1:8081; \":8081\" is an address "
            "that it reaches" +
                help);
  EXPECT_EQ(refusal({"--print-manifests", "--metrics-bind-address=:0"}),
            "tester: --metrics-bind-address: \":0\" has no port that manifests could name" + help);
  EXPECT_EQ(refusal({"--print-rbac", "--manifest-namespace=My_Apps"}),
            "tester: \"My_Apps\" cannot be the name of a namespace: expected up to 63 lower case letters, "
            "digits and '-'" +
                help);
}

TEST(PrintManifests, AreRefusedForANameThatNoServiceCanHave) {
  for (const char* name : {"2nd", "Upper", "a.b", "-a", "a-"}) {
    RunOptions options;
    options.name = name;
    const Printed printed = run_to_print({"--print-manifests"}, options, setup);
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(printed.err, std::string(name) + ": the program's name \"" + name +
                               "\" cannot be that of a Service: expected up to 50 lower case letters, digits "
                               "and '-', beginning with a letter\nSee " +
                               name + " --help.\n");
  }
}

Printed print_recorded(const std::string& record, std::vector<std::string> args, const RunOptions& options) {
  const tests::TemporaryDirectory folder;
  const std::string path = folder.path / "accesses.txt";
  std::ofstream(path) << record;
  args.insert(args.end(), {"--print-rbac", "--access-record", path});
  return print(args, options);
}

TEST(PrintManifests, GrantWhatWasRecorded) {
  const Printed printed = print_recorded(
      "create - configmaps team -\npatch - configmaps team various\n"
      "patch demo.example.com sites/status team web\ncreate - namespaces - team\n",
      {"--namespace", "team"}, RunOptions());
  EXPECT_EQ(printed.err, "");
  EXPECT_THAT(printed.out,
              AllOf(HasSubstr("  name: tester\n  namespace: team\nrules:\n- apiGroups:\n  - \"\"\n"
                              "  resources:\n  - configmaps\n  verbs:\n  - get\n  - list\n"
                              "  - watch\n  - create\n  - patch\n"),
                    HasSubstr("kind: ClusterRole\nmetadata:\n  name: tester\nrules:\n- apiGroups:\n"
                              "  - \"\"\n  resources:\n  - namespaces\n  verbs:\n  - create\n"
                              "- apiGroups:\n  - demo.example.com\n  resources:\n  - regions\n")));
}

/// Returns the role of this name in the namespace, as it is printed.
std::string role_in(const std::string& text, const std::string& name, const std::string& space) {
  const std::string start =
      "kind: Role\nmetadata:\n  name: " + name + "\n  namespace: " + space + "\nrules:\n";
  const std::size_t at = text.find(start);
  if (at == std::string::npos) return "no role";
  return text.substr(at + start.size(), text.find("---\n", at) - at - start.size());
}

std::string right(const std::string& verb, const std::string& resource) {
  return "- apiGroups:\n  - \"\"\n  resources:\n  - " + resource + "\n  verbs:\n  - " + verb + "\n";
}

// Regression: all of these were granted in the watched namespace.
TEST(PrintManifests, GrantWhatWasRecordedElsewhereInThatNamespace) {
  const Printed printed = print_recorded(
      "create - pods team-a -\nget - configmaps kube-public cluster-info\nget - secrets tester-system key\n"
      "create - services * -\n",
      {"--namespace=team-a"}, RunOptions());
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(role_in(printed.out, "tester-runtime", "kube-public"), right("get", "configmaps"));
  EXPECT_THAT(role_in(printed.out, "tester-runtime", "tester-system"), StartsWith(right("get", "secrets")));
  EXPECT_THAT(role_in(printed.out, "tester", "team-a"),
              AllOf(HasSubstr("  - pods\n"), HasSubstr("  - services\n"), Not(HasSubstr("  - secrets\n"))));
  EXPECT_THAT(printed.out, HasSubstr("kind: RoleBinding\nmetadata:\n  name: tester-runtime\n"
                                     "  namespace: kube-public\n"));
}

TEST(PrintManifests, TakeTheNamespaceOfATestForTheWatchedOne) {
  const Printed printed = print_recorded("create - pods default -\nget - secrets tester-system key\n",
                                         {"--namespace=team-a"}, RunOptions());
  EXPECT_EQ(printed.err,
            "tester: --print-rbac: the record has nothing in the namespace team-a; what it has in default is "
            "granted in team-a\n");
  EXPECT_THAT(role_in(printed.out, "tester", "team-a"), HasSubstr("  - pods\n"));
  EXPECT_THAT(role_in(printed.out, "tester-runtime", "tester-system"), StartsWith(right("get", "secrets")));
  EXPECT_EQ(role_in(printed.out, "tester-runtime", "default"), "no role");
}

TEST(DerivedRules, OfARecordLeaveOutWhatIsGrantedForCertainObjects) {
  ManifestPart part{.own_rules = {{{""}, {"secrets"}, {"get"}, {"mine"}}, {{""}, {"secrets"}, {"create"}}}};
  detail::add_recorded(part,
                       {{"get", "", "secrets", "anywhere", "mine"},
                        {"create", "", "secrets", "home", ""},
                        {"create", "", "secrets", "away", ""}},
                       {.own = "home"});
  EXPECT_THAT(part.rules, ElementsAre(PolicyRule{{""}, {"secrets"}, {"create"}}));
  EXPECT_THAT(part.cluster_rules, IsEmpty());
}

TEST(DerivedRules, OfAListOfAllNamespacesAreForTheKindsScope) {
  ManifestPart part{.rules = {{{"demo.example.com"}, {"sites"}, {"list", "watch"}}}};
  detail::add_recorded(part,
                       {{"list", "demo.example.com", "sites", "", ""},
                        {"list", "", "pods", "", ""},
                        {"get", "", "pods/log", "default", "web"},
                        {"list", "", "nodes", "", ""}},
                       {.own = "home"});
  EXPECT_THAT(merge_rules(part.rules),
              ElementsAre(PolicyRule{{""}, {"pods"}, {"list"}}, PolicyRule{{""}, {"pods/log"}, {"get"}},
                          PolicyRule{{"demo.example.com"}, {"sites"}, {"list", "watch"}}));
  EXPECT_THAT(part.cluster_rules, ElementsAre(PolicyRule{{""}, {"nodes"}, {"list"}}));
}

TEST(DeploymentArgs, AreThoseThatAreNotForPrinting) {
  const char* argv[] = {"x",
                        "--print-manifests",
                        "--context",
                        "c",
                        "--workers=2",
                        "--kubeconfig=f",
                        "--metrics-bind-address",
                        "0",
                        "--access-record",
                        "r",
                        "--log-format=text"};
  const auto completed = detail::completed_args(11, argv, {});
  EXPECT_THAT(detail::deployment_args(completed),
              ElementsAre("--workers=2", "--metrics-bind-address", "0", "--log-format=text", "--leader-elect",
                          "--health-probe-bind-address=:8081"));
}

TEST(DeploymentArgs, AreUnchangedWithoutPrinting) {
  const char* argv[] = {"x", "--workers=2"};
  EXPECT_THAT(detail::completed_args(2, argv, {}), ElementsAre("--workers=2"));
  EXPECT_THAT(detail::completed_args(0, nullptr, {}), IsEmpty());
}

// Regression: 1,024 descriptors, the usual soft limit, could all be taken by connections of webhooks.
TEST(Run, RaisesTheLimitOnDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit fewer{.rlim_cur = std::min<rlim_t>(before.rlim_max, 256), .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);
  EXPECT_EQ(print({"--help"}, {}).code, 0);
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
}

}  // namespace print_manifests_tests
}  // namespace evenkeel
