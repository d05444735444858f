// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/coordination/store_url.hpp>

namespace evenkeel::coordination {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of(const std::string& url, const StoreUrlOptions& options = {}) {
  try {
    open_store(url, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "opened";
}

TEST(OpenStore, KnowsItsForms) {
  EXPECT_EQ(open_store("memory:")->name(), "memory");
  EXPECT_EQ(open_store("etcd://127.0.0.1:2379")->name(), "etcd http://127.0.0.1:2379");
  EXPECT_EQ(open_store("etcds://one:2379,two:2379")->name(), "etcd https://one:2379 https://two:2379");
}

TEST(OpenStore, OpensTheSchemesOfTheProgram) {
  EXPECT_THAT(refusal_of("own://x"), HasSubstr("unknown scheme \"own:\""));
  std::string seen;
  const StoreScheme scheme{.prefix = "own://",
                           .open = [&seen](std::string_view url, const StoreUrlOptions& options) {
                             seen = std::string(url) + " " + options.root;
                             return open_store("memory:");
                           }};
  EXPECT_EQ(open_store("own://x", {.root = "/db", .schemes = {scheme}})->name(), "memory");
  EXPECT_EQ(seen, "own://x /db");
}

TEST(OpenStore, FoundationDbNeedsItsNetwork) {
  EXPECT_EQ(refusal_of("fdb:///etc/foundationdb/fdb.cluster"),
            "fdb:// needs evenkeel::foundationdb and the scheme of a FoundationDbNetwork");
}

TEST(OpenStore, KeepsAPasswordOffTheNetworkUnlessToldOtherwise) {
  EXPECT_EQ(
      refusal_of("etcd://me:secret@etcd-0:2379"),
      "EtcdStoreOptions: http://etcd-0:2379 is neither https nor a loopback address, and user and password "
      "would be sent in the clear; use etcds:// (https), or set credentials_in_clear");
  EXPECT_EQ(
      refusal_of("etcd://me:secret@127.0.0.1:2379,etcd-1:2379"),
      "EtcdStoreOptions: http://etcd-1:2379 is neither https nor a loopback address, and user and password "
      "would be sent in the clear; use etcds:// (https), or set credentials_in_clear");
  EXPECT_EQ(refusal_of("etcd://me:secret@127.0.0.1:2379"), "opened");
  EXPECT_EQ(refusal_of("etcds://me:secret@etcd-0:2379"), "opened");
  EXPECT_EQ(refusal_of("etcd://etcd-0:2379"), "opened");
  EXPECT_EQ(refusal_of("etcd://me:secret@etcd-0:2379", {.credentials_in_clear = true}), "opened");
}

/// A kubeconfig with two contexts, for as long as it lives.
class Kubeconfig {
 public:
  Kubeconfig() {
    std::ofstream(path_) << R"(
apiVersion: v1
kind: Config
current-context: near
clusters:
- {name: near, cluster: {server: "http://127.0.0.1:8001"}}
- {name: far, cluster: {server: "http://127.0.0.1:8002"}}
contexts:
- {name: near, context: {cluster: near, user: me}}
- {name: arn:far/1, context: {cluster: far, user: me}}
users:
- {name: me, user: {}}
)";
  }
  ~Kubeconfig() { std::remove(path_.c_str()); }
  Kubeconfig(const Kubeconfig&) = delete;
  Kubeconfig& operator=(const Kubeconfig&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "evenkeel-store-url-" + std::to_string(::getpid());
};

TEST(OpenStore, TakesObjectsOfAContext) {
  const Kubeconfig file;
  const StoreUrlOptions options{.root = "/db", .kubeconfig = file.path()};
  EXPECT_EQ(open_store("kube://hub/db1", options)->name(), "kubernetes http://127.0.0.1:8001 hub/db1");
  EXPECT_FALSE(open_store("kube://hub/db1", options)->capabilities().multi_key_atomic);
  const auto one = open_store("kube://arn:far/1/hub/db1?objects=one", options);
  EXPECT_EQ(one->name(), "kubernetes http://127.0.0.1:8002 hub/db1");
  EXPECT_TRUE(one->capabilities().multi_key_atomic);

  const std::string form = "; the form is kube://[CONTEXT/]NAMESPACE/NAME[?objects=one]";
  EXPECT_EQ(refusal_of("kube://hub", options), "kube://hub: a namespace or a name is missing" + form);
  EXPECT_EQ(refusal_of("kube://hub/", options), "kube://hub/: a namespace or a name is missing" + form);
  EXPECT_EQ(refusal_of("kube://hub/db1?objects=2", options),
            "kube://hub/db1...: only ?objects=one may follow the name" + form);
  EXPECT_EQ(refusal_of("kube://hub/db1"), "kube://hub/db1: the root of the keys must be set" + form);
}

TEST(OpenStore, SaysWhichFormsThereAre) {
  EXPECT_EQ(refusal_of("redis://db"),
            "unknown scheme \"redis:\"; supported are etcd://HOST:PORT, "
            "etcds://USER:PASSWORD@HOST:PORT, kube://[CONTEXT/]NAMESPACE/NAME and memory:");
  EXPECT_THAT(refusal_of("etcd://admin:secret@"), Not(HasSubstr("secret")));
  EXPECT_NE(refusal_of("etcd://admin:secret@"), "opened");
  for (const char* url : {"admin:secret@host:2379", "secret@host", "redis://admin:secret@host",
                          "kube://admin:secret@hub", "kube://hub/db1?password=secret"})
    EXPECT_THAT(refusal_of(url), Not(HasSubstr("secret"))) << url;
}

}  // namespace
}  // namespace evenkeel::coordination
