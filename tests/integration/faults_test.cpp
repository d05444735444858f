// SPDX-License-Identifier: Apache-2.0
// Injected failures between client and server, and the reaction of client and cache: nothing is lost, and
// errors report the cause. Through sockets; silent streams time out soon.
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../support/await.hpp"

namespace {

namespace ek = evenkeel;
using ek::ConfigMap;
using ek::tests::await;
using ::testing::HasSubstr;

std::shared_ptr<ek::http::Transport> impatient_transport(const ek::Config& config) {
  return ek::http::make_curl_transport(
      {.server = config.server, .proxy = "", .idle_timeout = std::chrono::milliseconds{200}});
}

class Faults : public ::testing::Test {
 protected:
  ConfigMap named(const std::string& name, const std::string& value = "1") const {
    return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"k", value}}};
  }
  void inject(const std::string& rule) { fault_ = server_.inject(ek::apiserver::parse_fault_rule(rule)); }
  std::uint64_t fired() const { return server_.fault_counts(fault_).fired; }

  ek::apiserver::ApiServer server_;
  ek::Client client_{server_.config(),
                     {.transport = impatient_transport(server_.config()),
                      .retry = {.first_delay = std::chrono::milliseconds{1}}}};
  ek::apiserver::FaultId fault_ = 0;
};

// ---- The cache ----

class CacheFaultsConcurrency : public Faults,
                               public ::testing::WithParamInterface<std::tuple<std::string, bool>> {
 protected:
  static ek::InformerOptions impatient(bool streaming) {
    return {.namespace_ = "default",
            .reflector = {.backoff_base = std::chrono::milliseconds{1},
                          .short_watch = std::chrono::seconds{0},
                          .streaming_list = streaming,
                          .streaming_deadline = std::chrono::milliseconds{300}}};
  }
  /// Returns versions by name, as on the server.
  std::map<std::string, std::string> truth() const {
    std::map<std::string, std::string> out;
    const ek::Json list =
        ek::Json::parse(server_.core()->handle({.target = "/api/v1/namespaces/default/configmaps"}).body);
    for (std::size_t at = 0; at < list["items"].size(); ++at) {
      const ek::Json& metadata = list["items"][at]["metadata"];
      out[metadata["name"].as_string()] = metadata["resourceVersion"].as_string();
    }
    return out;
  }
  static std::map<std::string, std::string> held(const ek::Informer& informer) {
    std::map<std::string, std::string> out;
    for (const ek::WireObject& object : informer.store().list())
      out[std::string(object.name())] = std::string(object.resource_version());
    return out;
  }
  /// Makes creations, changes and deletions.
  void write() {
    for (int at = 0; at < 12; ++at) {
      const std::string name = "new-" + std::to_string(at);
      const auto created = client_.create(named(name));
      if (at % 3 == 0) client_.patch(created, [](ConfigMap& map) { map.data["k"] = "2"; });
      if (at % 3 == 1) client_.remove<ConfigMap>({"default", name});
    }
    client_.remove<ConfigMap>({"default", "old-3"});
  }
};

TEST_P(CacheFaultsConcurrency, LosesNothing) {
  const auto& [rule, streaming] = GetParam();
  for (int at = 0; at < 5; ++at) client_.create(named("old-" + std::to_string(at)));
  inject("resource=configmaps,count=2," + rule);
  ek::Cache cache(client_);
  ek::Informer& informer = cache.informer<ConfigMap>(impatient(streaming));
  cache.start();
  await("the first state", [&] { return informer.synced(); });
  write();
  await("the fault", [&] { return fired() >= 1; });
  server_.clear_faults();
  await("the last state", [&] { return held(informer) == truth(); });
  EXPECT_EQ(held(informer).size(), 12u);
}

INSTANTIATE_TEST_SUITE_P(
    , CacheFaultsConcurrency,
    ::testing::Combine(
        ::testing::Values(
            "verb=watch,status=500", "verb=watch,status=410", "verb=watch,status=410,cut-after-events=1",
            "verb=watch,status=500,cut-after-events=2", "verb=watch,drop=before,ending=reset",
            "verb=watch,drop=before,ending=silence", "verb=watch,cut-after=700,cut-spread=300",
            "verb=watch,cut-after=700,ending=reset", "verb=watch,cut-after=700,ending=silence",
            "verb=watch,cut-after=700,ending=complete", "verb=watch,cut-after-events=1,ending=close",
            "verb=watch,cut-after-events=1,ending=complete", "verb=watch,cut-after-events=1,ending=silence",
            "verb=watch,cut-after-time=20ms,ending=complete", "verb=watch,body=garbage",
            "verb=watch,body=garbage,cut-after-events=1", "verb=watch,body=html", "verb=watch,body=no-object",
            "verb=watch,body=no-object,cut-after-events=1", "verb=watch,bookmarks=initial",
            "verb=watch,bookmarks=none", "verb=watch,event-delay=30ms", "verb=watch,lag=30ms",
            "verb=watch,lag-versions=3"),
        ::testing::Bool()));

class CacheListFaultsConcurrency : public CacheFaultsConcurrency {};
TEST_P(CacheListFaultsConcurrency, LosesNothing) {
  const auto& [rule, streaming] = GetParam();
  ASSERT_FALSE(streaming);
  for (int at = 0; at < 5; ++at) client_.create(named("old-" + std::to_string(at)));
  inject("verb=list,resource=configmaps,count=2," + rule);
  ek::Cache cache(client_);
  ek::Informer& informer = cache.informer<ConfigMap>(impatient(streaming));
  cache.start();
  await("the first state", [&] { return informer.synced(); });
  EXPECT_GE(fired(), 1u);
  write();
  await("the last state", [&] { return held(informer) == truth(); });
}

INSTANTIATE_TEST_SUITE_P(
    , CacheListFaultsConcurrency,
    ::testing::Combine(::testing::Values("status=500", "status=429,retry-after=0", "status=410",
                                         "drop=before", "drop=after,ending=reset", "cut-after=200",
                                         "cut-after=200,ending=reset", "cut-after=200,ending=complete",
                                         "body=garbage", "body=html"),
                       ::testing::Values(false)));

// ---- The client ----

class ClientFaultsConcurrency : public Faults {
 protected:
  /// Returns the text of the error.
  template <class Action>
  std::string failure(const Action& action) {
    try {
      action();
    } catch (const ek::Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(ClientFaultsConcurrency, ReadsGetThroughWhatPasses) {
  client_.create(named("a"));
  for (const char* rule :
       {"status=500", "status=503,retry-after=0", "status=429,retry-after=0", "drop=before",
        "drop=after,ending=reset", "cut-after=50", "cut-after=50,ending=reset"}) {
    inject(std::string("verb=get,count=1,") + rule);
    EXPECT_TRUE(client_.find<ConfigMap>({"default", "a"})) << rule;
    EXPECT_EQ(fired(), 1u) << rule;
  }
}

TEST_F(ClientFaultsConcurrency, InvalidResponsesAreNamed) {
  client_.create(named("a"));
  const auto read = [&] { client_.find<ConfigMap>({"default", "a"}); };
  for (const char* rule : {"body=garbage", "body=html", "cut-after=50,ending=complete"}) {
    inject(std::string("verb=get,count=1,") + rule);
    const std::string said = failure(read);
    EXPECT_THAT(said, HasSubstr("default/a")) << rule;
    EXPECT_EQ(fired(), 1u) << rule;
  }
}

TEST_F(ClientFaultsConcurrency, AWriteWhoseAnswerIsLostIsNotSentTwice) {
  inject("verb=create,count=1,drop=after,ending=reset");
  EXPECT_THAT(failure([&] { client_.create(named("a")); }), HasSubstr("configmaps"));
  EXPECT_EQ(client_.find<ConfigMap>({"default", "a"})->data.at("k"), "1") << "it had its effect";
  EXPECT_EQ(server_.fault_counts(fault_).matched, 1u);
}

TEST_F(ClientFaultsConcurrency, ASilentServerIsGivenUpAtTheDeadline) {
  inject("verb=get,drop=before,ending=silence");
  const ek::Client impatient = client_.with({.timeout = std::chrono::milliseconds{50}});
  EXPECT_THAT(failure([&] {
                impatient.find<ConfigMap>({"default", "a"});
              }),
              HasSubstr("configmaps/a: no answer before the deadline"));
  EXPECT_GE(fired(), 1u);
}

TEST_F(ClientFaultsConcurrency, AConsistentReadSeesWhatALaggingCacheDoesNot) {
  inject("lag=1h");
  client_.create(named("a"));
  EXPECT_TRUE(client_.find<ConfigMap>({"default", "a"}));
  EXPECT_EQ(client_.list<ConfigMap>({.namespace_ = "default"}).items.size(), 1u);
  EXPECT_EQ(fired(), 0u);
}

}  // namespace
