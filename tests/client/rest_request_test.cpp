// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
namespace {

const ResourceId pods{"", "v1", "Pod", "pods"};
const ResourceId nodes{"", "v1", "Node", "nodes", Scope::cluster};
const ResourceId deployments{"apps", "v1", "Deployment", "deployments"};

TEST(RestRequest, MayHaveAPathOfItsOwn) {
  const RestRequest request{.query = {{"timeout", "5s"}}, .path = "/readyz"};
  EXPECT_EQ(target_of(request), "/readyz?timeout=5s");
  EXPECT_EQ(describe(request), "GET /readyz");
}

TEST(RestRequest, TargetsOfObjectsAndCollections) {
  EXPECT_EQ(target_of({.resource = pods}), "/api/v1/pods");
  EXPECT_EQ(target_of({.resource = pods, .namespace_ = "a"}), "/api/v1/namespaces/a/pods");
  EXPECT_EQ(target_of({.resource = pods, .namespace_ = "a", .name = "b"}), "/api/v1/namespaces/a/pods/b");
  EXPECT_EQ(target_of({.resource = nodes, .namespace_ = "ignored", .name = "n"}), "/api/v1/nodes/n");
  EXPECT_EQ(target_of({.resource = deployments, .namespace_ = "a", .name = "b", .subresource = "scale"}),
            "/apis/apps/v1/namespaces/a/deployments/b/scale");
}

TEST(RestRequest, QueriesArePercentEncoded) {
  EXPECT_EQ(target_of({.resource = pods, .query = {{"labelSelector", "a=b,c in (d, e)"}, {"limit", "5"}}}),
            "/api/v1/pods?labelSelector=a%3Db%2Cc%20in%20%28d%2C%20e%29&limit=5");
}

TEST(RestRequest, LongNamesAreKeptWhole) {
  const std::string name(253, 'n');
  EXPECT_EQ(target_of({.resource = pods, .namespace_ = std::string(63, 's'), .name = name}),
            "/api/v1/namespaces/" + std::string(63, 's') + "/pods/" + name);
}

TEST(RestRequest, RefusesInvalidPathSegments) {
  for (const char* bad : {".", "..", "a/b", "a%2fb"}) {
    EXPECT_THROW(target_of({.resource = pods, .namespace_ = "a", .name = bad}), std::invalid_argument) << bad;
    EXPECT_THROW(target_of({.resource = pods, .namespace_ = bad, .name = "a"}), std::invalid_argument) << bad;
  }
  EXPECT_THROW(target_of({.resource = pods, .namespace_ = "a", .subresource = "status"}),
               std::invalid_argument);
  EXPECT_THROW(target_of({.resource = {"", "v1", "Pod", ""}}), std::invalid_argument);
  EXPECT_THROW(target_of({.resource = {"", "", "Pod", "pods"}}), std::invalid_argument);
}

TEST(RestRequest, RefusesControlCharactersInNames) {
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      return target_of({.resource = pods, .namespace_ = "a", .name = name});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("x\nget - secrets * *"), R"(name "x\nget - secrets * *" cannot be part of a path)");
  EXPECT_EQ(refusal("\x1b[31mred"), R"(name "\x1b[31mred" cannot be part of a path)");
  EXPECT_EQ(refusal(std::string("a\0b", 3)), R"(name "a\x00b" cannot be part of a path)");
  EXPECT_EQ(refusal("a\x7f"), R"(name "a\x7f" cannot be part of a path)");
  EXPECT_EQ(refusal("\u009b31m"), R"(name "\u009b31m" cannot be part of a path)");
  EXPECT_EQ(refusal("\xff"), R"(name "\xff" cannot be part of a path)");
  EXPECT_EQ(refusal("/" + std::string(1000, 'x')),
            "name \"/" + std::string(252, 'x') + "... (1001 bytes)\" cannot be part of a path");
  EXPECT_EQ(refusal("a b"), "/api/v1/namespaces/a/pods/a%20b") << "as a ClusterRole may be named";
  EXPECT_EQ(refusal("\u202e"), "/api/v1/namespaces/a/pods/%E2%80%AE") << "an object may have it";
}

TEST(RestRequest, HasAReadableDescription) {
  using http::Method;
  EXPECT_EQ(describe({.resource = pods, .namespace_ = "a", .name = "b"}), "get Pod a/b");
  EXPECT_EQ(describe({.resource = pods}), "list Pod");
  EXPECT_EQ(describe({.resource = pods, .namespace_ = "a"}), "list Pod in a");
  EXPECT_EQ(describe({.resource = pods, .query = {{"watch", "1"}}}), "watch Pod");
  EXPECT_EQ(describe({.method = Method::post, .resource = pods, .namespace_ = "a"}), "create Pod in a");
  EXPECT_EQ(describe({.method = Method::put, .resource = pods, .namespace_ = "a", .name = "b"}),
            "update Pod a/b");
  EXPECT_EQ(describe({.method = Method::patch,
                      .resource = pods,
                      .namespace_ = "a",
                      .name = "b",
                      .subresource = "status"}),
            "patch Pod/status a/b");
  EXPECT_EQ(describe({.method = Method::patch,
                      .resource = nodes,
                      .name = "b",
                      .content_type = "application/apply-patch+yaml"}),
            "apply Node b");
  EXPECT_EQ(describe({.method = Method::delete_, .resource = pods, .namespace_ = "a", .name = "b"}),
            "delete Pod a/b");
  EXPECT_EQ(describe({.method = Method::delete_, .resource = pods, .namespace_ = "a"}),
            "delete all Pod in a");
  EXPECT_EQ(object_path({.resource = pods, .namespace_ = "a", .name = "b"}), "pods/a/b");
}

}  // namespace
}  // namespace evenkeel
