// SPDX-License-Identifier: Apache-2.0
// Caches that resume from copies on disk, with a real API server.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>

#include "../support/temporary_directory.hpp"
#include "real_environment.hpp"

namespace {

namespace ek = evenkeel;
namespace fs = std::filesystem;
using ek::ConfigMap;

using Values = std::map<std::string, std::string>;

/// Objects of a namespace as one life of a program has seen them.
struct Life {
  Values values = {};
  ek::ReflectorCounters counters = {};
};

Life live(const ek::Client& client, const std::string& namespace_, const fs::path& directory) {
  ek::Cache cache(client, {.disk = {.directory = directory.string()}});
  ek::Informer& informer = cache.informer<ConfigMap>({.namespace_ = namespace_});
  cache.start();
  EXPECT_TRUE(cache.wait_for_sync({}));
  Life life{.counters = informer.health().counters};
  for (const auto& map : cache.list<ConfigMap>({.namespace_ = namespace_})) {
    if (map->metadata.name.starts_with("object-")) life.values[map->metadata.name] = map->data.at("v");
  }
  return life;
}

ConfigMap config_map(const std::string& namespace_, int number) {
  return {.metadata = {.name = "object-" + std::to_string(number), .namespace_ = namespace_},
          .data = {{"v", "1"}}};
}

TEST(RealDiskCopy, ARestartReadsWhatHasChanged) {
  const ek::Client client(ek::tests::environment().config());
  const std::string namespace_ = ek::tests::fresh_namespace(client);
  const ek::tests::TemporaryDirectory directory;
  for (int i = 0; i < 50; ++i) client.create(config_map(namespace_, i));
  const Life first = live(client, namespace_, directory.path);
  EXPECT_EQ(first.values.size(), 50U);
  EXPECT_EQ(first.counters.restores, 0U);

  client.patch(client.get<ConfigMap>({namespace_, "object-7"}), [](ConfigMap& map) { map.data["v"] = "2"; });
  client.remove<ConfigMap>(ek::ObjectKey{namespace_, "object-8"});
  client.create(config_map(namespace_, 50));
  Values expected = first.values;
  expected["object-7"] = "2";
  expected.erase("object-8");
  expected["object-50"] = "1";
  for (int restart = 0; restart < 2; ++restart) {
    const Life next = live(client, namespace_, directory.path);
    EXPECT_EQ(next.values, expected);
    EXPECT_EQ(next.counters.restores, 1U) << "restart " << restart;
    EXPECT_EQ(next.counters.streaming_lists, 0U);
  }
}

}  // namespace
