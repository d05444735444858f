// SPDX-License-Identifier: Apache-2.0
// Connections of a cache that end at every byte of a list, a streaming list and a watch, on the wire: it gets
// the state of the server.
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>

#include "../support/await.hpp"
#include "cut_fixture.hpp"

namespace evenkeel::tests {
namespace {

using tests::await;

class CutCacheConcurrency : public CutFixture {
 protected:
  static InformerOptions options(bool streaming) {
    return {.namespace_ = "default",
            .reflector = {.backoff_base = std::chrono::milliseconds{1},
                          .short_watch = std::chrono::seconds{0},
                          .streaming_list = streaming}};
  }
  std::map<std::string, std::string> truth() const {
    std::map<std::string, std::string> out;
    const Json list =
        Json::parse(server_.core()->handle({.target = "/api/v1/namespaces/default/configmaps"}).body);
    for (std::size_t at = 0; at < list["items"].size(); ++at) {
      const Json& metadata = list["items"][at]["metadata"];
      out[metadata["name"].as_string()] = metadata["resourceVersion"].as_string();
    }
    return out;
  }
  static std::map<std::string, std::string> held(const Informer& informer) {
    std::map<std::string, std::string> out;
    for (const WireObject& object : informer.store().list())
      out[std::string(object.name())] = std::string(object.resource_version());
    return out;
  }
  /// Changes an object without the proxy.
  void change(const std::string& name, const std::string& value) {
    server_.core()->handle({.method = http::Method::patch,
                            .target = "/api/v1/namespaces/default/configmaps/" + name,
                            .headers = {{"Content-Type", "application/merge-patch+json"}},
                            .body = R"({"data":{"k":")" + value + R"("}})"});
  }
  void walk_first_state(bool streaming);
};

// One watch for all cuts: each event is cut at another byte, from its chunk's size to its end.
TEST_P(CutCacheConcurrency, AWatch) {
  client_->create(named("a"));
  Cache cache(*client_);
  Informer& informer = cache.informer<ConfigMap>(options(false));
  cache.start();
  const auto converge = [&](const std::string& when) {
    await(when, [&] { return held(informer) == truth(); });
  };
  await("the first state", [&] { return informer.synced(); });
  change("a", "100000");
  converge("an event");
  const std::size_t before = proxy_.passed();
  change("a", "100001");
  converge("an event");
  const std::size_t size = proxy_.passed() - before;
  for (std::size_t at = 0; at < size; at += step()) {
    const std::string when = "the event that is cut at byte " + std::to_string(at);
    proxy_.cut_after(at, GetParam().ending);
    change("a", std::to_string(200000 + at));
    converge(when);
    await(when + " and is cut", [&] { return !proxy_.cut_pending(); });
    change("a", std::to_string(300000 + at));
    converge("the event after " + when);
  }
}

// A new cache for each cut, from the first byte of its connection.
void CutCacheConcurrency::walk_first_state(bool streaming) {
  client_->create(named("a"));
  const auto sync = [&] {
    Cache cache(*client_);
    Informer& informer = cache.informer<ConfigMap>(options(streaming));
    cache.start();
    await("the first state", [&] { return informer.synced() && held(informer) == truth(); });
  };
  const std::size_t before = proxy_.passed();
  sync();
  const std::size_t size = proxy_.passed() - before;
  const std::size_t step = GetParam().tls ? 7 : CutFixture::step();
  for (std::size_t at = 0; at < size; at += step) {
    proxy_.cut_after(at, GetParam().ending);
    SCOPED_TRACE("at byte " + std::to_string(at));
    sync();
    proxy_.cancel_cut();
  }
}

TEST_P(CutCacheConcurrency, APagedList) {
  walk_first_state(false);
}

TEST_P(CutCacheConcurrency, AStreamingList) {
  walk_first_state(true);
}

TEST_P(CutCacheConcurrency, NothingButSingleBytes) {
  proxy_.trickle();
  EXPECT_EQ(outcome_of([&] { client_->create(named("a")); }), "no error");
  EXPECT_EQ(outcome_of([&] { client_->apply(named("a", "2"), {.force = true}); }), "no error");
  EXPECT_EQ(client_->list<ConfigMap>({.namespace_ = "default"}).items.size(), 1U);
  for (const bool streaming : {false, true}) {
    Cache cache(*client_);
    Informer& informer = cache.informer<ConfigMap>(options(streaming));
    cache.start();
    await("the first state", [&] { return informer.synced(); });
    change("a", streaming ? "4" : "3");
    await("an event", [&] { return held(informer) == truth(); });
  }
}

INSTANTIATE_TEST_SUITE_P(, CutCacheConcurrency, ::testing::ValuesIn(wires), name_of);

}  // namespace
}  // namespace evenkeel::tests
