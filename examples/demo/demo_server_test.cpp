// SPDX-License-Identifier: Apache-2.0
// A test of the complete demo operator: manager, threads and sockets, with the embedded API server.
#include <memory>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

#include "demo.hpp"

TEST(DemoConcurrency, RollsOutOnAServer) {
  const ek::apiserver::ApiServer server;
  const ek::Client client(server.config());
  const ek::ObjectKey web{"default", "web"};
  ek::testing::create_objects(client, {Demo{.metadata = {.name = "web", .namespace_ = "default"},
                                            .spec = {.replicas = 2, .image = "web:1"}}});

  const auto log = std::make_shared<ek::testing::LogRecorder>();
  ek::Manager manager(ek::Client(server.config()), {.name = "demo-operator", .log = ek::Log(log)});
  manager.add(demo_controller());
  ek::testing::RunningManager running(manager);
  running.wait_until_synced();

  // By expected content; the failure lists the differences.
  ek::testing::wait_for<Demo>(client, web,
                              ek::Json::parse(R"({"status": {"readyReplicas": 2, "phase": "Ready"}})"));
  // By a condition with a name.
  client.patch(client.get<Demo>(web), [](Demo& demo) { demo.spec.image = "web:2"; });
  ek::testing::wait_for<ek::ConfigMap>(client, web, "to have the new image", [](const ek::ConfigMap& config) {
    return config.data.at("image") == "web:2";
  });
  client.remove<Demo>(web);
  ek::testing::wait_until_gone<Demo>(client, web);
  log->wait_for("cleaning up");
  running.stop();  // throws errors of the manager
}
