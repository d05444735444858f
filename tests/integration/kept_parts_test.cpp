// SPDX-License-Identifier: Apache-2.0
// Caches that keep a part of each object, by projection or by transform, against the embedded API server.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>

#include "../support/await.hpp"

namespace evenkeel {
namespace kept_parts_tests {

struct PlacementSpec {
  std::string node_name;
};
EVENKEEL_FIELDS(PlacementSpec, node_name)

struct Placement {
  static constexpr ResourceInfo resource = Pod::resource;
  ObjectMeta metadata = {};
  PlacementSpec spec = {};
};
EVENKEEL_FIELDS(Placement, metadata, spec)

struct ImageOfContainer {
  std::string name;
  std::string image;
};
EVENKEEL_FIELDS(ImageOfContainer, name, image)

struct ImagesSpec {
  std::vector<ImageOfContainer> containers;
};
EVENKEEL_FIELDS(ImagesSpec, containers)

struct Images {
  static constexpr ResourceInfo resource = Pod::resource;
  ObjectMeta metadata = {};
  ImagesSpec spec = {};
};
EVENKEEL_FIELDS(Images, metadata, spec)

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using tests::await;

constexpr const char* pods_of_node = "node";

Pod pod(const std::string& name, const std::string& node) {
  Pod result{.metadata = {.name = name, .namespace_ = "default"}};
  result.spec.node_name = node;
  core_v1::Container container{.name = "main", .image = "registry.example.com/app:1"};
  container.args = {"--verbose"};
  result.spec.containers = {container};
  return result;
}

template <class F>
std::string error_of(F call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

class KeptPartsConcurrency : public ::testing::Test {
 protected:
  KeptPartsConcurrency()
      : client(Config{.server = "http://in-process"},
               {.transport = std::make_shared<apiserver::InProcessTransport>(
                    std::make_shared<apiserver::SharedCore>())}),
        cache(client) {
    client.create(pod("a", "node-1"));
    client.create(pod("b", "node-2"));
  }
  void start() {
    cache.start();
    ASSERT_TRUE(cache.wait_for_sync({}));
  }
  static constexpr auto projected = WireForm::projected;
  const ObjectKey a{"default", "a"};
  Client client;
  Cache cache;
};

TEST_F(KeptPartsConcurrency, AProjectionServesItsStruct) {
  const Informer& informer = cache.informer<Placement>({.form = projected});
  start();
  EXPECT_EQ(cache.find<Placement>(a)->spec.node_name, "node-1");
  EXPECT_THAT(cache.list<Placement>(), SizeIs(2));
  EXPECT_EQ(cache.live_reads(), 0u);
  EXPECT_THAT(std::string(informer.store().find("default", "a").raw()), Not(HasSubstr("containers")));
  EXPECT_EQ(cache.health().at(0).form, projected);
  EXPECT_EQ(cache.contains(Pod::resource, a), true);
  EXPECT_EQ(cache.contains(Pod::resource, {"default", "c"}), false);
}

TEST_F(KeptPartsConcurrency, WhoNeedsMoreReadsFromTheServer) {
  cache.informer<Placement>({.form = projected});
  start();
  EXPECT_EQ(cache.find<Images>(a)->spec.containers.at(0).image, "registry.example.com/app:1");
  EXPECT_EQ(cache.find<Pod>(a)->spec.containers.at(0).args.at(0), "--verbose");
  EXPECT_EQ(cache.find_wire(Pod::resource, a), std::nullopt);
  EXPECT_EQ(cache.live_reads(), 3u);
  cache.index<Images>("image", [](const Images& images) { return images.spec.containers.at(0).image; });
  EXPECT_THROW(cache.list<Images>(by("image", "x")), NotCached);
}

TEST_F(KeptPartsConcurrency, DeclarationsBeforeTheStartShareOneInformer) {
  Informer& metadata = cache.informer<Pod>({.form = WireForm::metadata_only});
  EXPECT_EQ(&cache.informer<Placement>({.form = projected}), &metadata);
  EXPECT_EQ(&cache.informer<Images>({.form = projected}), &metadata);
  cache.index<Placement>(pods_of_node, [](const Placement& pod) { return pod.spec.node_name; });
  start();
  EXPECT_EQ(cache.find<Placement>(a)->spec.node_name, "node-1");
  EXPECT_EQ(cache.find<Images>(a)->spec.containers.at(0).name, "main");
  EXPECT_THAT(cache.list<Placement>(by(pods_of_node, "node-2")), SizeIs(1));
  EXPECT_EQ(cache.live_reads(), 0u);
  const Informer& whole = cache.informer<Pod>({});
  EXPECT_NE(&whole, &metadata) << "it runs already";
  await("the whole pods", [&] { return whole.synced(); });
  EXPECT_EQ(cache.find<Pod>(a)->spec.containers.at(0).args.at(0), "--verbose");
  EXPECT_EQ(cache.live_reads(), 0u);
}

TEST_F(KeptPartsConcurrency, AWholeDeclarationWidensAnEarlierOne) {
  Informer& metadata = cache.informer<Pod>({.form = WireForm::metadata_only});
  cache.index<Pod>(pods_of_node, [](const Pod& pod) { return pod.spec.node_name; });
  EXPECT_EQ(&cache.informer<Pod>({.form = WireForm::compressed}), &metadata);
  start();
  EXPECT_EQ(cache.find<Pod>(a)->spec.containers.at(0).args.at(0), "--verbose");
  EXPECT_THAT(cache.list<Pod>(by(pods_of_node, "node-1")), SizeIs(1));
  EXPECT_EQ(cache.live_reads(), 0u);
}

TEST_F(KeptPartsConcurrency, OwnWritesAreSeenAndListsLoseNothing) {
  cache.informer<Images>({.form = projected});
  start();
  const auto images = cache.find<Images>(a);
  client.patch(images, [](Images& pod) { pod.spec.containers[0].image = "registry.example.com/app:2"; });
  EXPECT_EQ(cache.find<Images>(a)->spec.containers.at(0).image, "registry.example.com/app:2");
  const auto pod = client.get<Pod>(a);
  EXPECT_EQ(pod->spec.containers.at(0).image, "registry.example.com/app:2");
  EXPECT_EQ(pod->spec.containers.at(0).args.at(0), "--verbose") << "the struct does not have it";
  EXPECT_EQ(pod->spec.node_name, "node-1");
  EXPECT_EQ(cache.live_reads(), 0u);
}

TEST_F(KeptPartsConcurrency, ATransformChangesWhatIsKeptAndNothingElse) {
  cache.transform<Pod>([](Json& object) {
    if (Json* metadata = object.find("metadata")) metadata->erase("annotations");
    object.erase("status");
  });
  EXPECT_EQ(error_of([&] { cache.transform<Pod>([](Json&) {}); }), "Pod: the kind has a transform already");
  cache.informer<Pod>();
  Pod noted = pod("noted", "node-3");
  noted.metadata.annotations = {{"note", "long"}};
  client.create(noted);
  start();
  const ObjectKey key{"default", "noted"};
  EXPECT_THAT(cache.find<Pod>(key)->metadata.annotations, IsEmpty());
  EXPECT_EQ(cache.find<Pod>(key)->spec.node_name, "node-3");
  client.patch(client.get<Pod>(key), [](Pod& pod) { pod.metadata.labels["app"] = "web"; });
  EXPECT_EQ(cache.find<Pod>(key)->metadata.labels.at("app"), "web") << "of an own write";
  EXPECT_THAT(cache.find<Pod>(key)->metadata.annotations, IsEmpty());
  EXPECT_EQ(client.get<Pod>(key)->metadata.annotations.at("note"), "long");
}

TEST_F(KeptPartsConcurrency, ATransformComesBeforeTheInformer) {
  cache.informer<Pod>();
  EXPECT_EQ(error_of([&] { cache.transform<Pod>([](Json&) {}); }),
            "Pod: transform() must come before the first informer");
}

TEST(KeptPartsOfAController, AreThoseOfTheTypeOfItsClause) {
  testing::Harness harness;
  std::vector<std::string> nodes;
  harness.add(controller_for<Placement>(
      [&](Context& context, const Placement& pod) {
        nodes.push_back(pod.spec.node_name);
        EXPECT_EQ(context.list<Placement>({.namespace_ = "default"}).size(), 1u);
      },
      {.form = WireForm::projected}));
  harness.client().create(pod("a", "node-1"));
  harness.settle();
  EXPECT_THAT(nodes, ::testing::Contains("node-1"));
  EXPECT_EQ(error_of([] {
              controller_for(ResourceId(Pod::resource), [](Context&, const DynamicObject&) {},
                             {.form = WireForm::projected});
            }),
            "controller_for<Pod>: form: a projection is that of a C++ type, and the kind has none");
}

}  // namespace
}  // namespace kept_parts_tests
}  // namespace evenkeel
