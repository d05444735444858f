// SPDX-License-Identifier: Apache-2.0
// Request bodies of typed Go clients: a protobuf envelope around a message of a built-in kind.
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}
std::string bytes(std::uint64_t number, const std::string& value) {
  return varint(number << 3 | 2) + varint(value.size()) + value;
}
std::string integer(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}
std::string envelope(const std::string& api_version, const std::string& kind, const std::string& message) {
  return std::string("k8s\0", 4) + bytes(1, bytes(1, api_version) + bytes(2, kind)) + bytes(2, message);
}

class ApiServerCoreProtobuf : public CoreFixture {
 protected:
  CoreReply send_message(const std::string& target, const std::string& body,
                         http::Method method = http::Method::post) {
    return send(method, target, body, "application/vnd.kubernetes.protobuf");
  }
};

TEST_F(ApiServerCoreProtobuf, MapsOfStringsAndBytes) {
  const std::string metadata = bytes(1, "a") + bytes(2, "") + integer(7, 0) + bytes(8, "") +
                               bytes(11, bytes(1, "tier") + bytes(2, "web"));
  const CoreReply made =
      send_message(maps, envelope("v1", "ConfigMap",
                                  bytes(1, metadata) + bytes(2, bytes(1, "k") + bytes(2, "v")) +
                                      bytes(3, bytes(1, "b") + bytes(2, "\x01\xff"))));
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"data", "k"}), Json("v"));
  EXPECT_EQ(made.body.at({"binaryData", "b"}), Json("Af8="));
  EXPECT_EQ(made.body.at({"metadata", "labels", "tier"}), Json("web"));
  EXPECT_EQ(made.headers.find("Warning"), nullptr);
}

TEST_F(ApiServerCoreProtobuf, NestedMessagesAndWhatStandsInline) {
  const std::string port = bytes(1, "") + integer(2, 0) + integer(3, 8080) + bytes(4, "TCP") + bytes(5, "");
  const std::string probe =
      bytes(1, bytes(2, bytes(1, "/live") + bytes(2, integer(1, 1) + integer(2, 0) + bytes(3, "http"))));
  const std::string memory = bytes(1, "memory") + bytes(2, bytes(1, "64Mi"));
  const std::string container =
      bytes(1, "c") + bytes(2, "i") + bytes(6, port) + bytes(8, bytes(2, memory)) + bytes(10, probe);
  const std::string volume = bytes(1, "v") + bytes(2, bytes(2, ""));
  const CoreReply made = send_message(
      "/api/v1/namespaces/default/pods",
      envelope("v1", "Pod",
               bytes(1, bytes(1, "p")) + bytes(2, bytes(1, volume) + bytes(2, container)) + bytes(3, "")));
  ASSERT_EQ(made.status, 201) << made.text;
  const Json& made_container = made.body.at({"spec", "containers"})[std::size_t{0}];
  EXPECT_EQ(made_container["ports"], Json::parse(R"([{"containerPort":8080,"protocol":"TCP"}])"));
  EXPECT_EQ(made_container.at({"livenessProbe", "httpGet", "port"}), Json("http"));
  EXPECT_EQ(made_container.at({"resources", "requests", "memory"}), Json("64Mi"));
  EXPECT_TRUE(made.body.at({"spec", "volumes"})[std::size_t{0}].contains("emptyDir")) << made.text;
}

TEST_F(ApiServerCoreProtobuf, ZeroThatIsMeantIsKept) {
  const std::string labels = bytes(1, bytes(1, "a") + bytes(2, "b"));
  const std::string pod_template =
      bytes(1, bytes(11, bytes(1, "a") + bytes(2, "b"))) + bytes(2, bytes(2, bytes(1, "c") + bytes(2, "i")));
  const CoreReply made = send_message(
      "/apis/apps/v1/namespaces/default/deployments",
      envelope("apps/v1", "Deployment",
               bytes(1, bytes(1, "d")) +
                   bytes(2, integer(1, 0) + bytes(2, labels) + bytes(3, pod_template) + integer(5, 0))));
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"spec", "replicas"}), Json(0));
  EXPECT_TRUE(made.body.at({"spec", "minReadySeconds"}).is_null());
}

TEST_F(ApiServerCoreProtobuf, MicroTimesKeepSixDigits) {
  const CoreReply made = send_message(
      "/apis/coordination.k8s.io/v1/namespaces/default/leases",
      envelope("coordination.k8s.io/v1", "Lease",
               bytes(1, bytes(1, "l")) + bytes(2, bytes(4, integer(1, 1770000000) + integer(2, 6000)))));
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"spec", "renewTime"}), Json("2026-02-02T02:40:00.000006Z"));
}

TEST_F(ApiServerCoreProtobuf, DeleteOptions) {
  post(maps, config_map("a"));
  const std::string wrong = envelope("v1", "DeleteOptions", bytes(2, bytes(1, "other")));
  EXPECT_EQ(send_message(maps + "/a", wrong, http::Method::delete_).status, 409);
  EXPECT_EQ(send_message(maps + "/a", envelope("v1", "DeleteOptions", ""), http::Method::delete_).status,
            200);
}

// Regression: the message was looked for in the group of service accounts.
TEST_F(ApiServerCoreProtobuf, ATokenIsIssuedAsKubectlAsksForIt) {
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  ASSERT_EQ(post(accounts, Json::parse(R"({"metadata":{"name":"op"}})")).status, 201);
  const std::string spec = bytes(1, "vault") + integer(4, 900);
  const CoreReply made = send_message(
      accounts + "/op/token",
      envelope("authentication.k8s.io/v1", "TokenRequest", bytes(1, bytes(1, "")) + bytes(2, spec)));
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"spec", "audiences"}), Json::parse(R"(["vault"])"));
  EXPECT_EQ(made.body.at({"spec", "expirationSeconds"}), Json(900));
}

TEST_F(ApiServerCoreProtobuf, BrokenMessagesAreRefused) {
  EXPECT_EQ(send_message(maps, "nonsense").status, 400);
  const std::string whole = envelope("v1", "ConfigMap", bytes(1, bytes(1, "a")));
  for (std::size_t size = 4; size < whole.size(); ++size)
    EXPECT_GE(send_message(maps, whole.substr(0, size)).status, 400) << size;
  EXPECT_EQ(send_message(maps, whole).status, 201);
}

TEST_F(ApiServerCoreProtobuf, CustomResourcesAreNotSentThisWay) {
  install_ships();
  EXPECT_EQ(send_message(ships, envelope("example.com/v1", "Ship", "")).status, 415);
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
