// SPDX-License-Identifier: Apache-2.0
// The examples of docs/client.md, which quotes them, against the embedded API server.
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/evenkeel.hpp>

namespace {

namespace ek = evenkeel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ek::ObjectKey web{"default", "web"};

class ClientGuideConcurrency : public ::testing::Test {
 protected:
  ek::ConfigMap map(const std::string& name) {
    return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"colour", "blue"}}};
  }

  const ek::Client client{ek::Config{.server = "http://in-process"},
                          {.transport = std::make_shared<ek::apiserver::InProcessTransport>(
                               std::make_shared<ek::apiserver::SharedCore>())}};
};

TEST_F(ClientGuideConcurrency, Reads) {
  for (const char* name : {"a", "b", "c"}) client.create(map(name));
  const auto found = client.find<ek::ConfigMap>({"default", "none"});
  EXPECT_FALSE(found);  // absence is no error, but for get()
  EXPECT_THROW(client.get<ek::ConfigMap>({"default", "none"}), ek::ApiError);

  ek::ListOptions page{.namespace_ = "default", .limit = 2};
  std::vector<std::string> names;
  do {
    const auto list = client.list<ek::ConfigMap>(page);
    for (const auto& one : list.items) names.push_back(one->metadata.name);
    page.continue_token = list.continue_token;  // empty at the end
  } while (!page.continue_token.empty());
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
}

TEST_F(ClientGuideConcurrency, Writes) {
  const auto created = client.create(map("web"));
  const auto patched = client.patch(created, [](ek::ConfigMap& edited) { edited.data["colour"] = "red"; });
  EXPECT_EQ(patched->data.at("colour"), "red");
  client.apply(ek::ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}, .data = {{"size", "1"}}});
  client.patch<ek::ConfigMap>(
      web, ek::Patch::json(ek::Json::parse(R"([{"op": "replace", "path": "/data/size", "value": "2"}])")));
  EXPECT_THAT(client.get<ek::ConfigMap>(web)->data,
              ElementsAre(std::pair("colour", "red"), std::pair("size", "2")));
  client.remove<ek::ConfigMap>(web);
  client.remove<ek::ConfigMap>(web);  // it is gone already, which is no error
}

TEST_F(ClientGuideConcurrency, OptionsOfAWrite) {
  const ek::Client careful = client.with(
      {.field_owner = "team-a", .dry_run = true, .field_validation = ek::FieldValidation::strict});
  careful.create(map("web"));  // checked, and not stored
  EXPECT_FALSE(client.find<ek::ConfigMap>(web));
  const auto created = client.create(map("web"));
  ek::DynamicObject typo(ek::Json::parse(created.raw()));
  typo["dta"] = ek::Json::object({{"colour", "red"}});
  try {
    careful.resource(ek::ConfigMap::resource).update(typo);
    FAIL() << "there is no such field";
  } catch (const ek::ApiError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown field \"dta\""));
  }
  try {
    client.remove<ek::ConfigMap>(web,
                                 {.propagation = ek::Propagation::foreground, .uid = "of another object"});
    FAIL() << "another object has that uid";
  } catch (const ek::ApiError& error) {
    EXPECT_TRUE(error.is_conflict());
  }
}

/// A config map as a type that declares all of it, so that it can be replaced.
struct WholeMap {
  static constexpr ek::ResourceInfo resource = ek::ConfigMap::resource;
  static constexpr bool complete = true;
  ek::ObjectMeta metadata = {};
  std::map<std::string, std::string> data = {};
};
EVENKEEL_FIELDS(WholeMap, metadata, data)

TEST_F(ClientGuideConcurrency, AConflictIsReadAndTriedAgain) {
  client.create(map("web"));
  int attempts = 0;
  ek::retry_on_conflict(client, [&] {
    WholeMap whole = *client.get<WholeMap>(web);
    if (++attempts == 1)  // somebody else writes in between
      client.patch(client.get<ek::ConfigMap>(web),
                   [](ek::ConfigMap& edited) { edited.data["by"] = "another"; });
    whole.data["colour"] = "red";
    client.update(whole);
  });
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(client.get<ek::ConfigMap>(web)->data.at("by"), "another");
}

TEST_F(ClientGuideConcurrency, KindsWithoutAType) {
  const ek::ResourceId deployments("apps", "v1", "Deployment", "deployments");
  const ek::ResourceClient dynamic = client.resource(deployments);
  ek::DynamicObject deployment(deployments, "default", "web");
  deployment["spec"] = ek::Json::parse(R"({"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
      "template": {"metadata": {"labels": {"app": "web"}},
                   "spec": {"containers": [{"name": "web", "image": "web:1"}]}}})");
  dynamic.apply(deployment);
  const auto patched =
      dynamic.patch(dynamic.get(web), [](ek::DynamicObject& edited) { edited["spec"]["replicas"] = 2; });
  EXPECT_EQ((*patched)["spec"]["replicas"].as_integer(), 2);
  EXPECT_EQ(dynamic.scale(web, 3).replicas, 3);
  EXPECT_TRUE((*dynamic.metadata_only().get(web))["spec"].is_null());
}

TEST_F(ClientGuideConcurrency, SubresourcesAndAnyOtherRequest) {
  client.create(ek::ServiceAccount{.metadata = {.name = "robot", .namespace_ = "default"}});
  const auto token = client.run(ek::calls::create_token({"default", "robot"}, {.audiences = {"vault"}}));
  EXPECT_FALSE(token.token.empty());
  const ek::http::Response version = client.raw({.path = "/version"});
  EXPECT_THAT(version.body, HasSubstr("gitVersion"));
}

TEST_F(ClientGuideConcurrency, Waits) {
  client.create(map("web"));
  client.start(ek::calls::remove<ek::ConfigMap>(web), [](const auto&) {});
  const auto gone = ek::wait_until<ek::ConfigMap>(
      client, web, [](const ek::Snapshot<ek::ConfigMap>& now) { return !now; }, std::stop_token());
  ASSERT_TRUE(gone);
  EXPECT_FALSE(*gone);
}

TEST(ClientGuide, Configurations) {
  ek::Config config = ek::parse_kubeconfig(R"(
current-context: dev
contexts: [{name: dev, context: {cluster: c1, user: u1, namespace: apps}}]
clusters: [{name: c1, cluster: {server: "https://10.0.0.1:6443"}}]
users: [{name: u1, user: {token: secret}}]
)");
  config.impersonate = {.user = "system:serviceaccount:apps:robot", .groups = {"auditors"}};
  EXPECT_EQ(config.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config.namespace_, "apps");  // of the context; calls do not use it by themselves
  const ek::Client client(config, {.user_agent = "my-tool/1.0", .field_owner = "my-tool"});
  try {
    ek::parse_kubeconfig("current-context: dev\n", "kubeconfig");
    FAIL() << "there is no such context";
  } catch (const ek::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kubeconfig: context \"dev\""));
  }
}

}  // namespace
