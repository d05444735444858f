// SPDX-License-Identifier: Apache-2.0
// A manager that follows the clusters of Secrets in its home cluster.
#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/clusters/kubeconfig_secrets.hpp>

#include "clusters/fleet.hpp"
#include "manager/printed.hpp"
#include "support/temporary_directory.hpp"

namespace evenkeel::kubeconfig_secrets_tests {
namespace {

using fleet::Fleet;

std::string kubeconfig(const std::string& server, const std::string& user = {}) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: it\nclusters:\n- name: c\n  cluster:\n    server: " +
         server +
         "\ncontexts:\n- name: it\n  context:\n    cluster: c\n    user: u\nusers:\n- name: u\n  user:\n" +
         (user.empty() ? "    token: secret\n" : user);
}

class KubeconfigSecretsConcurrency : public ::testing::Test {
 protected:
  const std::string secrets = "/api/v1/namespaces/default/secrets";

  void create(const std::string& name, const std::string& text, const std::string& label,
              const std::string& key = "kubeconfig") {
    const std::string colon = label.substr(0, label.find('='));
    const std::string value = label.substr(label.find('=') + 1);
    const Json secret = Json::object(
        {{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"metadata", Json::object({{"name", name}, {"labels", Json::object({{colon, value}})}})},
         {"data", Json::object({{key, Bytes(text).base64()}})}});
    const http::Response response = fleet.home.call(http::Method::post, secrets, secret.dump());
    ASSERT_EQ(response.status, 201) << response.body;
  }
  std::unique_ptr<Manager> manager_with(KubeconfigSecretsOptions options) {
    options.log = fleet.home.log();
    auto manager = std::make_unique<Manager>(fleet.home.client(), fleet.options());
    manager->add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
                   if (context.cluster().empty()) return;
                   context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 1; });
                 }).runs_in(RunsIn::engaged_clusters));
    manager->follow(kubeconfig_secrets(fleet.home.client(), options));
    return manager;
  }
  bool is_marked(const std::string& cluster) {
    return fleet.at(cluster).gadget("web").find("status") != nullptr;
  }
  bool is_engaged(Manager& manager, const std::string& cluster) {
    return manager.clusters().find(cluster) != nullptr;
  }

  const std::string mine = "sigs.k8s.io/multicluster-runtime-kubeconfig=true";
  Fleet fleet;
};

TEST_F(KubeconfigSecretsConcurrency, FollowsTheClustersOfLabelledSecrets) {
  fleet.at("eu").create_gadget("web");
  fleet.at("us").create_gadget("web");
  create("eu", kubeconfig("https://eu"), mine);
  create("other", kubeconfig("https://other"), "app=web");
  const auto manager = manager_with({.namespace_ = "default"});
  Running running(*manager);
  fleet.wait_until([&] { return is_marked("eu"); });
  create("us", kubeconfig("https://us"), mine);
  fleet.wait_until([&] { return is_marked("us"); });
  EXPECT_FALSE(is_engaged(*manager, "other"));

  fleet.home.remove(secrets + "/us");
  fleet.wait_until([&] { return !manager->clusters().status("us"); });
  fleet.home.patch(secrets + "/eu",
                   R"({"metadata":{"labels":{"sigs.k8s.io/multicluster-runtime-kubeconfig":null}}})");
  fleet.wait_until([&] { return !manager->clusters().status("eu"); });
  running.stop();
}

TEST_F(KubeconfigSecretsConcurrency, AChangedSecretReplacesItsCluster) {
  fleet.at("eu").create_gadget("web");
  create("eu", kubeconfig("https://old"), mine);
  const auto manager = manager_with({.namespace_ = "default"});
  Running running(*manager);
  fleet.wait_until([&] { return is_marked("eu"); });
  fleet.home.patch(secrets + "/eu",
                   R"({"data":{"kubeconfig":")" + Bytes(kubeconfig("https://new")).base64() + R"("}})");
  fleet.wait_until([&] {
    const auto cluster = manager->clusters().find("eu");
    return cluster && cluster->client().config().server == "https://new";
  });
  running.stop();
}

TEST_F(KubeconfigSecretsConcurrency, NamesClustersOfAllNamespacesByTheirNamespace) {
  fleet.at("default.eu").create_gadget("web");
  create("eu", kubeconfig("https://eu"), mine);
  const auto manager = manager_with({});
  Running running(*manager);
  fleet.wait_until([&] { return is_marked("default.eu"); });
  running.stop();
}

TEST_F(KubeconfigSecretsConcurrency, FollowsTheClustersOfClusterApi) {
  fleet.at("eu").create_gadget("web");
  create("eu-kubeconfig", kubeconfig("https://eu"), "cluster.x-k8s.io/cluster-name=eu", "value");
  create("eu-ca", "no kubeconfig", "cluster.x-k8s.io/cluster-name=eu", "tls.crt");
  KubeconfigSecretsOptions options = cluster_api_secrets();
  options.namespace_ = "default";
  const auto manager = manager_with(options);
  Running running(*manager);
  fleet.wait_until([&] { return is_marked("eu"); });
  EXPECT_TRUE(fleet.home.happenings->lines_with("no usable kubeconfig").empty());
  running.stop();
}

TEST_F(KubeconfigSecretsConcurrency, RefusesWhatWouldRunOrReadSomethingHere) {
  create("runs",
         kubeconfig("https://eu",
                    "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: id\n      "
                    "interactiveMode: Never\n"),
         mine);
  create("reads", kubeconfig("https://eu", "    tokenFile: /etc/passwd\n"), mine);
  create("asks", kubeconfig("https://eu", "    tokenFile: /does/not/exist\n"), mine);
  create("empty", kubeconfig("https://eu"), mine, "other");
  const auto manager = manager_with({.namespace_ = "default"});
  Running running(*manager);
  const auto complaint = [&](const std::string& secret) -> std::string {
    const auto lines = fleet.home.happenings->lines_with("secret=default/" + secret);
    return lines.empty() ? std::string() : lines.front();
  };
  fleet.wait_until([&] {
    return !complaint("runs").empty() && !complaint("reads").empty() && !complaint("empty").empty() &&
           !complaint("asks").empty();
  });
  const std::string about = "clusters: a Secret has no usable kubeconfig secret=default/";
  const std::string why = ": refused in a Secret; KubeconfigSecretsOptions::allow_local permits it";
  EXPECT_EQ(complaint("runs"), about + "runs error=exec" + why);
  EXPECT_EQ(complaint("reads"), about + "reads error=tokenFile" + why);
  EXPECT_EQ(complaint("asks"), about + "asks error=tokenFile" + why) << "says nothing of files here";
  EXPECT_EQ(complaint("empty"), about + "empty error=data: there is no kubeconfig");
  EXPECT_TRUE(manager->clusters().status().empty());
  running.stop();
}

// A reader of a named pipe waits for a writer.
TEST_F(KubeconfigSecretsConcurrency, OpensNoFileThatARefusedSecretNames) {
  const tests::TemporaryDirectory directory;
  const std::string pipe = (directory.path / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  create("a-pipe", kubeconfig("https://eu", "    tokenFile: " + pipe + "\n"), mine);
  fleet.at("eu").create_gadget("web");
  create("eu", kubeconfig("https://eu"), mine);
  const auto manager = manager_with({.namespace_ = "default"});
  Running running(*manager);
  fleet.wait_until([&] { return is_marked("eu"); });
  fleet.home.wait_for_line("secret=default/a-pipe error=tokenFile: refused in a Secret;");
  running.stop();
}

TEST_F(KubeconfigSecretsConcurrency, ItsRightsAreThoseInItsNamespaceOrInAll) {
  const std::vector<PolicyRule> rules = {{{""}, {"secrets"}, {"list", "watch"}}};
  const ManifestPart of_one = manager_with({.namespace_ = "default"})->manifest();
  EXPECT_EQ(of_one.namespace_rules, (std::map<std::string, std::vector<PolicyRule>>{{"default", rules}}));
  const ManifestPart of_all = manager_with({})->manifest();
  EXPECT_EQ(of_all.namespace_rules, (std::map<std::string, std::vector<PolicyRule>>{{"", rules}}));
  EXPECT_TRUE(of_all.rules.empty());
}

TEST_F(KubeconfigSecretsConcurrency, ItsRolesDoNotDependOnTheNamespaceOfTheOperator) {
  const tests::TemporaryDirectory directory;
  const std::string file = (directory.path / "config").string();
  std::ofstream(file) << kubeconfig("http://127.0.0.1:9");
  const auto roles = [&](const std::string& space) {
    const Printed printed =
        run_to_print({"--print-rbac", "--namespace", "team", "--kubeconfig", file}, {.name = "fleet"},
                     [&](Manager& manager) {
                       manager.follow(kubeconfig_secrets(manager.client(), {.namespace_ = space}));
                     });
    EXPECT_EQ(printed.code, 0) << printed.err;
    return printed.out;
  };
  const std::string rules =
      "rules:\n- apiGroups:\n  - \"\"\n  resources:\n  - secrets\n  verbs:\n  - list\n  - watch\n";
  const std::string of_one = roles("fleet-secrets");
  EXPECT_NE(of_one.find("kind: Role\nmetadata:\n  name: fleet-runtime\n  namespace: fleet-secrets\n" + rules),
            std::string::npos)
      << of_one;
  EXPECT_EQ(of_one.find("kind: ClusterRole\n"), std::string::npos) << of_one;
  const std::string of_all = roles("");
  EXPECT_NE(of_all.find("kind: ClusterRole\nmetadata:\n  name: fleet-runtime\n" + rules), std::string::npos)
      << of_all;
}

TEST(KubeconfigSecrets, RefusesOptionsThatCannotBeRight) {
  const World world;
  const auto refused = [&](KubeconfigSecretsOptions options) -> std::string {
    try {
      kubeconfig_secrets(world.client(), std::move(options));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refused({.key = ""}), "kubeconfig_secrets: key is empty");
  EXPECT_EQ(refused({.label_selector = "a in"}),
            "kubeconfig_secrets: label_selector \"a in\": expected \"(\" after in and notin");
}

}  // namespace
}  // namespace evenkeel::kubeconfig_secrets_tests
