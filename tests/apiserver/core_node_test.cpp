// SPDX-License-Identifier: Apache-2.0
// The part of a request for a Pod that is its node's, as the core names it.
#include <string>

#include <gtest/gtest.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver {
namespace core_node_test {

class CoreNode : public tests::CoreFixture {
 protected:
  CoreNode() {
    post("/api/v1/namespaces/default/pods",
         Json::parse(R"({"metadata":{"name":"web"},"spec":{"nodeName":"n",)"
                     R"("containers":[{"name":"main","image":"i"}]}})"));
    post("/api/v1/namespaces/default/pods",
         Json::parse(
             R"({"metadata":{"name":"pending"},"spec":{"containers":[{"name":"main","image":"i"}]}})"));
  }
  Answer ask(const std::string& path) {
    return core.handle({.target = "/api/v1/namespaces/default/pods/" + path}, now, {}, {});
  }
};

TEST_F(CoreNode, AnAnswerWithoutANodeNamesWhatANodeWouldDo) {
  for (const std::string name : {"exec", "attach", "log", "portforward"}) {
    const Answer answer = ask("web/" + name);
    EXPECT_EQ(answer.response.status, 501) << name;
    ASSERT_TRUE(answer.node) << name;
    EXPECT_EQ(answer.node->name, name);
    EXPECT_EQ(answer.node->pod, (ObjectKey{"default", "web"}));
    EXPECT_EQ(answer.node->container, name == "portforward" ? "" : "main");
  }
  EXPECT_FALSE(ask("web/proxy").node);
}

TEST_F(CoreNode, APodWithoutANodeIsRefusedAsByARealServer) {
  const Answer exec = ask("pending/exec");
  EXPECT_EQ(exec.response.status, 400);
  EXPECT_EQ(Json::parse(exec.response.body)["message"], Json("pod pending does not have a host assigned"));
  EXPECT_FALSE(exec.node);
  EXPECT_EQ(ask("pending/log").response.status, 204);
  EXPECT_EQ(ask("absent/exec").response.status, 404);
}

}  // namespace core_node_test
}  // namespace evenkeel::apiserver
