// SPDX-License-Identifier: Apache-2.0
// The server test with a real etcd and kube-apiserver; only their addresses differ.
#include <memory>

#include <gtest/gtest.h>

#include <evenkeel/testing/environment.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

#include "demo.hpp"

TEST(DemoReal, RollsOutOnARealControlPlane) {
  const ek::testing::Environment server;
  const ek::Client client(server.config());
  ek::testing::create_objects(client, {Demo{.metadata = {.name = "web", .namespace_ = "default"},
                                            .spec = {.replicas = 2, .image = "web:1"}}});

  const auto log = std::make_shared<ek::testing::LogRecorder>();
  ek::Manager manager(ek::Client(server.config()), {.name = "demo-operator", .log = ek::Log(log)});
  manager.add(demo_controller());
  ek::testing::RunningManager running(manager);
  ek::testing::wait_for<Demo>(client, {"default", "web"},
                              ek::Json::parse(R"({"status": {"phase": "Ready"}})"));
  running.stop();
}
