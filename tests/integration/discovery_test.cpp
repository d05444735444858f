// SPDX-License-Identifier: Apache-2.0
// Discovery against the embedded API server, in the same process.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/discovery.hpp>
#include <evenkeel/client/resource_client.hpp>

namespace {

namespace ek = evenkeel;
using namespace std::chrono_literals;

constexpr const char* sprocket_crd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sprockets.late.example.com}
spec:
  group: late.example.com
  scope: Cluster
  names: {plural: sprockets, singular: sprocket, kind: Sprocket, shortNames: [spr]}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object}}}
)";

class EmbeddedDiscovery : public ::testing::Test {
 protected:
  const std::shared_ptr<ek::ManualClock> clock_ = std::make_shared<ek::ManualClock>();
  std::atomic<int> requests_{0};
  const std::shared_ptr<ek::apiserver::SharedCore> server_ = std::make_shared<ek::apiserver::SharedCore>(
      ek::apiserver::SharedCoreOptions{.clock = clock_, .on_request = [this](const auto&) { ++requests_; }});
  const ek::Client client_{
      ek::Config{.server = "http://in-process"},
      {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_), .clock = clock_}};
  const ek::Discovery discovery_{client_};
};

TEST_F(EmbeddedDiscovery, LeadsToObjectsWithoutAType) {
  server_->install(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {k: v}}");
  const auto maps = client_.resource(discovery_.find_name("cm").id);
  EXPECT_TRUE(maps.find({"default", "a"}));
  EXPECT_EQ(discovery_.find_kind("", "ConfigMap").id, ek::ResourceId(ek::ConfigMap::resource));
  EXPECT_TRUE(discovery_.find_kind("apps", "Deployment").has_subresource("scale"));
}

TEST_F(EmbeddedDiscovery, FindsAKindThatAppearsLater) {
  const auto find = [&] { return discovery_.find_kind("late.example.com", "Sprocket"); };
  EXPECT_THROW(find(), ek::DiscoveryError);
  server_->install(sprocket_crd);
  EXPECT_THROW(find(), ek::DiscoveryError) << "asked a moment ago";
  EXPECT_EQ(requests_, 2);
  clock_->advance(10s);
  const ek::ApiResource sprocket = find();
  EXPECT_EQ(requests_, 4);
  EXPECT_EQ(sprocket.id,
            ek::ResourceId("late.example.com", "v1", "Sprocket", "sprockets", ek::Scope::cluster));
  EXPECT_TRUE(sprocket.has_subresource("status"));
  EXPECT_EQ(discovery_.find_name("spr").id, sprocket.id);
  EXPECT_EQ(discovery_.find_kind("late.example.com", "Sprocket", "v1beta1").id.version, "v1beta1");
  EXPECT_EQ(requests_, 4);
}

TEST_F(EmbeddedDiscovery, FindsItAtOnceAfterARefresh) {
  EXPECT_THROW(discovery_.find_name("sprockets"), ek::DiscoveryError);
  server_->install(sprocket_crd);
  discovery_.refresh();
  EXPECT_EQ(discovery_.find_name("sprockets").id.kind, "Sprocket");
}

}  // namespace
