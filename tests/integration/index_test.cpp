// SPDX-License-Identifier: Apache-2.0
// Indexes and scopes of watches through a manager, against the embedded API server.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/testing/running_manager.hpp>

#include "../support/await.hpp"

namespace {

namespace ek = evenkeel;
using ek::tests::await;
using ::testing::HasSubstr;

std::optional<std::string> used_secret(const ek::ConfigMap& map) {
  const auto found = map.data.find("secret");
  return found == map.data.end() ? std::nullopt : std::optional(found->second);
}

class ManagerIndexConcurrency : public ::testing::Test {
 protected:
  void create_user(const std::string& namespace_, const std::string& name, const std::string& secret) {
    client_.create(
        ek::ConfigMap{.metadata = {.name = name, .namespace_ = namespace_}, .data = {{"secret", secret}}});
  }
  void create_secret(const std::string& namespace_, const std::string& name) {
    client_.create(
        ek::Secret{.metadata = {.name = name, .namespace_ = namespace_, .labels = {{"app", name}}}});
  }
  void note(const ek::Context& context, std::size_t users) {
    const std::lock_guard lock(mutex_);
    runs_.push_back(context.key().str() + ": " + std::to_string(users));
  }
  std::multiset<std::string> runs() {
    const std::lock_guard lock(mutex_);
    return {runs_.begin(), runs_.end()};
  }

  ek::Client client_{ek::Config{.server = "http://in-process"},
                     {.transport = std::make_shared<ek::apiserver::InProcessTransport>(
                          std::make_shared<ek::apiserver::SharedCore>())}};
  ek::Manager manager_{client_};
  std::mutex mutex_;
  std::vector<std::string> runs_;
};

TEST_F(ManagerIndexConcurrency, AChangedSecretReconcilesItsUsersWhoFindEachOther) {
  create_user("default", "a", "tls");
  create_user("default", "b", "tls");
  create_user("default", "c", "other");
  create_user("kube-system", "d", "tls");
  manager_.add(ek::controller_for<ek::ConfigMap>([this](ek::Context& context, const ek::ConfigMap& map) {
                 const auto secret = used_secret(map);
                 if (!secret) return;
                 note(context, context.list<ek::ConfigMap>(ek::by("secret", *secret)).size());
               })
                   .index("secret", used_secret)
                   .watches<ek::Secret>(ek::indexed("secret")));
  ek::testing::RunningManager running(manager_);
  const std::multiset<std::string> first = {"default/a: 3", "default/b: 3", "default/c: 1",
                                            "kube-system/d: 3"};
  await("the first runs", [&] { return runs() == first; });
  create_secret("default", "tls");
  auto second = first;
  second.insert({"default/a: 3", "default/b: 3"});
  await("the runs of the users of the secret", [&] { return runs() == second; });
  EXPECT_EQ(manager_.cache().live_reads(), 0u);
  running.stop();
  EXPECT_EQ(runs(), second);
}

// Metadata first, and whole objects once that watch runs, are two watches, as are two selections of a kind.
// Each has series of its own: a series that comes twice is refused.
TEST_F(ManagerIndexConcurrency, EachFormOfAKindHasItsSeries) {
  const auto to_itself = [](const ek::WireObject& object) { return object.key(); };
  manager_.add(ek::controller_for<ek::ConfigMap>([](ek::Context&, const ek::Request&) {
               }).watches<ek::Secret>(to_itself, {.form = ek::WireForm::metadata_only}));
  create_secret("default", "web");
  ek::testing::RunningManager running(manager_);
  running.wait_until_synced();
  const ek::Informer& whole = manager_.cache().informer<ek::Secret>();
  await("the whole secrets", [&] { return whole.synced(); });
  ek::PrometheusText text;
  manager_.collect(text);
  const std::string series = R"(evenkeel_informer_objects{group="",version="v1",resource="secrets",)"
                             R"(namespace="",selector="",form=)";
  EXPECT_THAT(text.str(), HasSubstr(series + R"("metadata"} 1)"));
  EXPECT_THAT(text.str(), HasSubstr(series + R"(""} 1)"));
  running.stop();
}

TEST_F(ManagerIndexConcurrency, EachSelectionOfAKindHasItsSeries) {
  const auto to_itself = [](const ek::WireObject& object) { return object.key(); };
  manager_.add(ek::controller_for<ek::ConfigMap>([](ek::Context&, const ek::Request&) {})
                   .watches<ek::Secret>(to_itself, {.label_selector = "app=web"})
                   .watches<ek::Secret>(to_itself, {.label_selector = "app=db"}));
  create_secret("default", "web");
  ek::testing::RunningManager running(manager_);
  running.wait_until_synced();
  ek::PrometheusText text;
  manager_.collect(text);
  const std::string scrape = text.str();
  EXPECT_THAT(scrape, HasSubstr(R"(evenkeel_informer_objects{group="",version="v1",resource="secrets",)"
                                R"(namespace="",selector="app=web",form=""} 1)"));
  EXPECT_THAT(scrape, HasSubstr(R"(evenkeel_informer_objects{group="",version="v1",resource="secrets",)"
                                R"(namespace="",selector="app=db",form=""} 0)"));
  EXPECT_THAT(scrape, HasSubstr("evenkeel_informer_index_failures_total"));
  running.stop();
}

}  // namespace
