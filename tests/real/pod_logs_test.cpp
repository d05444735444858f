// SPDX-License-Identifier: Apache-2.0
// Logs through a real API server, which fetches them from a kubelet: here a server that answers like one.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/pod_logs.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>

#include "../http/certificates.hpp"
#include "../http/scripted_server.hpp"
#include "../support/await.hpp"
#include "real_environment.hpp"

namespace {

namespace ek = evenkeel;
using ek::tests::await;
using ek::tests::Connection;
using ek::tests::environment;
using ek::tests::error_code;
using ::testing::HasSubstr;

/// A node with one kubelet, whose containers log two lines, and a third one after write_third_line().
class Kubelet {
 public:
  explicit Kubelet(const std::string& node) {
    ek::DynamicObject object(nodes(), "", node);
    const ek::Client client(environment().config());
    client.resource(nodes()).create(object);
    object["status"]["addresses"] = ek::Json::parse(R"([{"type":"InternalIP","address":"127.0.0.1"}])");
    object["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] = server_.port();
    client.resource(nodes()).update(object, "status");
  }

  void write_third_line() {
    const std::scoped_lock lock(mutex_);
    third_ = true;
    changed_.notify_all();
  }
  std::string last_target() {
    const std::scoped_lock lock(mutex_);
    return target_;
  }

  static ek::ResourceId nodes() { return {"", "v1", "Node", "nodes", ek::Scope::cluster}; }

 private:
  void serve(Connection& connection) {
    while (const auto request = connection.read_request()) {
      {
        const std::scoped_lock lock(mutex_);
        target_ = request->target;
      }
      connection.start_chunked(200, "Content-Type: text/plain\r\n");
      connection.chunk("one\n");
      connection.chunk("two\n");
      if (request->target.find("follow=true") != std::string::npos) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return third_; });
        connection.chunk("three\n");
      }
      connection.chunk("");
    }
  }

  const ek::tests::Pem certificate_ = ek::tests::Authority("kubelets").issue_server("IP:127.0.0.1");
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string target_;
  bool third_ = false;
  ek::tests::ScriptedServer server_{[this](Connection& connection) { serve(connection); },
                                    {.cert = certificate_.cert, .key = certificate_.key}};
};

TEST(RealPodLogs, AreReadAndFollowed) {
  const ek::Client client(environment().config());
  const std::string namespace_ = ek::tests::fresh_namespace(client);
  Kubelet kubelet("node-" + namespace_);
  const ek::ResourceId pods{"", "v1", "Pod", "pods"};
  ek::DynamicObject pod(pods, namespace_, "web");
  pod["spec"]["containers"] = ek::Json::parse(R"([{"name":"main","image":"none"}])");
  pod["spec"]["automountServiceAccountToken"] = false;
  pod["spec"]["serviceAccountName"] = "default";
  await("the namespace's service account", [&] {
    try {
      client.resource(pods).create(pod);
      return true;
    } catch (const ek::ApiError& error) {
      if (!error.is_forbidden()) throw;
      return false;
    }
  });
  EXPECT_EQ(error_code([&] { ek::PodLogReader(client, {namespace_, "absent"}).next(); }), 404);
  client.run(ek::calls::bind({namespace_, "web"}, "node-" + namespace_));

  EXPECT_EQ(client.run(ek::calls::read_pod_logs({namespace_, "web"}, {.tail_lines = 2})), "one\ntwo\n");
  EXPECT_THAT(kubelet.last_target(), HasSubstr("/containerLogs/" + namespace_ + "/web/main?tailLines=2"));
  EXPECT_EQ(error_code([&] {
              ek::PodLogReader(client, {namespace_, "web"}, {.container = "other"}).next();
            }),
            400);

  ek::PodLogReader reader(client, {namespace_, "web"}, {.container = "main", .follow = true});
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "two");
  kubelet.write_third_line();
  EXPECT_EQ(reader.next(), "three");
  EXPECT_EQ(reader.next(), std::nullopt);
}

}  // namespace
