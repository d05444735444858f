// SPDX-License-Identifier: Apache-2.0
// The client's verbs with a real API server.
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/discovery.hpp>
#include <evenkeel/client/flow_control.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/http/event_loop.hpp>
#include <evenkeel/testing/log_recorder.hpp>

#include "../api/random_pod.hpp"
#include "../client/widget.hpp"
#include "../http/certificates.hpp"
#include "../http/loop_driver.hpp"
#include "../http/scripted_server.hpp"
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
    edited["metadata"].erase("resourceVersion");  // controllers write the status meanwhile
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
  client_.resource(pods).remove(key, {.grace_period_seconds = 7});
  EXPECT_EQ(client_.resource(pods).get(key)->body().at({"metadata", "deletionGracePeriodSeconds"}),
            ek::Json(7));
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

TEST_F(RealClient, CompletesCallsWithoutBlocking) {
  constexpr int count = 40;
  std::atomic<int> created = 0, over = 0;
  for (int i = 0; i < count; ++i) {
    client_.start(ek::calls::create(config_map("m" + std::to_string(i))), [&](auto outcome) {
      created += outcome.ok() ? 1 : 0;
      ++over;
    });
  }
  await("the creations", [&] { return over == count; });
  EXPECT_EQ(created, count);
  const auto result_of = [&]<class T>(ek::ApiCall<T> call) {
    const auto promise = std::make_shared<std::promise<ek::Outcome<T>>>();
    client_.start(std::move(call),
                  [promise](ek::Outcome<T> outcome) { promise->set_value(std::move(outcome)); });
    return promise->get_future().get();
  };
  const ek::ObjectKey key{namespace_, "m7"};
  EXPECT_EQ(
      result_of(ek::calls::list<ConfigMap>({.namespace_ = namespace_, .page_size = 15})).value().items.size(),
      std::size_t{count});
  const auto read = result_of(ek::calls::get<ConfigMap>(key)).value();
  const auto edit = [](ConfigMap& map) { map.data["a"] = "2"; };
  EXPECT_EQ(result_of(ek::calls::patch(read, edit)).value()->data.at("a"), "2");
  EXPECT_EQ(result_of(ek::calls::apply(config_map("m7", "3"))).value()->data.at("a"), "3");
  EXPECT_TRUE(result_of(ek::calls::remove<ConfigMap>(key)).ok());
  EXPECT_FALSE(result_of(ek::calls::find<ConfigMap>(key)).value());
  auto missing = result_of(ek::calls::get<ConfigMap>(key));
  EXPECT_EQ(error_code([&] { missing.value(); }), 404);

  const auto seen = std::make_shared<std::promise<std::string>>();
  const auto watch = ek::start_watch<ConfigMap>(
      client_, {.namespace_ = namespace_, .field_selector = "metadata.name=m8"},
      {.on_event = [seen](auto event) { seen->set_value(event.value().object->metadata.name); },
       .on_end = {}});
  EXPECT_EQ(seen->get_future().get(), "m8");
  watch->cancel();
}

/// A list of a version that does not exist yet: the server waits three seconds for it.
constexpr const char* far_ahead = "9000000000000000000";

TEST_F(RealClient, CallsEndWithTheirDeadlineAndTheirStopToken) {
  const ek::ListOptions waiting{
      .namespace_ = namespace_, .resource_version = far_ahead, .resource_version_match = "NotOlderThan"};
  try {
    client_.with({.timeout = 50ms}).list<ConfigMap>(waiting);
    FAIL() << "it was answered";
  } catch (const ek::TransportError& error) {
    EXPECT_EQ(error.code(), ek::TransportErrorCode::timeout);
  }
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_THROW(client_.with({.stop = stop.get_token()}).list<ConfigMap>(waiting), ek::Cancelled);
}

/// A webhook that answers the first two creations of an object "busy" with 503 and 429 and a Retry-After.
class BusyWebhook {
 public:
  BusyWebhook(const ek::Client& client, const std::string& namespace_) : client_(client), name_(namespace_) {
    ek::Json document = ek::Json::parse(R"({"apiVersion": "admissionregistration.k8s.io/v1",
      "kind": "ValidatingWebhookConfiguration", "webhooks": [{"name": "busy.evenkeel.dev", "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": [""], "apiVersions": ["v1"],
          "operations": ["CREATE"], "resources": ["configmaps"]}]}]})");
    ek::Json& webhook = document["webhooks"][0];
    const ek::Json label = ek::Json::object({{"kubernetes.io/metadata.name", name_}});
    webhook["namespaceSelector"]["matchLabels"] = label;
    webhook["clientConfig"]["url"] = server_.url() + "/";
    webhook["clientConfig"]["caBundle"] = ek::Bytes(authority_.pem()).base64();
    document["metadata"]["name"] = name_;
    client_.resource(kind).create(ek::DynamicObject(document));
  }
  ~BusyWebhook() { client_.resource(kind).remove({"", name_}); }
  BusyWebhook(const BusyWebhook&) = delete;
  BusyWebhook& operator=(const BusyWebhook&) = delete;

  int calls(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return calls_[name];
  }

 private:
  static inline const ek::ResourceId kind{"admissionregistration.k8s.io", "v1",
                                          "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
                                          ek::Scope::cluster};

  static ek::tests::ScriptedServerOptions options(const ek::tests::Authority& authority) {
    const ek::tests::Pem pem = authority.issue_server("IP:127.0.0.1");
    return {.cert = pem.cert, .key = pem.key};
  }
  std::string answer_to(const ek::Json& review) {
    ek::Json answer = ek::Json::parse(R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"})");
    answer["response"]["uid"] = review.at({"request", "uid"});
    const std::lock_guard lock(mutex_);
    const std::string name = review.at({"request", "name"}).string_or("");
    const int call = ++calls_[name];
    const bool allowed = name != "busy" || call > 2;
    answer["response"]["allowed"] = allowed;
    if (!allowed) {
      answer["response"]["status"] =
          ek::Json::object({{"code", call == 1 ? 503 : 429},
                            {"message", "come back"},
                            {"details", ek::Json::object({{"retryAfterSeconds", 1}})}});
    }
    return answer.dump();
  }

  const ek::Client client_;
  const std::string name_;
  std::mutex mutex_;
  std::map<std::string, int> calls_;
  const ek::tests::Authority authority_{"busy"};
  ek::tests::ScriptedServer server_{[this](ek::tests::Connection& connection) {
                                      while (const auto request = connection.read_request())
                                        connection.respond(200, answer_to(ek::Json::parse(request->body)),
                                                           "Content-Type: application/json\r\n");
                                    },
                                    options(authority_)};
};

TEST_F(RealClient, ComesBackWhenTheServerAsksForIt) {
  BusyWebhook webhook(client_, namespace_);
  int tries = 0;
  await("the webhook", [&] {
    const std::string name = "try-" + std::to_string(tries++);
    client_.create(config_map(name));
    return webhook.calls(name) > 0;
  });
  EXPECT_EQ(error_code([&] { client_.with({.max_retries = 0}).create(config_map("busy")); }), 503);
  EXPECT_EQ(client_.create(config_map("busy"))->metadata.name, "busy");
  EXPECT_EQ(webhook.calls("busy"), 3) << "a write, too, was repeated after 429 with Retry-After";
}

TEST_F(RealClient, ADeletionDoesWithOwnedObjectsWhatItIsTold) {
  const auto create_pair = [&](const std::string& name) {
    const auto owner = client_.create(config_map(name));
    ConfigMap owned = config_map(name + "-owned");
    owned.metadata.owner_references = {{.api_version = "v1",
                                        .kind = "ConfigMap",
                                        .name = name,
                                        .uid = owner->metadata.uid,
                                        .block_owner_deletion = true}};
    client_.create(owned);
    return owner;
  };
  const auto is_there = [&](const char* name) {
    return static_cast<bool>(client_.find<ConfigMap>({namespace_, name}));
  };
  client_.remove(*create_pair("a"), {.propagation = ek::Propagation::orphan});
  await("the end of the owner", [&] { return !is_there("a"); });
  EXPECT_TRUE(client_.get<ConfigMap>({namespace_, "a-owned"})->metadata.owner_references.empty());
  client_.remove(*create_pair("b"), {.propagation = ek::Propagation::foreground});
  await("the end of the other owner", [&] { return !is_there("b"); });
  EXPECT_FALSE(is_there("b-owned")) << "it went first";
}

TEST_F(RealClient, WaitsForItsOwnRate) {
  const auto slow = std::make_shared<ek::FlowControl>(ek::TokenBucket({.tokens = 1, .per = 1h, .burst = 2}));
  const ek::Client client(environment().config(), {.timeout = 5s, .flow_control = slow});
  const auto get = [&](const ek::Client& one) { return one.get<ek::Namespace>({"", namespace_}); };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(get(client));
  EXPECT_THROW(get(client), ek::TransportError) << "the next token comes in an hour";
  EXPECT_TRUE(get(client.with({.without_flow_control = true})));
}

TEST_F(RealClient, ALoopOfTheProgramDrivesItWithoutAThread) {
  client_.create(config_map("before"));
  const std::size_t threads = ek::tests::thread_count();
  const auto loop = std::make_shared<ek::EventLoop>();
  const ek::Client client(environment().config(), {.event_loop = loop});
  std::vector<std::string> seen;
  const auto watch = ek::start_watch<ConfigMap>(
      client, {.namespace_ = namespace_},
      {.on_event = [&](auto event) { seen.push_back(event.value().object->metadata.name); }, .on_end = {}});
  ek::tests::drive_until(*loop, [&] { return seen.size() == 1; });
  client.start(ek::calls::create(config_map("after")),
               [](const auto& outcome) { EXPECT_TRUE(outcome.ok()); });
  ek::tests::drive_until(*loop, [&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ElementsAre("before", "after"));
  EXPECT_EQ(ek::tests::thread_count(), threads);
  watch->cancel();
}

TEST_F(RealClient, LogsAWarningOfTheServerOnce) {
  const auto log = std::make_shared<ek::testing::LogRecorder>();
  const ek::Client client(environment().config(), {.log = ek::Log(log)});
  const ek::ResourceClient maps = client.resource(ek::ResourceId(ConfigMap::resource));
  for (const char* name : {"a", "b"}) {
    ek::DynamicObject map(ek::ResourceId(ConfigMap::resource), namespace_, name);
    map["colour"] = "red";
    maps.create(map);
  }
  EXPECT_EQ(log->lines_with("colour").size(), 1U) << ::testing::PrintToString(log->lines());
  ek::DynamicObject other(ek::ResourceId(ConfigMap::resource), namespace_, "c");
  other["shape"] = "round";
  maps.create(other);
  EXPECT_EQ(log->lines_with("unknown field").size(), 2U)
      << "another message: " << ::testing::PrintToString(log->lines());
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
