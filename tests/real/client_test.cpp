// SPDX-License-Identifier: Apache-2.0
// The client's verbs with a real API server.
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/discovery.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/client/watch.hpp>

#include "../api/random_pod.hpp"
#include "../client/widget.hpp"
#include "../support/await.hpp"
#include "real_environment.hpp"

namespace {

namespace ek = evenkeel;
using namespace std::chrono_literals;
using ek::ConfigMap;
using ek::tests::await;
using ek::tests::environment;
using ek::tests::error_code;
using ek::tests::Gadget;
using ek::tests::Widget;
using ek::tests::WidgetStatus;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RealClient : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    environment().install<Widget>();
    environment().install<Gadget>();
  }
  RealClient() : client_(environment().config()), namespace_(ek::tests::fresh_namespace(client_)) {}

  ConfigMap config_map(const std::string& name, const std::string& value = "1") const {
    return {.metadata = {.name = name, .namespace_ = namespace_, .labels = {{"app", name}}},
            .data = {{"a", value}}};
  }
  Widget widget(const std::string& name) const {
    return {.metadata = {.name = name, .namespace_ = namespace_}};
  }

  const ek::Client client_;
  const std::string namespace_;
};

TEST_F(RealClient, DiscoversKinds) {
  const ek::Discovery discovery(client_);
  const ek::ApiResource deployment = discovery.find_kind("apps", "Deployment");
  EXPECT_EQ(deployment.id, ek::ResourceId(ek::Deployment::resource));
  EXPECT_TRUE(deployment.has_verb("watch"));
  EXPECT_TRUE(deployment.has_subresource("scale"));
  EXPECT_EQ(discovery.find_kind("", "Namespace").id, ek::ResourceId(ek::Namespace::resource));
  EXPECT_EQ(discovery.find_name("po").id.kind, "Pod");
  EXPECT_EQ(discovery.find_name("events.").id.group, "");
  EXPECT_EQ(discovery.find_kind(std::string(Widget::resource.group), "Widget").id,
            ek::ResourceId(Widget::resource));
  EXPECT_THROW(discovery.find_kind("apps", "Widget"), ek::DiscoveryError);
  client_.create(config_map("a"));
  const auto found = client_.resource(discovery.find_name("cm").id).find({namespace_, "a"});
  EXPECT_TRUE(found);
}

TEST_F(RealClient, CreatesReadsAndDeletes) {
  const auto made = client_.create(config_map("a"));
  EXPECT_FALSE(made->metadata.uid.empty());
  EXPECT_EQ(client_.get<ConfigMap>({namespace_, "a"})->metadata.uid, made->metadata.uid);
  EXPECT_EQ(error_code([&] { client_.create(config_map("a")); }), 409);
  EXPECT_FALSE(client_.find<ConfigMap>({namespace_, "b"}));
  EXPECT_EQ(error_code([&] { client_.get<ConfigMap>({namespace_, "b"}); }), 404);
  EXPECT_EQ(error_code([&] { client_.remove<ConfigMap>({namespace_, "a"}, {.uid = "another"}); }), 409);
  client_.remove<ConfigMap>({namespace_, "a"});
  client_.remove<ConfigMap>({namespace_, "a"});  // succeeds as well
  EXPECT_FALSE(client_.find<ConfigMap>({namespace_, "a"}));
}

TEST_F(RealClient, NamesWhatIsInvalid) {
  try {
    client_.create(config_map("Not-A-Name"));
    FAIL() << "it was created";
  } catch (const ek::ApiError& error) {
    EXPECT_TRUE(error.is_invalid());
    ASSERT_EQ(error.status().causes.size(), 1u);
    EXPECT_EQ(error.status().causes[0].field, "metadata.name");
  }
}

TEST_F(RealClient, ListsWithSelectorsAndOverPages) {
  for (int i = 0; i < 7; ++i) client_.create(config_map("m" + std::to_string(i)));
  EXPECT_EQ(client_.list<ConfigMap>({.namespace_ = namespace_, .page_size = 2}).items.size(), 7u);
  EXPECT_EQ(
      client_.list<ConfigMap>({.namespace_ = namespace_, .label_selector = "app in (m1,m3)"}).items.size(),
      2u);
  EXPECT_EQ(
      client_.list<ConfigMap>({.namespace_ = namespace_, .field_selector = "metadata.name=m5"}).items.size(),
      1u);
  const auto first = client_.list<ConfigMap>({.namespace_ = namespace_, .limit = 3});
  ASSERT_EQ(first.items.size(), 3u);
  ASSERT_FALSE(first.continue_token.empty());
  EXPECT_EQ(error_code([&] { client_.list<ConfigMap>({.namespace_ = namespace_, .label_selector = "!!"}); }),
            400);
  client_.remove_all<ConfigMap>({.namespace_ = namespace_, .label_selector = "app"});
  EXPECT_EQ(client_.list<ConfigMap>({.namespace_ = namespace_, .label_selector = "app"}).items.size(), 0u);
}

TEST_F(RealClient, PatchesOnlyWhatAnEditChanges) {
  const ek::ResourceClient raw = client_.resource(ek::ResourceId(Widget::resource));
  auto document =
      ek::Json::parse(R"({"apiVersion":"test.dev/v1","kind":"Widget","spec":{"replicas":1,"ports":[
      {"name":"http","port":80}]}})");
  document["metadata"] = ek::Json::object({{"name", "w"}, {"namespace", namespace_}});
  raw.create(ek::DynamicObject(document));
  const auto read = client_.get<Widget>({namespace_, "w"});
  const auto patched = client_.patch(read, [](Widget& widget) { widget.spec.replicas = 3; });
  EXPECT_EQ(patched->spec.replicas, 3);
  EXPECT_EQ(patched->metadata.generation, 2);
  EXPECT_EQ(patched->spec.ports.size(), 1u);
  const auto same = client_.patch(patched, [](Widget&) {});
  EXPECT_EQ(same->metadata.resource_version, patched->metadata.resource_version) << "nothing was sent";
  // A list is replaced as a whole, so only by a client that has seen its last state.
  EXPECT_EQ(error_code([&] { client_.patch(read, [](Widget& widget) { widget.spec.ports[0].port = 81; }); }),
            409);
}

TEST_F(RealClient, KeepsTheStatusApart) {
  const auto made = client_.create(widget("w"));
  const auto status = client_.patch_status(made, [](WidgetStatus& now) { now.ready_replicas = 2; });
  EXPECT_EQ(status->status.ready_replicas, 2);
  EXPECT_EQ(status->metadata.generation, 1) << "a status is no change of what is wanted";
  const auto applied = client_.with({.field_owner = "me"})
                           .apply_status(Widget{.metadata = {.name = "w", .namespace_ = namespace_},
                                                .status = {.ready_replicas = 5}});
  EXPECT_EQ(applied->status.ready_replicas, 5);
  const auto spec = client_.patch(applied, [](Widget& object) {
    object.spec.replicas = 9;
    object.status.ready_replicas = 0;
  });
  EXPECT_EQ(spec->status.ready_replicas, 5) << "not by this way";
  EXPECT_EQ(client_.scale<Widget>({namespace_, "w"}, 4).replicas, 4);
}

TEST_F(RealClient, ReplacesOnlyWhatNobodyElseWrote) {
  Gadget gadget{.metadata = {.name = namespace_}};
  auto made = client_.create(gadget);
  gadget = *made;
  gadget.spec.replicas = 2;
  const auto updated = client_.update(gadget);
  EXPECT_EQ(updated->spec.replicas, 2);
  EXPECT_EQ(error_code([&] { client_.update(gadget); }), 409);
}

TEST_F(RealClient, AppliesAndRemovesWhatItOwns) {
  const ek::Client mine = client_.with({.field_owner = "mine"});
  const ek::Client theirs = client_.with({.field_owner = "theirs"});
  ConfigMap map = config_map("a");
  map.data["b"] = "2";
  EXPECT_EQ(mine.apply(map)->data.size(), 2u);
  map.data.erase("b");
  EXPECT_EQ(mine.apply(map)->data.size(), 1u) << "what is not applied any more goes";
  map.data["a"] = "other";
  EXPECT_EQ(error_code([&] { theirs.apply(map, {.force = false}); }), 409);
  EXPECT_EQ(theirs.apply(map)->data.at("a"), "other");
}

TEST_F(RealClient, SendsPatchesOfAllFourKinds) {
  client_.create(config_map("a"));
  const ek::ObjectKey key{namespace_, "a"};
  const auto patched = [&](ek::Patch patch, const ek::PatchOptions& options = {}) {
    return client_.patch<ConfigMap>(key, std::move(patch), options)->data;
  };
  EXPECT_EQ(patched({ek::PatchType::merge, R"({"data":{"merge":"1"}})"}).at("merge"), "1");
  EXPECT_EQ(patched({ek::PatchType::strategic, R"({"data":{"strategic":"1"}})"}).at("strategic"), "1");
  EXPECT_EQ(patched({ek::PatchType::json, R"([{"op":"add","path":"/data/json","value":"1"}])"}).at("json"),
            "1");
  EXPECT_EQ(patched({ek::PatchType::apply, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"apply":"1"}})"},
                    {.force = true})
                .size(),
            5u);
}

TEST_F(RealClient, TakesComputedStrategicPatches) {
  const ek::ResourceId deployments{"apps", "v1", "Deployment", "deployments"};
  const ek::ResourceClient client = client_.resource(deployments);
  const ek::ResourceClient rehearsed = client_.with({.dry_run = true}).resource(deployments);
  const auto set = [](ek::Json& document, const ek::Json& pod) {
    document["spec"]["template"]["spec"] = pod["spec"];
    document["metadata"].erase("finalizers");
    document["metadata"].erase("managedFields");
    if (const ek::Json* finalizers = pod["metadata"].find("finalizers"))
      document["metadata"]["finalizers"] = *finalizers;
  };
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    ek::tests::RandomPod random(seed);
    const ek::ObjectKey key{namespace_, "d" + std::to_string(seed)};
    ek::Json document = ek::Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":0,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}}})");
    document["metadata"] = ek::Json::object({{"name", key.name}, {"namespace", namespace_}});
    set(document, random.make());
    ek::Json before = client.create(ek::DynamicObject(document))->body();
    before["metadata"].erase("managedFields");
    ek::Json edited = before;
    set(edited, random.make());
    ek::Json after = rehearsed.update(ek::DynamicObject(edited))->body();
    for (const char* name : {"managedFields", "generation", "resourceVersion"})
      before["metadata"].erase(name), after["metadata"].erase(name);
    const ek::Json patch = ek::strategic_patch(before, after);
    const ek::Json found = rehearsed.patch(key, ek::Patch::strategic(patch))->body();
    EXPECT_EQ(found.at({"metadata", "finalizers"}).dump(), after.at({"metadata", "finalizers"}).dump());
    EXPECT_EQ(ek::tests::without_order(found.at({"spec", "template", "spec"})).dump(),
              ek::tests::without_order(after.at({"spec", "template", "spec"})).dump())
        << patch.dump();
  }
}

TEST_F(RealClient, DryRunsAndValidatesStrictly) {
  client_.with({.dry_run = true}).create(config_map("a"));
  EXPECT_FALSE(client_.find<ConfigMap>({namespace_, "a"}));
  ek::Json document = ek::Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","colour":"red"})");
  document["metadata"] = ek::Json::object({{"name", "a"}, {"namespace", namespace_}});
  const ek::ResourceClient strict = client_.with({.field_validation = ek::FieldValidation::strict})
                                        .resource(ek::ResourceId(ConfigMap::resource));
  EXPECT_EQ(error_code([&] { strict.create(ek::DynamicObject(document)); }), 400);
}

/// A stream that is open and silent.
struct OpenStream final : ek::http::StreamHandler {
  void on_response(int code, const ek::http::Headers&) override { status = code; }
  void on_data(std::string_view) override {}
  void on_end(std::exception_ptr) override { ended = true; }
  std::atomic<int> status = 0;
  std::atomic<bool> ended = false;
};

// libcurl 7.88 treats a watch's HTTP/1.1 connection as shareable if a later one uses HTTP/2: for example
// after a restart of the server, when the watch reconnects before the first request.
TEST_F(RealClient, BindsAndEvictsPods) {
  const ek::ResourceId pods{"", "v1", "Pod", "pods"};
  const ek::ObjectKey key{namespace_, "web"};
  ek::DynamicObject pod(pods, namespace_, "web");
  pod["spec"]["containers"] = ek::Json::parse(R"([{"name":"main","image":"none"}])");
  pod["spec"]["automountServiceAccountToken"] = false;
  await("the namespace's service account", [&] {
    try {
      client_.resource(pods).create(pod);
      return true;
    } catch (const ek::ApiError& error) {
      if (!error.is_forbidden()) throw;
      return false;
    }
  });
  client_.run(ek::calls::bind(key, "no-such-node"));
  EXPECT_EQ((*client_.resource(pods).get(key))["spec"]["nodeName"], ek::Json("no-such-node"));
  EXPECT_EQ(error_code([&] { client_.run(ek::calls::bind(key, "another")); }), 409);
  client_.with({.dry_run = true}).run(ek::calls::evict(key, {.grace_period_seconds = 0}));
  EXPECT_TRUE(client_.resource(pods).find(key));
  client_.run(ek::calls::evict(key, {.grace_period_seconds = 0}));
  EXPECT_FALSE(client_.resource(pods).find(key));
  EXPECT_EQ(error_code([&] { client_.run(ek::calls::evict(key)); }), 404);
}

TEST_F(RealClient, MakesTokensOfServiceAccounts) {
  client_.resource({"", "v1", "ServiceAccount", "serviceaccounts"})
      .create(ek::DynamicObject({"", "v1", "ServiceAccount", "serviceaccounts"}, namespace_, "robot"));
  const auto token = client_.run(ek::calls::create_token({namespace_, "robot"}, {.expires_after = 10min}));
  EXPECT_THAT(token.token, ::testing::StartsWith("ey"));
  ek::Config as_robot{.server = environment().config().server, .tls = environment().config().tls};
  as_robot.tls.cert_data.clear();
  as_robot.tls.key_data.clear();
  as_robot.token = token.token;
  EXPECT_EQ(error_code([&] { ek::Client(as_robot).list<ConfigMap>({.namespace_ = namespace_}); }), 403)
      << "authenticated, but without permissions";
}

TEST_F(RealClient, ReadsMetadataOnly) {
  client_.create(config_map("one"));
  const ek::ResourceId config_maps{"", "v1", "ConfigMap", "configmaps"};
  const ek::ResourceClient metadata = client_.resource(config_maps).metadata_only();
  const auto one = metadata.get({namespace_, "one"});
  EXPECT_EQ(one->kind(), "PartialObjectMetadata");
  EXPECT_EQ(one->body().find("data"), nullptr);
  const auto all = metadata.list({.namespace_ = namespace_, .label_selector = "app=one"});
  ASSERT_EQ(all.items.size(), 1U);
  EXPECT_EQ(all.items[0]->kind(), "PartialObjectMetadata");
  const auto patched = metadata.patch(
      one, [](ek::DynamicObject& object) { object["metadata"]["annotations"]["seen"] = "yes"; });
  EXPECT_EQ((*patched)["metadata"]["annotations"]["seen"], ek::Json("yes"));
  EXPECT_EQ(client_.get<ConfigMap>({namespace_, "one"})->data.at("a"), "1");
  ek::ResourceWatch watch(client_, config_maps,
                          {.namespace_ = namespace_,
                           .field_selector = "metadata.name=one",
                           .resource_version = all.resource_version,
                           .metadata_only = true});
  const auto event = watch.next({});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->object->kind(), "PartialObjectMetadata");
  EXPECT_EQ((*event->object)["metadata"]["annotations"]["seen"], ek::Json("yes"));
}

TEST_F(RealClient, RequestsDoNotGoIntoTheConnectionOfAWatch) {
  const ek::Client client(environment().config(), {.timeout = 10s});
  const auto stream = std::make_shared<OpenStream>();
  const auto watch = client.stream({.resource = ek::ResourceId(ConfigMap::resource),
                                    .namespace_ = namespace_,
                                    .query = {{"watch", "true"}}},
                                   stream);
  await("the watch to be opened", [&] { return stream->status == 200; });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.get<ek::Namespace>({"", namespace_})) << "request " << i;
  EXPECT_FALSE(stream->ended);
  watch->cancel();
  await("the watch to end", [&] { return stream->ended.load(); });
}

TEST_F(RealClient, WatchesThroughARestartOfTheServer) {
  const auto before = client_.list<ConfigMap>({.namespace_ = namespace_, .label_selector = "app"});
  ek::Watch<ConfigMap> watch(
      client_,
      {.namespace_ = namespace_, .label_selector = "app", .resource_version = before.resource_version});
  std::vector<std::string> seen;
  const auto next = [&] {
    auto event = watch.next({});
    ASSERT_TRUE(event);
    seen.push_back(std::to_string(static_cast<int>(event->type)) + " " + event->object->metadata.name);
  };
  client_.create(config_map("first"));
  next();
  environment().restart(ek::testing::Component::api_server);
  client_.create(config_map("second"));
  client_.remove<ConfigMap>({namespace_, "first"});
  next();
  next();
  EXPECT_THAT(seen, ElementsAre("0 first", "0 second", "2 first"));
}

TEST_F(RealClient, IsToldThatAVersionIsGone) {
  environment().restart(ek::testing::Component::api_server);  // its history of changes starts again
  ek::Watch<ConfigMap> watch(client_, {.namespace_ = namespace_, .resource_version = "1"});
  const auto event = watch.next({});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, ek::WatchEventType::gone);
}

}  // namespace
