// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/config.hpp>

#include "base/limits.hpp"

namespace evenkeel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* whole = R"(apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: c1
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: Q0EgUEVN
users:
- name: u1
  user:
    token: secret-token
contexts:
- name: dev
  context: {cluster: c1, user: u1, namespace: team-a}
- name: plain
  context: {cluster: c1}
)";

/// A temporary directory, and the environment of a process that runs in it.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    std::string pattern = ::testing::TempDir() + "evenkeel-config-XXXXXX";
    directory = mkdtemp(pattern.data());
  }
  ~ConfigTest() override {
    for (auto file = written.rbegin(); file != written.rend(); ++file) std::remove(file->c_str());
    std::remove(directory.c_str());
  }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = directory + "/" + name;
    for (std::size_t slash = path.find('/', directory.size() + 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      if (mkdir(path.substr(0, slash).c_str(), 0700) == 0) written.push_back(path.substr(0, slash));
    }
    std::ofstream(path) << text;
    written.push_back(path);
    return path;
  }

  LoadConfigOptions options(std::string kubeconfig = "", std::string context = "") {
    return {.kubeconfig = std::move(kubeconfig),
            .context = std::move(context),
            .environment = [this](const std::string& name) -> std::optional<std::string> {
              const auto found = environment.find(name);
              return found == environment.end() ? std::nullopt : std::optional(found->second);
            },
            .service_account = directory + "/sa"};
  }

  /// Returns the error of load_config for a file with this text.
  std::string problem_with(const std::string& text, const std::string& context = "") {
    const std::string path = write("config", text);
    std::string what = problem(options(path, context));
    // Paths differ from run to run.
    for (std::size_t at; (at = what.find(directory)) != std::string::npos;)
      what.replace(at, directory.size(), "DIR");
    return what;
  }
  static std::string problem(const LoadConfigOptions& options) {
    try {
      load_config(options);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no problem";
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  std::string directory;
  std::vector<std::string> written;
  std::map<std::string, std::string> environment;
};

using LoadConfig = ConfigTest;
using ConfigErrors = ConfigTest;

TEST_F(LoadConfig, ReadsServerIdentityAndNamespace) {
  const Config config = load_config(options(write("config", whole)));
  EXPECT_EQ(config.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config.tls.ca_data, "CA PEM");
  EXPECT_EQ(config.token, "secret-token");
  EXPECT_EQ(config.namespace_, "team-a");
  EXPECT_FALSE(config.tls.insecure);
  EXPECT_EQ(config.proxy, std::nullopt);
  EXPECT_EQ(config.origin, directory + "/config, context \"dev\"");
}

TEST_F(LoadConfig, TakesTheContextThatIsAskedFor) {
  const Config config = load_config(options(write("config", whole), "plain"));
  EXPECT_EQ(config.token, "");
  EXPECT_EQ(config.namespace_, "default");
}

TEST_F(LoadConfig, ReadsJsonToo) {
  const Config config =
      parse_kubeconfig(R"({"current-context":"x","clusters":[{"name":"c","cluster":{"server":"https://h"}}],)"
                       R"("contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],)"
                       R"("users":[{"name":"u","user":{"username":"me","password":"p"}}]})");
  EXPECT_EQ(config.server, "https://h");
  EXPECT_EQ(config.username, "me");
  EXPECT_EQ(config.password, "p");
}

TEST_F(LoadConfig, ReadsEveryFieldOfClusterAndUser) {
  const Config config = parse_kubeconfig(R"(
current-context: x
clusters:
- name: c
  cluster:
    server: https://h:1
    tls-server-name: api.internal
    insecure-skip-tls-verify: true
    proxy-url: http://proxy:3128
    disable-compression: true
users:
- name: u
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
    as: boss
    as-uid: "7"
    as-groups: [g1, g2]
    as-user-extra: {reason: [a, b]}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: get-token
      args: [--cluster, c]
      env: [{name: A, value: b}]
      installHint: install it
      provideClusterInfo: true
      interactiveMode: IfAvailable
contexts:
- name: x
  context: {cluster: c, user: u}
)");
  EXPECT_EQ(config.tls.server_name, "api.internal");
  EXPECT_TRUE(config.tls.insecure);
  EXPECT_EQ(config.proxy, "http://proxy:3128");
  EXPECT_EQ(config.compression, false);
  EXPECT_EQ(config.tls.cert_data, "CERT");
  EXPECT_EQ(config.tls.key_data, "KEY");
  EXPECT_EQ(config.impersonate.user, "boss");
  EXPECT_EQ(config.impersonate.uid, "7");
  EXPECT_EQ(config.impersonate.groups, (std::vector<std::string>{"g1", "g2"}));
  EXPECT_EQ(config.impersonate.extra.at("reason"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.exec.command, "get-token");
  EXPECT_EQ(config.exec.args, (std::vector<std::string>{"--cluster", "c"}));
  EXPECT_EQ(config.exec.env, (std::vector<std::pair<std::string, std::string>>{{"A", "b"}}));
  EXPECT_TRUE(config.exec.provide_cluster_info);
  EXPECT_EQ(config.exec.interactive_mode, ExecInteractiveMode::if_available);
}

TEST_F(LoadConfig, AClustersExtensionIsForItsCredentialProgram) {
  const std::string text = R"(
current-context: x
clusters:
- name: c
  cluster:
    server: https://h
    extensions:
    - {name: other, extension: {a: 1}}
    - name: client.authentication.k8s.io/exec
      extension: {audience: "06", replicas: 3, nested: [true, null]}
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: Never, provideClusterInfo: true}
contexts:
- {name: x, context: {cluster: c, user: u}}
)";
  EXPECT_EQ(parse_kubeconfig(text).exec.cluster_config,
            R"({"audience":"06","nested":[true,null],"replicas":3})");
  EXPECT_EQ(parse_kubeconfig(replaced(text, "true}", "false}")).exec.cluster_config, "");
  try {
    parse_kubeconfig(replaced(text, "{name: other, extension: {a: 1}}", "x"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.field(), "cluster \"c\": extensions[0]");
  }
}

TEST_F(LoadConfig, PathsAreRelativeToTheirFile) {
  write("certs/ca.crt", "CA");
  write("certs/tls.crt", "C");
  write("certs/tls.key", "K");
  write("token", "t");
  std::string text =
      replaced(whole, "certificate-authority-data: Q0EgUEVN", "certificate-authority: certs/ca.crt");
  text = replaced(text, "token: secret-token",
                  "tokenFile: " + directory +
                      "/token\n    client-certificate: certs/tls.crt\n    client-key: ./certs/tls.key");
  const Config config = load_config(options(write("config", text)));
  EXPECT_EQ(config.tls.ca_file, directory + "/certs/ca.crt");
  EXPECT_EQ(config.tls.cert_file, directory + "/certs/tls.crt");
  EXPECT_EQ(config.tls.key_file, directory + "/./certs/tls.key");
  EXPECT_EQ(config.token_file, directory + "/token");
}

TEST_F(LoadConfig, MergesAListOfFilesFirstWinsAndSkipsMissingOnes) {
  const std::string first = write("a", R"(
current-context: mine
contexts:
- name: mine
  context: {cluster: c1, user: u2}
clusters:
- name: c1
  cluster: {server: "https://first"}
)");
  const std::string second = write("b", R"(
current-context: dev
users:
- name: u2
  user: {token: from-b}
clusters:
- name: c1
  cluster: {server: "https://second"}
)");
  environment["KUBECONFIG"] = first + ":" + directory + "/missing::" + second;
  const Config config = load_config(options());
  EXPECT_EQ(config.server, "https://first");
  EXPECT_EQ(config.token, "from-b");
}

TEST_F(LoadConfig, SendsNoCredentialInTheClear) {
  const Config config = load_config(options(write("config", replaced(whole, "https://10", "http://10"))));
  EXPECT_EQ(config.server, "http://10.0.0.1:6443");
  EXPECT_EQ(config.token, "");
  EXPECT_EQ(config.origin, directory +
                               "/config, context \"dev\", without its credentials, because the "
                               "server is plain http");
  const std::string anonymous = replaced(whole, "token: secret-token", "as: jane");
  EXPECT_EQ(parse_kubeconfig(replaced(anonymous, "https://10", "http://10")).origin,
            "kubeconfig, context \"dev\"");
}

TEST_F(LoadConfig, InClusterReadsTheServiceAccount) {
  environment = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  write("sa/token", "t");
  write("sa/ca.crt", "CA");
  write("sa/namespace", "ops\n");
  const Config config = load_config(options());
  EXPECT_EQ(config.server, "https://10.96.0.1:443");
  EXPECT_EQ(config.token_file, directory + "/sa/token");
  EXPECT_EQ(config.tls.ca_file, directory + "/sa/ca.crt");
  EXPECT_EQ(config.namespace_, "ops");
  EXPECT_EQ(config.origin, "in-cluster");
  environment["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(load_config(options()).server, "https://[fd00::1]:443");
}

TEST_F(LoadConfig, TheOrderIsFlagVariableClusterHome) {
  const auto server_in = [&](const std::string& name, const std::string& server) {
    return write(name, replaced(whole, "https://10.0.0.1:6443", server));
  };
  const std::string flag = server_in("flag", "https://flag");
  environment = {{"HOME", directory}};
  server_in(".kube/config", "https://home");
  EXPECT_EQ(load_config(options()).server, "https://home");
  environment["KUBERNETES_SERVICE_HOST"] = "pod";
  environment["KUBERNETES_SERVICE_PORT"] = "443";
  write("sa/token", "t");
  EXPECT_EQ(load_config(options()).server, "https://pod:443");
  EXPECT_EQ(load_config(options("", "dev")).server, "https://home") << "a pod has no contexts";
  environment["KUBECONFIG"] = server_in("variable", "https://variable");
  EXPECT_EQ(load_config(options()).server, "https://variable");
  EXPECT_EQ(load_config(options(flag)).server, "https://flag");
}

TEST_F(ConfigErrors, MissingFile) {
  EXPECT_EQ(problem(options(directory + "/none")),
            directory + "/none: cannot be read: No such file or directory");
  EXPECT_EQ(problem(options(directory)), directory + ": cannot be read: Is a directory");
}

TEST_F(ConfigErrors, NoneOfTheListedFiles) {
  environment["KUBECONFIG"] = "/no/a:/no/b";
  EXPECT_EQ(problem(options()), "KUBECONFIG=/no/a:/no/b: no such file");
}

TEST_F(ConfigErrors, NothingAnywhere) {
  environment = {{"HOME", directory}};
  EXPECT_EQ(problem(options()), "no configuration: KUBECONFIG is not set, this is not a pod, and " +
                                    directory + "/.kube/config does not exist");
}

TEST_F(ConfigErrors, NotYaml) {
  EXPECT_THAT(problem_with("clusters:\n- name: [unclosed\n"),
              StartsWith("DIR/config: not YAML: line 3, column 1: "));
  EXPECT_EQ(problem_with(std::string(whole) + "# caf\xE9\n"),
            "DIR/config: not YAML: line 18, column 1: invalid UTF-8");
}

TEST_F(ConfigErrors, Empty) {
  EXPECT_EQ(problem_with(""), "DIR/config: empty");
  EXPECT_EQ(problem_with("# nothing but words\n"), "DIR/config: empty");
}

TEST_F(ConfigErrors, WhatTheParserLeavesUnread) {
  EXPECT_EQ(problem_with(","),
            "DIR/config: not YAML: line 1, column 1: the text after this position cannot be parsed");
  EXPECT_EQ(problem_with(std::string(whole) + "---\nclusters: []\n"),
            "DIR/config: not YAML: line 19, column 1: a second document; expected one");
  EXPECT_EQ(problem_with(std::string("---\n") + whole + "...\n---\n# no more\n"), "no problem");
}

TEST_F(ConfigErrors, AFileThatIsTooLong) {
  EXPECT_EQ(problem_with(std::string(limits::file_bytes + 1, '#')),
            "DIR/config: cannot be read: longer than 8388608 bytes");
  EXPECT_THAT([] { parse_kubeconfig(std::string(limits::file_bytes + 1, '#'), "f"); },
              ::testing::ThrowsMessage<ConfigError>("f: longer than 8388608 bytes"));
}

// Like client-go, treats an entry without its map as an empty one: a user without credentials is anonymous, a
// cluster has no server, a context no cluster.
TEST_F(ConfigErrors, EntriesWithoutTheirMap) {
  for (const char* rest : {"", "\n  user: ~", "\n  user: {}"}) {
    const Config config = parse_kubeconfig(
        replaced(whole, "- name: u1\n  user:\n    token: secret-token", std::string("- name: u1") + rest));
    EXPECT_EQ(config.server, "https://10.0.0.1:6443");
    EXPECT_EQ(config.token, "");
  }
  const std::string cluster =
      "\n  cluster:\n    server: https://10.0.0.1:6443\n    certificate-authority-data: Q0EgUEVN";
  EXPECT_EQ(problem_with(replaced(whole, cluster, "")),
            "DIR/config: context \"dev\": cluster \"c1\": server: missing");
  EXPECT_EQ(problem_with(replaced(whole, "\n  context: {cluster: c1, user: u1, namespace: team-a}", "")),
            "DIR/config: context \"dev\": cluster: missing");
}

TEST_F(ConfigErrors, EntriesOfAWrongType) {
  EXPECT_EQ(problem_with("clusters: 5\n"), "DIR/config: clusters: expected a list, found text");
  EXPECT_EQ(problem_with("users: {u: {}}\n"), "DIR/config: users: expected a list, found a map");
  EXPECT_EQ(problem_with("contexts: [[a]]\n"), "DIR/config: contexts[0]: expected a map, found a list");
  EXPECT_EQ(problem_with(replaced(whole, "user:\n    token: secret-token", "user: 5")),
            "DIR/config: context \"dev\": user \"u1\": expected a map, found text");
  EXPECT_EQ(problem_with(replaced(whole, "{cluster: c1, user: u1, namespace: team-a}", "[c1]")),
            "DIR/config: context \"dev\": expected a map, found a list");
  EXPECT_EQ(problem_with(replaced(whole, "token: secret-token", "as-user-extra: {[a]: [b]}")),
            "DIR/config: context \"dev\": user \"u1\": as-user-extra: expected texts as keys, found a list");
  EXPECT_EQ(problem_with(replaced(whole, "token: secret-token", "exec: {command: x, env: [5]}")),
            "DIR/config: context \"dev\": user \"u1\": exec: env[0]: expected a map, found text");
}

// Source: client-go tools/clientcmd/validation.go and api/v1/defaults.go.
TEST_F(ConfigErrors, AProgramSaysItsVersionAndItsUseOfStandardInput) {
  const auto with = [&](const std::string& fields) {
    return problem_with(replaced(whole, "token: secret-token", "exec: {command: x" + fields + "}"));
  };
  const std::string exec = "DIR/config: context \"dev\": user \"u1\": exec: ";
  const std::string v1 = ", apiVersion: client.authentication.k8s.io/v1";
  const std::string versions =
      "apiVersion: expected client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";
  EXPECT_EQ(with(", interactiveMode: Never"), exec + versions);
  EXPECT_EQ(with(v1 + "alpha1, interactiveMode: Never"),
            exec + versions + ", found \"client.authentication.k8s.io/v1alpha1\"");
  EXPECT_EQ(with(v1), exec +
                          "interactiveMode: expected Never, IfAvailable or Always, which "
                          "client.authentication.k8s.io/v1 requires");
  EXPECT_EQ(with(v1 + ", interactiveMode: never"),
            exec + "interactiveMode: expected Never, IfAvailable or Always, found \"never\"");
  const auto mode = [&](const std::string& fields) {
    return parse_kubeconfig(replaced(whole, "token: secret-token", "exec: {command: x" + fields + "}"))
        .exec.interactive_mode;
  };
  EXPECT_EQ(mode(v1 + "beta1"), ExecInteractiveMode::if_available);
  EXPECT_EQ(mode(v1 + ", interactiveMode: Never"), ExecInteractiveMode::never);
  EXPECT_EQ(mode(v1 + ", interactiveMode: Always"), ExecInteractiveMode::always);
}

TEST_F(ConfigErrors, ValuesThatWouldBecomeAnotherHeader) {
  const auto with = [&](const std::string& field) {
    return problem_with(replaced(whole, "token: secret-token", field));
  };
  const std::string user = "DIR/config: context \"dev\": user \"u1\": ";
  EXPECT_EQ(with("token: \"a\\r\\nb\""), user + "token: holds control byte 0x0d at position 1");
  EXPECT_EQ(with("as: \"bob\\nImpersonate-Group: x\""), user + "as: holds control byte 0x0a at position 3");
  EXPECT_EQ(with("as-groups: [a, \"b\\0\"]"), user + "as-groups[1]: holds control byte 0x00 at position 1");
  EXPECT_EQ(with("as-user-extra: {k: [\"\\x7f\"]}"),
            user + "as-user-extra: k[0]: holds control byte 0x7f at position 0");
}

TEST_F(ConfigErrors, NotAMap) {
  EXPECT_EQ(problem_with("just text"), "DIR/config: expected a map, found text");
}

TEST_F(ConfigErrors, NoCurrentContext) {
  EXPECT_EQ(problem_with(replaced(whole, "current-context: dev\n", "")),
            "DIR/config: current-context: not set");
}

TEST_F(ConfigErrors, UnknownContext) {
  EXPECT_EQ(problem_with(whole, "prod"), "DIR/config: context \"prod\": not found; there is: dev, plain");
  EXPECT_EQ(problem_with("current-context: a"), "DIR/config: context \"a\": not found; there are none");
}

TEST_F(ConfigErrors, UnknownCluster) {
  EXPECT_EQ(problem_with(replaced(whole, "cluster: c1, user", "cluster: c9, user")),
            "DIR/config: context \"dev\": cluster \"c9\": not found");
  EXPECT_EQ(problem_with(replaced(whole, "cluster: c1, user: u1, ", "user: u1, ")),
            "DIR/config: context \"dev\": cluster: missing");
}

TEST_F(ConfigErrors, UnknownUser) {
  EXPECT_EQ(problem_with(replaced(whole, "user: u1", "user: u9")),
            "DIR/config: context \"dev\": user \"u9\": not found");
}

TEST_F(ConfigErrors, MissingServer) {
  EXPECT_EQ(problem_with(replaced(whole, "    server: https://10.0.0.1:6443\n", "")),
            "DIR/config: context \"dev\": cluster \"c1\": server: missing");
}

TEST_F(ConfigErrors, ServerIsNoUrl) {
  const auto with = [this](const std::string& server) {
    return problem_with(replaced(whole, "https://10.0.0.1:6443", server));
  };
  const std::string server = "DIR/config: context \"dev\": cluster \"c1\": server: ";
  EXPECT_EQ(with("ftp://10.0.0.1"),
            server + "expected a URL that starts with https:// or http://, found \"ftp://10.0.0.1\"");
  EXPECT_EQ(with("10.0.0.1:6443/path"),
            server + "expected a URL, or HOST:PORT, found \"10.0.0.1:6443/path\"");
  EXPECT_EQ(with("https:///path"), server + "expected a host, found \"https:///path\"");
  for (const char* secret : {"bob:hunter2@10.0.0.1:6443", "https://bob:hunter2@10.0.0.1", "HTTP://hunter2@h"})
    EXPECT_EQ(with(secret), server + "must not carry a user or password");
  EXPECT_EQ(with("ftp://bob:hunter2@10.0.0.1"),
            server + "expected a URL that starts with https:// or http://, found \"ftp://10.0.0.1\"");
}

TEST_F(ConfigErrors, ProxyIsNoUrl) {
  const auto with = [this](const std::string& proxy) {
    return problem_with(replaced(whole, "Q0EgUEVN", "Q0EgUEVN\n    proxy-url: \"" + proxy + "\""));
  };
  const std::string proxy = "DIR/config: context \"dev\": cluster \"c1\": proxy-url: \"";
  EXPECT_THAT(with("http://bob:hunter 2@10.0.0.9:3128"),
              StartsWith(proxy + "http://10.0.0.9:3128\": not the URL"));
  EXPECT_THAT(with("bob:hunter2@10.0.0.9:3128"), StartsWith(proxy + "10.0.0.9:3128\": not the URL"));
  EXPECT_THAT(with("ftp://10.0.0.9"), StartsWith(proxy + "ftp://10.0.0.9\": not the URL"));
}

TEST_F(ConfigErrors, ImpersonationWithoutAUser) {
  EXPECT_EQ(problem_with(replaced(whole, "token: secret-token", "as-groups: [a]")),
            "DIR/config: context \"dev\": user \"u1\": as: missing, although there is as-uid, as-groups or "
            "as-user-extra");
}

// Each reads as with kubectl 1.32.
TEST(Kubeconfig, TakesTheShapesThatKubectlTakes) {
  const auto with = [](const std::string& cluster, const std::string& before = "") {
    return parse_kubeconfig(before + "clusters: [{name: c, cluster: {" + cluster +
                            "}}]\nusers: [{name: u, user: {token: t, as: jane}}]\n"
                            "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n");
  };
  EXPECT_EQ(with("server: 10.0.0.1:6443").server, "http://10.0.0.1:6443");
  EXPECT_EQ(with("server: 10.0.0.1:6443").token, "");
  EXPECT_EQ(with("server: 10.0.0.1:6443, certificate-authority-data: Q0EgUEVN").server,
            "https://10.0.0.1:6443");
  EXPECT_EQ(with("server: 10.0.0.1:6443, certificate-authority-data: Q0EgUEVN").token, "t");
  EXPECT_EQ(with("server: localhost:8080/, insecure-skip-tls-verify: true").server,
            "https://localhost:8080/");
  EXPECT_EQ(with("server: host").server, "http://host");
  EXPECT_EQ(with("server: HTTPS://H").server, "https://H");
  EXPECT_EQ(with("server: 'https://h/a@b'").server, "https://h/a@b");
  EXPECT_EQ(with("server: 'https://h/p?a=b#c'").server, "https://h/p");
  for (const char* yes : {"true", "True", "TRUE", "yes", "Yes", "on", "y", "!!bool 'true'"})
    EXPECT_TRUE(with("server: https://h, insecure-skip-tls-verify: " + std::string(yes)).tls.insecure) << yes;
  for (const char* no : {"false", "False", "no", "off", "~", "n"})
    EXPECT_FALSE(with("server: https://h, insecure-skip-tls-verify: " + std::string(no)).tls.insecure) << no;
  EXPECT_EQ(with("server: https://h, disable-compression: yes").compression, false);
  const Config templated =
      with("server: https://h, certificate-authority: '', proxy-url: '', tls-server-name: ''");
  EXPECT_EQ(templated.tls.ca_file + templated.tls.server_name, "");
  EXPECT_FALSE(templated.proxy.has_value());
  EXPECT_EQ(with("server: https://h, proxy-url: HTTP://p").proxy, "HTTP://p");
  EXPECT_EQ(with("server: https://a, server: https://b").server, "https://b");
  EXPECT_EQ(with("server: https://a", "clusters: [{name: d}]\n").server, "https://a");
  EXPECT_EQ(with("server: https://h", "\xEF\xBB\xBF# exported\n---\n").server, "https://h");
  EXPECT_EQ(with("server: !!binary aHR0cHM6Ly9h").server, "https://a");
  EXPECT_EQ(with("server: !own https://a").server, "https://a");
}

TEST(Kubeconfig, MergesMapsAsKubectlDoes) {
  const auto with = [](const std::string& cluster) {
    return parse_kubeconfig(
        "b: &b {server: https://base, tls-server-name: base}\nd: &d {server: https://d, proxy-url: "
        "http://d}\n"
        "e: &e {<<: *b, tls-server-name: e}\nclusters: [{name: c, cluster: {" +
        cluster + "}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n");
  };
  const auto shown = [](const Config& config) {
    return config.server + " " + config.tls.server_name + " " + config.proxy.value_or("");
  };
  EXPECT_EQ(shown(with("<<: *b, server: https://a")), "https://a base ");
  EXPECT_EQ(shown(with("server: https://a, <<: *b")), "https://base base ") << "in the order of the file";
  EXPECT_EQ(shown(with("<<: [*b, *d]")), "https://base base http://d");
  EXPECT_EQ(shown(with("<<: [*d, *b]")), "https://d base http://d");
  EXPECT_EQ(shown(with("<<: *e")), "https://base e ");
  EXPECT_EQ(shown(with("<<: {server: https://in}")), "https://in  ");
  EXPECT_EQ(shown(with("server: https://a, '<<': *b")), "https://a  ") << "quoted";
}

TEST_F(ConfigErrors, MergesAndTagsThatAreNone) {
  const std::string at = "DIR/config: context \"dev\": cluster \"c1\": ";
  const auto with = [this](const std::string& text) {
    return problem_with(replaced(whole, "server: https://10.0.0.1:6443", text));
  };
  const std::string problem = "map merge requires map or sequence of maps as the value";
  EXPECT_EQ(with("<<: 5"), at + problem);
  EXPECT_EQ(with("<<: ~"), at + problem);
  EXPECT_EQ(with("<<: [{}, 5]"), at + problem);
  EXPECT_EQ(with("server: !!binary '?'"), at + "server: !!binary value contains invalid base64 data");
  EXPECT_EQ(with("<<: &a {<<: *a}"), at + "document contains excessive aliasing");
  std::string bomb = "a0: &a0 {}\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {<<: [";
    for (int n = 0; n < 9; ++n) bomb += below + ",";
    bomb += below + "]}\n";
  }
  EXPECT_EQ(problem_with(bomb + replaced(whole, "server: https://10.0.0.1:6443", "<<: *a11")),
            at + "document contains excessive aliasing");
}

TEST_F(LoadConfig, SkipsEmptyFilesOfAList) {
  const std::string good = write("good", whole);
  const std::string empty = write("empty", "");
  const std::string comment = write("comment", "# nothing yet\n");
  for (const std::string& list :
       {empty + ":" + good, good + ":" + comment, comment + ":" + empty + ":" + good}) {
    environment["KUBECONFIG"] = list;
    EXPECT_EQ(load_config(options()).server, "https://10.0.0.1:6443") << list;
  }
  environment["KUBECONFIG"] = "/no/a:" + comment + ":" + empty;
  EXPECT_EQ(problem(options()), comment + ": empty");
}

// Without it, requests would have the rights of the proxy that the server is.
TEST_F(LoadConfig, ImpersonatesInTheClearToo) {
  const std::string with =
      replaced(whole, "token: secret-token", "{token: secret-token, as: jane, as-groups: [r]}");
  const Config config = parse_kubeconfig(replaced(with, "https://10", "http://10"));
  EXPECT_EQ(config.token, "");
  EXPECT_EQ(config.impersonate.user, "jane");
  EXPECT_EQ(config.impersonate.groups, std::vector<std::string>{"r"});
}

TEST_F(ConfigErrors, BadBase64) {
  EXPECT_EQ(problem_with(replaced(whole, "Q0EgUEVN", "Q0Eg*EVN")),
            "DIR/config: context \"dev\": cluster \"c1\": certificate-authority-data: not base64");
}

TEST_F(ConfigErrors, UnreadableCertificateFile) {
  EXPECT_EQ(
      problem_with(replaced(whole, "certificate-authority-data: Q0EgUEVN", "certificate-authority: ca.crt")),
      "DIR/config: context \"dev\": cluster \"c1\": certificate-authority: DIR/ca.crt cannot be read: No "
      "such "
      "file or directory");
}

TEST_F(ConfigErrors, WrongType) {
  EXPECT_EQ(problem_with("clusters: {}\n"), "DIR/config: clusters: expected a list, found a map");
  EXPECT_EQ(problem_with("clusters: [text]\n"), "DIR/config: clusters[0]: expected a map, found text");
  EXPECT_EQ(problem_with("clusters: [{cluster: {}}]\n"), "DIR/config: current-context: not set");
  EXPECT_EQ(problem_with("current-context: [a]\n"),
            "DIR/config: current-context: expected text, found a list");
  EXPECT_EQ(problem_with(replaced(whole, "server: https://10.0.0.1:6443", "server: [a, b]")),
            "DIR/config: context \"dev\": cluster \"c1\": server: expected text, found a list");
  EXPECT_EQ(
      problem_with(
          replaced(whole, "    certificate-authority-data: Q0EgUEVN", "    insecure-skip-tls-verify: maybe")),
      "DIR/config: context \"dev\": cluster \"c1\": insecure-skip-tls-verify: expected true or false, found "
      "\"maybe\"");
}

TEST_F(ConfigErrors, ContradictionsAreRefused) {
  EXPECT_EQ(problem_with(replaced(whole, "Q0EgUEVN", "Q0EgUEVN\n    insecure-skip-tls-verify: true")),
            "DIR/config: context \"dev\": cluster \"c1\": insecure-skip-tls-verify: true, although a "
            "certificate-authority is given; remove one of them");
  EXPECT_EQ(problem_with(replaced(whole, "token: secret-token", "client-certificate-data: Q0VSVA==")),
            "DIR/config: context \"dev\": user \"u1\": client-key: missing, although there is a "
            "client-certificate");
}

TEST_F(ConfigErrors, NeverShowASecret) {
  EXPECT_EQ(problem_with(replaced(whole, "token: secret-token", "client-key-data: '!secret!'")),
            "DIR/config: context \"dev\": user \"u1\": client-key-data: not base64");
}

TEST_F(ConfigErrors, InClusterWithoutToken) {
  environment = {{"KUBERNETES_SERVICE_HOST", "h"}, {"KUBERNETES_SERVICE_PORT", "1"}};
  EXPECT_EQ(problem(options()),
            "in-cluster: token: " + directory + "/sa/token cannot be read: No such file or directory");
  environment.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_EQ(problem(options()), "in-cluster: KUBERNETES_SERVICE_PORT: not set");
}

TEST_F(ConfigErrors, CarryFileContextAndField) {
  try {
    parse_kubeconfig(whole, "f", "prod");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.file(), "f");
    EXPECT_EQ(error.context(), "prod");
    EXPECT_EQ(error.field(), "");
  }
  try {
    parse_kubeconfig(replaced(whole, "Q0EgUEVN", "x"), "f");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.field(), "cluster \"c1\": certificate-authority-data");
  }
}

}  // namespace
}  // namespace evenkeel
