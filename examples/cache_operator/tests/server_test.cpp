// SPDX-License-Identifier: Apache-2.0
// The complete operator with the embedded API server: manager, threads, sockets, and webhooks over TLS with
// certificates that the operator makes and injects itself.
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

#include "cache_fixture.hpp"
#include "console.hpp"
#include "conversion.hpp"

namespace cache_operator::tests {
namespace server_test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// An address that nothing uses now.
std::string free_address() {
  ek::http::Server server;
  const std::size_t site = server.add_site({.address = "127.0.0.1:0"});
  server.start();
  return "127.0.0.1:" + std::to_string(server.port(site));
}

/// The operator as main() makes it, with a server that calls its webhooks.
struct Cluster {
  Cluster() {
    const std::string address = free_address();
    manager.add(memcached_controller(settings, manager.metrics()));
    manager.add(memcached_webhook(settings));
    manager.add(memcached_conversion());
    add_console_section(manager);
    manager.serve_webhooks({.address = address,
                            .service = {.namespace_ = "default", .name = "cache-operator-webhook"},
                            .certificates = {.names = {"127.0.0.1"}, .check_period = 1s}});
    const ek::WebhookTarget target{.url = "https://" + address};
    for (const ek::Json& object : manager.crds(target)) server.install(object.dump());
    for (const ek::Json& object : manager.webhook_configurations(target)) server.install(object.dump());
    running.emplace(manager);
    running->wait_until_synced();
    // Into both configurations; before, the server does not trust the webhooks and refuses writes.
    log->wait_for("injected the authorities of the webhooks", 2);
  }

  Settings settings = {};
  ek::apiserver::ApiServer server{{.webhooks = ek::apiserver::make_http_webhook_caller()}};
  ek::Client client{server.config()};
  std::shared_ptr<ek::testing::LogRecorder> log = std::make_shared<ek::testing::LogRecorder>();
  ek::Manager manager{ek::Client(server.config()), {.name = "cache-operator", .log = ek::Log(log)}};
  std::optional<ek::testing::RunningManager> running = {};
};

TEST(CacheOperatorConcurrency, RunsOnAServer) {
  Cluster cluster;
  cluster.client.create(users("ada:engine"));
  cluster.client.create(memcached({.replicas = 2, .auth = v1::Auth{.secret_name = sessions_users.name}}));
  EXPECT_EQ(cluster.client.get<v1::Memcached>(sessions)->spec.image, "memcached:1.6.39");
  try {
    cluster.client.patch(cluster.client.get<v1::Memcached>(sessions), [](v1::Memcached& one) {
      one.spec.memory = ek::Quantity(mebibyte, ek::Quantity::Format::binary);
    });
    FAIL() << "the webhook refuses it";
  } catch (const ek::ApiError& error) {
    EXPECT_THAT(error.message(), HasSubstr("spec.memory: Invalid value: must be at least 8Mi"));
  }

  const auto set = ek::testing::wait_for<ek::StatefulSet>(cluster.client, sessions,
                                                          ek::Json::parse(R"({"spec": {"replicas": 2}})"));
  // Servers that are ready before the operator has reported their rollout have none to complete.
  ek::testing::wait_for<v1::Memcached>(
      cluster.client, sessions, "to be progressing",
      [](const v1::Memcached& one) { return ek::is_condition_true(one.status.conditions, "Progressing"); });
  cluster.client.patch_status(set, [&](ek::apps_v1::StatefulSetStatus& status) {
    status = {.observed_generation = set->metadata.generation,
              .ready_replicas = 2,
              .replicas = 2,
              .updated_replicas = 2};
  });
  ek::testing::wait_for<v1::Memcached>(
      cluster.client, sessions, "to be available",
      [](const v1::Memcached& one) { return ek::is_condition_true(one.status.conditions, "Available"); });
  ek::testing::wait_for_event(cluster.client, {.reason = "RolloutCompleted", .name = sessions.name});
  cluster.running->stop();
}

}  // namespace server_test
}  // namespace cache_operator::tests
