// SPDX-License-Identifier: Apache-2.0
// Accesses of requests, their record, and the rules that grant them.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/access.hpp>
#include <evenkeel/client/access_record.hpp>
#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/policy_rule.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
namespace access_tests {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string access(http::Method method, const std::string& target) {
  const auto found = access_of({.method = method, .target = target});
  return found ? found->str() : "none";
}

TEST(Access, IsThatOfTheRequestsPathAndMethod) {
  using http::Method;
  EXPECT_EQ(access(Method::get, "/api/v1/namespaces/default/pods/web"), "get pods default/web");
  EXPECT_EQ(access(Method::get, "/api/v1/pods?limit=500"), "list pods");
  EXPECT_EQ(access(Method::get, "/apis/apps/v1/deployments?watch=true"), "watch deployments.apps");
  EXPECT_EQ(access(Method::get, "/apis/apps/v1/deployments?watch=0"), "list deployments.apps");
  EXPECT_EQ(access(Method::post, "/api/v1/namespaces/default/configmaps"), "create configmaps default/");
  EXPECT_EQ(access(Method::put, "/apis/a.dev/v1/namespaces/n/demos/web/status"),
            "update demos.a.dev/status n/web");
  EXPECT_EQ(access(Method::patch, "/apis/a.dev/v1/clusters/one"), "patch clusters.a.dev one");
  EXPECT_EQ(access(Method::delete_, "/api/v1/namespaces/n/secrets/s"), "delete secrets n/s");
  EXPECT_EQ(access(Method::delete_, "/api/v1/namespaces/n/secrets"), "deletecollection secrets n/");
  EXPECT_EQ(access(Method::get, "/api/v1/namespaces/a%20b/pods/c"), "get pods a b/c");
}

TEST(Access, OfANamespaceIsInThatNamespace) {
  EXPECT_EQ(access(http::Method::get, "/api/v1/namespaces/n"), "get namespaces n/n");
  EXPECT_EQ(access(http::Method::put, "/api/v1/namespaces/n/finalize"), "update namespaces/finalize n/n");
  EXPECT_EQ(access(http::Method::get, "/api/v1/namespaces"), "list namespaces");
}

TEST(Access, OfAListOfOneNameHasThatName) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/n/leases?";
  EXPECT_EQ(access(http::Method::get, leases + "watch=1&fieldSelector=metadata.name%3Dlock"),
            "watch leases.coordination.k8s.io n/lock");
  EXPECT_EQ(access(http::Method::get, leases + "fieldSelector=a%3Db%2Cmetadata.name%3D%3Dlock"),
            "list leases.coordination.k8s.io n/lock");
  EXPECT_EQ(access(http::Method::get, leases + "fieldSelector=metadata.namespace%3Dlock"),
            "list leases.coordination.k8s.io n/");
}

TEST(Access, IsNoneOfPathsThatAreNoResources) {
  for (const char* target : {"/", "/healthz", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version"})
    EXPECT_EQ(access(http::Method::get, target), "none") << target;
}

const std::vector<PolicyRule> rules = {
    {{"a.dev"}, {"demos"}, {"list", "get"}},     {{"a.dev"}, {"demos/status"}, {"patch"}},
    {{""}, {"configmaps"}, {"patch", "create"}}, {{""}, {"secrets"}, {"create", "patch"}},
    {{"a.dev"}, {"demos"}, {"get"}, {"one"}},    {{"a.dev"}, {"demos"}, {"patch"}, {"one"}},
    {{"a.dev"}, {"demos"}, {"patch"}, {"two"}}};

TEST(PolicyRule, GrantsWhatItSays) {
  const PolicyRule all{{"*"}, {"*"}, {"*"}};
  EXPECT_TRUE(all.grants({"get", "a.dev", "demos", "n", "x"}));
  EXPECT_TRUE(rules[0].grants({"get", "a.dev", "demos", "n", "x"}));
  EXPECT_FALSE(rules[0].grants({"get", "b.dev", "demos", "n", "x"}));
  EXPECT_FALSE(rules[0].grants({"get", "a.dev", "demos/status", "n", "x"}));
  EXPECT_FALSE(rules[0].grants({"patch", "a.dev", "demos", "n", "x"}));
  EXPECT_TRUE(rules[5].grants({"patch", "a.dev", "demos", "n", "one"}));
  EXPECT_FALSE(rules[5].grants({"patch", "a.dev", "demos", "n", "two"}));
  EXPECT_FALSE(rules[5].grants({"patch", "a.dev", "demos", "n", "*"}));
  EXPECT_TRUE((PolicyRule{{"a.dev"}, {"*/scale"}, {"get"}}.grants({"get", "a.dev", "demos/scale", "", "x"})));
}

TEST(PolicyRule, RulesAreMergedWithoutARightTwice) {
  EXPECT_THAT(merge_rules(rules),
              ElementsAre(PolicyRule{{""}, {"configmaps", "secrets"}, {"create", "patch"}},
                          PolicyRule{{"a.dev"}, {"demos"}, {"get", "list"}},
                          PolicyRule{{"a.dev"}, {"demos"}, {"patch"}, {"one", "two"}},
                          PolicyRule{{"a.dev"}, {"demos/status"}, {"patch"}}));
  EXPECT_EQ(merge_rules(merge_rules(rules)), merge_rules(rules));
}

TEST(PolicyRule, IsWrittenAsAMemberOfARole) {
  EXPECT_EQ(rules[5].json(),
            Json::parse(R"({"apiGroups": ["a.dev"], "resources": ["demos"], "verbs": ["patch"],
                                            "resourceNames": ["one"]})"));
  EXPECT_FALSE(rules[0].json().contains("resourceNames"));
}

TEST(PolicyRule, RightsAreComparedWithTheirUse) {
  const std::vector<PolicyRule> given = {{{""}, {"configmaps"}, {"get", "delete"}},
                                         {{""}, {"pods"}, {"get"}, {"one"}}};
  EXPECT_THAT(compare_rights(given, {{"get", "", "configmaps", "n", "x"},
                                     {"patch", "a.dev", "demos/status", "n", "web"},
                                     {"get", "", "pods", "n", "two"}}),
              ElementsAre("not granted: patch demos.a.dev/status n/web", "not granted: get pods n/two",
                          "not used: delete of configmaps", "not used: get of pods \"one\""));
  EXPECT_THAT(compare_rights(given, {{"get", "", "configmaps", "n", "x"},
                                     {"delete", "", "configmaps", "n", "x"},
                                     {"get", "", "pods", "", "one"}}),
              IsEmpty());
}

TEST(AccessRecord, IsReadAsItWasWritten) {
  AccessRecord record;
  EXPECT_TRUE(record.add({"patch", "a.dev", "demos/status", "n", "web"}));
  EXPECT_FALSE(record.add({"patch", "a.dev", "demos/status", "n", "web"}));
  record.add(Access{"list", "", "pods", "", ""});
  EXPECT_EQ(record.str(), "list - pods - -\npatch a.dev demos/status n web\n");
  EXPECT_EQ(AccessRecord::parse("# a comment\n\n" + record.str(), "f"), record);
}

// The names of a request are somebody else's text, such as the field of an object that names another.
TEST(AccessRecord, ANameIsNeverALine) {
  for (const std::string name : {"x\nget - secrets * *\nescalate rbac.authorization.k8s.io clusterroles * *",
                                 "a b", "-", "50%", "%20", "a\tb\r", "\u202e\u0085", "#a", "\x7f"}) {
    AccessRecord record;
    record.add(Access{"get", "", "configmaps", "n", name});
    record.add(Access{"get", name, name, name, "x"});
    const std::string text = record.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
    EXPECT_EQ(AccessRecord::parse(text, "f"), record) << text;
  }
  AccessRecord record;
  record.add(Access{"get", "", "clusterroles", "", "a b\n-\u00fc"});
  EXPECT_EQ(record.str(), "get - clusterroles - a%20b%0A-%C3%BC\n");
}

TEST(AccessRecord, IsBounded) {
  AccessRecord record;
  for (int object = 0; object < 1000; ++object)
    record.add(Access{"get", "", "pods", "n", "pod-" + std::to_string(object)});
  EXPECT_EQ(record.str(), "get - pods n *\n");
  EXPECT_FALSE(record.add({"get", "", "pods", "n", "another"}));
  for (int space = 0; space < 1000; ++space)
    record.add(Access{"get", "", "pods", "n-" + std::to_string(space), "pod"});
  EXPECT_EQ(record.str(), "get - pods * *\n");
  EXPECT_EQ(AccessRecord::parse(record.str(), "f"), record);
}

TEST(AccessRecord, NamesTheLineThatItCannotRead) {
  const auto problem = [](const char* text) -> std::string {
    try {
      AccessRecord::parse(text, "access.txt");
    } catch (const DecodeError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(problem("# one\nget - pods n\n"),
            "access.txt:2: expected VERB GROUP RESOURCE NAMESPACE NAME, found \"get - pods n\"");
  EXPECT_EQ(problem("get - pods n web more"),
            "access.txt:1: expected VERB GROUP RESOURCE NAMESPACE NAME, found \"get - pods n web more\"");
  EXPECT_EQ(problem(("get \x1b[2J" + std::string(100, 'x')).c_str()),
            "access.txt:1: expected VERB GROUP RESOURCE NAMESPACE NAME, found \"get \\x1b[2J" +
                std::string(52, 'x') + "... (108 bytes)\"");
}

TEST(AccessRecord, HasABoundedNumberOfKinds) {
  AccessRecord record;
  for (int kind = 0; kind < 2000; ++kind)
    record.add(Access{"get", "group-" + std::to_string(kind), "foos", "", ""});
  EXPECT_EQ(record.accesses().size(), 1000U);
  EXPECT_TRUE(record.add({"get", "group-0", "foos", "", "x"})) << "of a kind that it has";
}

TEST(Access, OfAPatchThatMadeAnObjectIncludesItsCreation) {
  const http::Request patch{.method = http::Method::patch, .target = "/api/v1/namespaces/n/configmaps/c"};
  EXPECT_THAT(accesses_of(patch, 200), ElementsAre(Access{"patch", "", "configmaps", "n", "c"}));
  EXPECT_THAT(accesses_of(patch, 201), ElementsAre(Access{"patch", "", "configmaps", "n", "c"},
                                                   Access{"create", "", "configmaps", "n", "c"}));
  EXPECT_THAT(accesses_of({.target = "/version"}, 200), IsEmpty());
}

TEST(Access, OfAStreamingListIncludesTheListOfOtherServers) {
  EXPECT_THAT(accesses_of({.target = "/api/v1/pods?watch=1&sendInitialEvents=true"}, 200),
              ElementsAre(Access{"watch", "", "pods", "", ""}, Access{"list", "", "pods", "", ""}));
  EXPECT_THAT(accesses_of({.target = "/api/v1/pods?watch=1"}, 200),
              ElementsAre(Access{"watch", "", "pods", "", ""}));
}

TEST(Access, OfAWebSocketIncludesItsCreation) {
  EXPECT_THAT(
      accesses_of({.target = "/api/v1/namespaces/n/pods/p/exec"}, 101),
      ElementsAre(Access{"get", "", "pods/exec", "n", "p"}, Access{"create", "", "pods/exec", "n", "p"}));
}

// Answers each request with one status.
class AnsweringTransport final : public http::Transport {
 public:
  explicit AnsweringTransport(int status) : status_(status) {}
  std::shared_ptr<http::Call> send(http::Request, http::Completion completion) override {
    completion(http::Response{.status = status_, .body = body});
    return nullptr;
  }
  std::shared_ptr<http::Call> stream(http::Request, std::shared_ptr<http::StreamHandler> handler) override {
    handler->on_end(nullptr);
    return nullptr;
  }
  http::Response fetch(http::Request, std::stop_token) override { return {.status = status_, .body = body}; }
  http::WebSocketAnswer open_web_socket(http::Request, std::vector<std::string>, std::stop_token) override {
    return {.response = {.status = status_}};
  }
  std::shared_ptr<http::WebSocketCall> start_web_socket(http::Request, std::vector<std::string>,
                                                        std::shared_ptr<http::WebSocketHandler>) override {
    ++web_sockets;
    return nullptr;
  }

  int web_sockets = 0;  // started ones
  const std::string body = R"({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}})";

 private:
  const int status_;
};

http::Request apply_request() {
  http::Request request{.method = http::Method::patch, .target = "/api/v1/namespaces/n/configmaps/c"};
  request.headers.set("Content-Type", "application/apply-patch+yaml");
  return request;
}

TEST(AccessRecorder, RecordsEachWayToSend) {
  const auto recorder = std::make_shared<AccessRecorder>();
  const auto transport = recording_transport(std::make_shared<AnsweringTransport>(200), recorder);
  class Handler final : public http::StreamHandler {
    void on_response(int, const http::Headers&) override {}
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override {}
  };
  transport->send({.target = "/api/v1/nodes/a"}, [](auto&&) {});
  transport->stream({.target = "/api/v1/pods?watch=1"}, std::make_shared<Handler>());
  transport->fetch({.target = "/version"});
  transport->fetch({.method = http::Method::delete_, .target = "/api/v1/nodes/b"});
  transport->open_web_socket({.target = "/api/v1/namespaces/n/pods/p/exec?command=ls"}, {});
  transport->fetch(apply_request());
  EXPECT_EQ(recorder->record().str(),
            "create - pods/exec n p\ndelete - nodes - b\nget - nodes - a\nget - pods/exec n p\n"
            "patch - configmaps n c\nwatch - pods - -\n");
  recorder->clear();
  EXPECT_TRUE(recorder->record().empty());
}

// "*" stands for various ones in a record: the author of a name must not widen what is granted.
TEST(AccessRecorder, LeavesOutWhatIsNoName) {
  AccessRecorder recorder;
  for (const std::string target :
       {"/api/v1/namespaces/n/configmaps/*", "/api/v1/namespaces/n/configmaps/%2A", "/apis/%2A/v1/foos",
        "/apis/a.dev/v1/%2A", "/api/v1/namespaces/%2A/configmaps/x",
        "/api/v1/configmaps?fieldSelector=metadata.name%3D%2A"})
    recorder.add({.target = target}, 200);
  recorder.add({.target = "/api/v1/namespaces/n/configmaps/" + std::string(254, 'x')}, 200);
  EXPECT_TRUE(recorder.record().empty()) << recorder.record().str();
  recorder.add({.target = "/api/v1/namespaces/n/configmaps/x%0Aget%20-%20secrets%20%2A%20%2A"}, 404);
  EXPECT_EQ(recorder.record().str(), "get - configmaps n x%0Aget%20-%20secrets%20*%20*\n");
}

TEST(AccessRecorder, RecordsAWebSocketThatIsStarted) {
  const auto recorder = std::make_shared<AccessRecorder>();
  const auto inner = std::make_shared<AnsweringTransport>(200);
  const auto transport = recording_transport(inner, recorder);
  transport->start_web_socket({.target = "/api/v1/namespaces/n/pods/p/attach"}, {}, nullptr);
  EXPECT_EQ(inner->web_sockets, 1);
  EXPECT_EQ(recorder->record().str(), "create - pods/attach n p\nget - pods/attach n p\n");
}

TEST(AccessRecorder, RecordsThatAnApplyCreated) {
  const auto recorder = std::make_shared<AccessRecorder>();
  const auto transport = recording_transport(std::make_shared<AnsweringTransport>(201), recorder);
  transport->fetch(apply_request());
  EXPECT_EQ(recorder->record().str(), "create - configmaps n c\npatch - configmaps n c\n");
  recorder->clear();
  bool completed = false;
  transport->send(apply_request(),
                  [&completed](const Outcome<http::Response>& outcome) { completed = outcome.ok(); });
  EXPECT_TRUE(completed);
  EXPECT_EQ(recorder->record().str(), "create - configmaps n c\npatch - configmaps n c\n");
}

TEST(AccessRecorder, RecordsTheRequestsOfAClient) {
  const auto recorder = std::make_shared<AccessRecorder>();
  const Client client({.server = "http://nowhere"},
                      {.transport = std::make_shared<AnsweringTransport>(200), .access_recorder = recorder});
  client.raw({.resource = {"a.dev", "v1", "Thing", "things"}, .namespace_ = "n", .name = "x"});
  EXPECT_EQ(recorder->record().str(), "get a.dev things n x\n");
}

}  // namespace access_tests
}  // namespace evenkeel
