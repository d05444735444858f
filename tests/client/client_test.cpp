// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/retry.hpp>

#include "fake_transport.hpp"
#include "widget.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::FakeTransport;
using tests::Gadget;
using tests::Widget;

constexpr const char* web =
    R"({"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"web","namespace":"default",)"
    R"("resourceVersion":"7","uid":"u-1","labels":{"app":"web"}},)"
    R"("spec":{"replicas":2,"secretKnob":true,"ports":[{"name":"http","port":80,"weight":5},{"name":"old","port":1}]},)"
    R"("status":{"readyReplicas":1,"extra":"kept"}})";

std::string status_body(int code, const std::string& reason, const std::string& name = "web") {
  Json body = Json::object(
      {{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", "server says " + reason}});
  if (!name.empty()) body["details"] = Json::object({{"name", name}, {"kind", "widgets"}});
  return body.dump();
}

/// Records warnings.
struct WarningSink final : LogSink {
  bool enabled(LogLevel) const noexcept override { return true; }
  void write(LogLevel level, std::string_view message, LogFields, LogFields fields) noexcept override {
    if (level != LogLevel::warn) return;
    std::string line(message);
    for (const LogField& field : fields) {
      line += " " + std::string(field.key) + "=" + std::string(std::get<std::string_view>(field.value.get()));
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

class ClientTest : public ::testing::Test {
 protected:
  Json sent_body() { return Json::parse(transport->last().body); }
  std::string sent() {
    return std::string(http::method_name(transport->last().method)) + " " + transport->last().target;
  }

  template <class Call>
  static std::string error_of(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    } catch (const std::invalid_argument& error) {
      return std::string("invalid: ") + error.what();
    }
    return "no error";
  }

  /// Runs `call` on a thread; each entry is how far to advance the time once it waits.
  template <class Call>
  void run_with_waits(Call call, std::initializer_list<Duration> waits) {
    std::thread thread(call);
    for (const Duration wait : waits) {
      clock->wait_for_waiters(1);
      clock->advance(wait);
    }
    thread.join();
  }

  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<WarningSink> sink = std::make_shared<WarningSink>();
  Client client{
      Config{.server = "https://h"},
      ClientOptions{.transport = transport, .clock = clock, .log = Log(sink), .field_owner = "tester"}};
  const ObjectKey key{"default", "web"};
};

using ClientReads = ClientTest;
using ClientWrites = ClientTest;
using ClientEdits = ClientTest;
using ClientRetries = ClientTest;
using ClientLists = ClientTest;
using ClientCompletions = ClientTest;

TEST_F(ClientReads, GetDecodesAndKeepsTheWireForm) {
  transport->reply(200, web);
  const Snapshot<Widget> widget = client.get<Widget>(key);
  EXPECT_EQ(sent(), "GET /apis/test.dev/v1/namespaces/default/widgets/web");
  EXPECT_EQ(*transport->last().headers.find("Accept"), "application/json");
  EXPECT_EQ(widget->spec.replicas, 2);
  EXPECT_EQ(widget->metadata.uid, "u-1");
  EXPECT_EQ(widget.raw(), web);
}

TEST_F(ClientReads, GetThrowsTheServersErrorFindIsEmpty) {
  transport->reply(404, status_body(404, "NotFound"));
  EXPECT_EQ(error_of([&] { client.get<Widget>(key); }),
            "get Widget default/web: 404 NotFound: server says NotFound");
  transport->reply(404, status_body(404, "NotFound"));
  EXPECT_FALSE(client.find<Widget>(key));
  transport->reply(200, web);
  EXPECT_TRUE(client.find<Widget>(key));
}

TEST_F(ClientReads, FindOfAKindThatIsNotServedIsAnError) {
  transport->reply(404, "404 page not found\n");
  EXPECT_EQ(error_of([&] { client.find<Widget>(key); }),
            "get Widget default/web: 404 NotFound: 404 page not found");
}

TEST_F(ClientReads, EveryRefusalIsAnApiErrorWithItsCode) {
  for (const int code : {400, 401, 403, 409, 410, 422}) {
    transport->reply(code, status_body(code, "Because"));
    try {
      client.find<Widget>(key);
      ADD_FAILURE() << code;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.reason(), "Because");
    }
  }
}

TEST_F(ClientReads, BadBodiesNameTheObject) {
  transport->reply(200, "<html>");
  EXPECT_THAT(error_of([&] { client.get<Widget>(key); }), HasSubstr("widgets/default/web"));
  transport->reply(200,
                   R"({"apiVersion":"test.dev/v1","kind":"Widget","metadata":{},"spec":{"replicas":"two"}})");
  EXPECT_THAT(error_of([&] { client.get<Widget>(key); }), HasSubstr("widgets/default/web: spec.replicas"));
}

TEST_F(ClientReads, KeysAreCheckedBeforeAnythingIsSent) {
  EXPECT_EQ(error_of([&] { client.get<Widget>({"default", ""}); }), "invalid: Widget: the key has no name");
  EXPECT_EQ(error_of([&] {
              client.get<Widget>({"", "web"});
            }),
            "invalid: Widget web: the kind is namespaced and the key has no namespace");
  EXPECT_TRUE(transport->requests().empty());
}

TEST_F(ClientReads, BreaksPassThrough) {
  transport->fail(TransportErrorCode::connect);
  try {
    client.get<Widget>(key);
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.code(), TransportErrorCode::connect);
  }
  EXPECT_EQ(transport->requests().size(), 1U) << "an unreachable server is said at once";
}

TEST_F(ClientReads, AStoppedTokenEndsACall) {
  transport->hang();
  std::stop_source stop;
  transport->on_request = [&](const http::Request&) { stop.request_stop(); };
  EXPECT_EQ(error_of([&] { client.with({.stop = stop.get_token()}).get<Widget>(key); }),
            "get Widget default/web: cancelled");
}

TEST_F(ClientReads, DeadlinesAreTheEarlierOfTheTwo) {
  const TimePoint start = clock->now();
  const auto deadline_of = [&](const CallOptions& options) {
    transport->reply(200, web);
    client.with(options).get<Widget>(key);
    return *transport->last().deadline - start;
  };
  EXPECT_EQ(deadline_of({}), 60s);
  EXPECT_EQ(deadline_of({.timeout = 5s}), 5s);
  EXPECT_EQ(deadline_of({.deadline = start + 9s}), 9s);
  EXPECT_EQ(deadline_of({.timeout = 5s, .deadline = start + 9s}), 5s);
}

TEST_F(ClientReads, BoundOptionsAddUp) {
  const Client bound = client.with({.timeout = 5s}).with({.field_owner = "other"}).with({.dry_run = true});
  EXPECT_EQ(bound.call_options().timeout, Duration(5s));
  transport->reply(201, web);
  bound.create(Widget{.metadata = {.name = "web", .namespace_ = "default"}});
  EXPECT_EQ(sent(), "POST /apis/test.dev/v1/namespaces/default/widgets?fieldManager=other&dryRun=All");
}

TEST_F(ClientReads, WarningsAreLoggedOncePerMessage) {
  const http::Headers headers{{"Warning", "299 - \"v1beta1 is \\\"old\\\"\""},
                              {"warning", "299 - \"second\""},
                              {"Warning", "199 - \"not ours\""}};
  for (int i = 0; i < 3; ++i) {
    transport->reply(200, web, headers);
    client.get<Widget>(key);
  }
  EXPECT_THAT(sink->lines,
              ElementsAre("the server warns call=get Widget default/web warning=v1beta1 is \"old\"",
                          "the server warns call=get Widget default/web warning=second"));
  transport->reply(200, R"({"metadata":{"resourceVersion":"1"},"items":[]})",
                   {{"Warning", "299 - \"third\""}});
  client.list<Widget>({.namespace_ = "default"});
  EXPECT_EQ(sink->lines.back(), "the server warns call=list Widget in default warning=third");
}

TEST_F(ClientWrites, CreateSendsTheObjectWithItsKind) {
  transport->reply(201, web);
  const auto made = client.create(Widget{.metadata = {.name = "web", .namespace_ = "default"}});
  EXPECT_EQ(sent(), "POST /apis/test.dev/v1/namespaces/default/widgets?fieldManager=tester");
  EXPECT_EQ(*transport->last().headers.find("Content-Type"), "application/json");
  EXPECT_EQ(sent_body()["kind"].as_string(), "Widget");
  EXPECT_EQ(sent_body()["apiVersion"].as_string(), "test.dev/v1");
  EXPECT_EQ(made->metadata.resource_version, "7");
  EXPECT_EQ(error_of([&] { client.create(Widget{}); }),
            "invalid: Widget: the object has neither a name nor a generate_name");
  EXPECT_EQ(error_of([&] { client.create(Widget{.metadata = {.generate_name = "w-"}}); }),
            "invalid: Widget : the kind is namespaced and the object has no namespace");
}

TEST_F(ClientWrites, UpdateIsForTypesThatDeclareEverything) {
  static_assert(CompleteType<Gadget> && !CompleteType<Widget>);
  transport->reply(200, R"({"apiVersion":"test.dev/v1","kind":"Gadget","metadata":{"name":"g"}})");
  client.update(Gadget{.metadata = {.name = "g", .resource_version = "3"}});
  EXPECT_EQ(sent(), "PUT /apis/test.dev/v1/gadgets/g?fieldManager=tester");
  EXPECT_EQ(sent_body().at({"metadata", "resourceVersion"}).as_string(), "3");
}

TEST_F(ClientWrites, ApplyClaimsWhatIsSetAndNoManagedFields) {
  transport->reply(200, web);
  Widget widget{.metadata = {.name = "web", .namespace_ = "default"}};
  widget.metadata.managed_fields.push_back(Json::object({{"manager", "x"}}));
  client.apply(widget);
  EXPECT_EQ(sent(), "PATCH /apis/test.dev/v1/namespaces/default/widgets/web?fieldManager=tester&force=true");
  EXPECT_EQ(*transport->last().headers.find("Content-Type"), "application/apply-patch+yaml");
  EXPECT_FALSE(sent_body()["metadata"].contains("managedFields"));
  EXPECT_FALSE(sent_body()["spec"].contains("image"));
  transport->reply(200, web);
  client.apply(widget, {.force = false});
  EXPECT_EQ(sent(), "PATCH /apis/test.dev/v1/namespaces/default/widgets/web?fieldManager=tester");
}

TEST_F(ClientWrites, ApplyStatusSendsNothingElse) {
  transport->reply(200, web);
  client.apply_status(Widget{.metadata = {.name = "web", .namespace_ = "default", .labels = {{"a", "b"}}},
                             .status = {.ready_replicas = 3}});
  EXPECT_EQ(sent(),
            "PATCH /apis/test.dev/v1/namespaces/default/widgets/web/status?fieldManager=tester&force=true");
  EXPECT_EQ(transport->last().body,
            R"({"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"web","namespace":"default"},)"
            R"("status":{"readyReplicas":3}})");
}

TEST_F(ClientWrites, PatchesGoOutAsTheyAre) {
  transport->reply(200, web);
  client.patch<Widget>(key, Patch::json(Json::array({})), {.subresource = "status"});
  EXPECT_EQ(sent(), "PATCH /apis/test.dev/v1/namespaces/default/widgets/web/status?fieldManager=tester");
  EXPECT_EQ(*transport->last().headers.find("Content-Type"), "application/json-patch+json");
  EXPECT_EQ(transport->last().body, "[]");
  EXPECT_THAT(error_of([&] { client.patch<Widget>(key, Patch::merge(Json::object()), {.force = true}); }),
              HasSubstr("PatchOptions.force"));
}

TEST_F(ClientWrites, RemoveSucceedsIfTheObjectIsGone) {
  transport->reply(200, status_body(200, ""));
  client.remove<Widget>(key);
  EXPECT_EQ(sent(), "DELETE /apis/test.dev/v1/namespaces/default/widgets/web");
  EXPECT_EQ(transport->last().body, "");
  transport->reply(404, status_body(404, "NotFound"));
  client.remove<Widget>(key);
  transport->reply(409, status_body(409, "Conflict"));
  EXPECT_THAT(error_of([&] { client.remove<Widget>(key, {.uid = "u"}); }),
              HasSubstr("delete Widget default/web: 409"));
}

TEST_F(ClientWrites, RemoveSendsItsOptions) {
  transport->reply(200, "{}");
  client.with({.dry_run = true})
      .remove<Widget>(key, {.propagation = Propagation::foreground,
                            .grace_period_seconds = 0,
                            .uid = "u",
                            .resource_version = "9"});
  EXPECT_EQ(sent(), "DELETE /apis/test.dev/v1/namespaces/default/widgets/web?dryRun=All");
  EXPECT_EQ(transport->last().body,
            R"({"apiVersion":"v1","gracePeriodSeconds":0,"kind":"DeleteOptions",)"
            R"("preconditions":{"resourceVersion":"9","uid":"u"},"propagationPolicy":"Foreground"})");
}

TEST_F(ClientWrites, RemoveAllTakesSelectors) {
  transport->reply(200, "{}");
  client.remove_all<Widget>(
      {.namespace_ = "default", .label_selector = "a=b", .field_selector = "metadata.name!=x"});
  EXPECT_EQ(
      sent(),
      "DELETE "
      "/apis/test.dev/v1/namespaces/default/widgets?labelSelector=a%3Db&fieldSelector=metadata.name%21%3Dx");
  EXPECT_THAT(error_of([&] { client.remove_all<Widget>({}); }), HasSubstr("ListOptions.namespace_ is empty"));
}

TEST_F(ClientWrites, ScaleReadsAndSets) {
  const std::string scale =
      R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"resourceVersion":"4"},)"
      R"("spec":{"replicas":3},"status":{"replicas":2,"selector":"app=web"}})";
  transport->reply(200, scale);
  const Scale read = client.scale<Widget>(key);
  EXPECT_EQ(sent(), "GET /apis/test.dev/v1/namespaces/default/widgets/web/scale");
  EXPECT_EQ(read.replicas, 3);
  EXPECT_EQ(read.status_replicas, 2);
  EXPECT_EQ(read.selector, "app=web");
  transport->reply(200, scale);
  client.scale<Widget>(key, 5);
  EXPECT_EQ(sent(), "PATCH /apis/test.dev/v1/namespaces/default/widgets/web/scale?fieldManager=tester");
  EXPECT_EQ(transport->last().body, R"({"spec":{"replicas":5}})");
  transport->reply(200, web);
  EXPECT_THAT(error_of([&] { client.scale<Widget>(key); }), HasSubstr("the response is not a Scale"));
}

class ClientEditsOf : public ClientTest {
 protected:
  Snapshot<Widget> read() {
    transport->reply(200, web);
    return client.get<Widget>(key);
  }
  /// Returns the object with another text in one place.
  static std::string with(std::string_view text, std::string_view other) {
    std::string object = web;
    return object.replace(object.find(text), text.size(), other);
  }
};

TEST_F(ClientEditsOf, NothingIsSentWhereNothingChanged) {
  const auto widget = read();
  EXPECT_TRUE(client.patch(widget, [](Widget&) {}).same(widget));
  EXPECT_TRUE(client.patch_status(widget, [](tests::WidgetStatus& status) { status.ready_replicas = 1; })
                  .same(widget));
  EXPECT_EQ(transport->requests().size(), 1U);
}

TEST_F(ClientEditsOf, OnlyTheDifferenceIsSent) {
  const auto widget = read();
  transport->reply(200, web);
  client.patch(widget, [](Widget& w) {
    w.spec.replicas = 9;
    w.metadata.labels.erase("app");
  });
  EXPECT_EQ(sent(), "PATCH /apis/test.dev/v1/namespaces/default/widgets/web?fieldManager=tester");
  EXPECT_EQ(*transport->last().headers.find("Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(transport->last().body, R"({"metadata":{"labels":null,"uid":"u-1"},"spec":{"replicas":9}})");
}

TEST_F(ClientEditsOf, AChangedListKeepsUndeclaredMembersAndIsGuarded) {
  const auto widget = read();
  transport->reply(200, web);
  client.patch(widget, [](Widget& w) { w.spec.ports[0].port = 8080; });
  EXPECT_EQ(transport->last().body,
            R"({"metadata":{"resourceVersion":"7","uid":"u-1"},)"
            R"("spec":{"ports":[{"name":"http","port":8080,"weight":5},{"name":"old","port":1}]}})");
}

TEST_F(ClientEditsOf, ARemovedListIsGuardedToo) {
  const auto widget = read();
  transport->reply(200, web);
  client.patch(widget, [](Widget& w) { w.spec.ports.clear(); });
  EXPECT_EQ(transport->last().body,
            R"({"metadata":{"resourceVersion":"7","uid":"u-1"},"spec":{"ports":null}})");
}

TEST_F(ClientEditsOf, StatusGoesToItsSubresource) {
  const auto widget = read();
  transport->reply(200, web);
  client.patch_status(widget, [](tests::WidgetStatus& status) { status.ready_replicas = 2; });
  EXPECT_EQ(sent(), "PATCH /apis/test.dev/v1/namespaces/default/widgets/web/status?fieldManager=tester");
  EXPECT_EQ(transport->last().body,
            R"({"metadata":{"resourceVersion":"7","uid":"u-1"},"status":{"readyReplicas":2}})");
}

TEST_F(ClientEditsOf, AListInAStatusKeepsUndeclaredMembersAndIsGuarded) {
  transport->reply(
      200,
      R"({"metadata":{"name":"web","namespace":"default","resourceVersion":"7"},"spec":{"nodeName":"n"},)"
      R"("status":{"conditions":[{"type":"Ready","status":"True","later":1}],"phase":"Running"}})");
  const auto pod = client.get<Pod>(key);
  transport->reply(200, R"({"metadata":{"name":"web","namespace":"default"}})");
  client.patch_status(pod, [](core_v1::PodStatus& status) { status.conditions[0].status = "False"; });
  EXPECT_EQ(transport->last().body,
            R"({"metadata":{"resourceVersion":"7"},)"
            R"("status":{"conditions":[{"later":1,"status":"False","type":"Ready"}]}})");
}

TEST_F(ClientEditsOf, WithoutTheWireFormAListIsReadFirst) {
  Widget known = *read();
  const Snapshot<Widget> bare(known);
  transport->reply(200, web);
  transport->reply(200, web);
  client.patch(bare, [](Widget& w) { w.spec.ports.pop_back(); });
  const auto requests = transport->requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[1].method, http::Method::get);
  EXPECT_EQ(
      requests[2].body,
      R"({"metadata":{"resourceVersion":"7","uid":"u-1"},"spec":{"ports":[{"name":"http","port":80,"weight":5}]}})");
  transport->reply(200, web);
  client.patch(bare, [](Widget& w) { w.spec.replicas = 4; });
  EXPECT_EQ(transport->requests().size(), 4U) << "a scalar needs no reading";
}

// Servers ignore the uid in a patch of the status of a custom resource.
TEST_F(ClientEditsOf, AStatusIsSentAgainWithTheVersionOfTheSameObject) {
  const auto widget = read();
  transport->reply(409, status_body(409, "Conflict"));
  transport->reply(200, with(R"("resourceVersion":"7")", R"("resourceVersion":"8")"));
  transport->reply(200, web);
  client.patch_status(widget, [](tests::WidgetStatus& status) { status.ready_replicas = 2; });
  EXPECT_EQ(transport->requests()[2].method, http::Method::get);
  EXPECT_EQ(transport->last().body,
            R"({"metadata":{"resourceVersion":"8","uid":"u-1"},"status":{"readyReplicas":2}})");
}

TEST_F(ClientEditsOf, AStatusIsNotSentToAnotherObject) {
  const auto widget = read();
  transport->reply(409, status_body(409, "Conflict"));
  transport->reply(200, with("u-1", "u-2"));
  EXPECT_THAT(
      error_of([&] {
        client.patch_status(widget, [](tests::WidgetStatus& status) { status.ready_replicas = 2; });
      }),
      HasSubstr("409 Conflict: the object with uid u-1 was deleted; the server has one with uid u-2"));
  EXPECT_EQ(transport->requests().size(), 3U);
}

TEST_F(ClientEditsOf, AConflictOfAStatusEndsIfTheObjectIsTheOneThatWasRead) {
  const auto widget = read();
  transport->reply(409, status_body(409, "Conflict"));
  transport->reply(200, web);
  EXPECT_THAT(error_of([&] {
                client.patch_status(widget, [](tests::WidgetStatus& status) { status.ready_replicas = 2; });
              }),
              HasSubstr("409 Conflict: server says Conflict"));
}

TEST_F(ClientEditsOf, AConflictOfAStatusEndsWithoutTheRightToReadTheObject) {
  const auto widget = read();
  transport->reply(409, status_body(409, "Conflict"));
  transport->reply(403, "no");
  EXPECT_THAT(error_of([&] {
                client.patch_status(widget, [](tests::WidgetStatus& status) { status.ready_replicas = 2; });
              }),
              HasSubstr("409 Conflict: server says Conflict"));
}

TEST_F(ClientEditsOf, AnotherUidIsAConflict) {
  const auto widget = read();
  transport->reply(
      422, R"({"kind":"Status","code":422,"reason":"Invalid","message":"metadata.uid: Invalid value",)"
           R"("details":{"causes":[{"reason":"FieldValueInvalid","field":"metadata.uid"}]}})");
  try {
    client.patch(widget, [](Widget& w) { w.spec.replicas = 9; });
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.is_conflict());
    EXPECT_FALSE(error.is_invalid());
  }
}

TEST_F(ClientEditsOf, AnEmptySnapshotIsRefused) {
  EXPECT_THAT(error_of([&] { client.patch(Snapshot<Widget>(), [](Widget&) {}); }), HasSubstr("invalid: "));
}

TEST_F(ClientEditsOf, RetryOnConflictReadsAgain) {
  transport->reply(200, web);
  transport->reply(409, status_body(409, "Conflict"));
  transport->reply(200, web);
  transport->reply(200, web);
  int attempts = 0;
  run_with_waits(
      [&] {
        retry_on_conflict(client, [&] {
          ++attempts;
          return client.patch(client.get<Widget>(key), [](Widget& w) { w.spec.replicas = 5; });
        });
      },
      {11ms});
  EXPECT_EQ(attempts, 2);
  EXPECT_TRUE(transport->exhausted());
}

TEST_F(ClientEditsOf, RetryOnConflictGivesUpAndPassesOtherErrors) {
  int attempts = 0;
  run_with_waits(
      [&] {
        EXPECT_THAT(error_of([&] {
                      retry_on_conflict(client, [&]() -> int {
                        ++attempts;
                        throw ApiError("update A b", Status{.code = 409, .reason = "Conflict"});
                      });
                    }),
                    HasSubstr("409 Conflict"));
      },
      {11ms, 11ms, 11ms, 11ms});
  EXPECT_EQ(attempts, 5);
  EXPECT_EQ(error_of([&] {
              retry_on_conflict(
                  client, []() -> int { throw ApiError("get A b", Status{.code = 404, .reason = "R"}); });
            }),
            "get A b: 404 R");
}

TEST_F(ClientRetries, ARefusalOfACallWithoutCredentialsSaysSo) {
  const auto error_with = [&](const Config& config) {
    transport->reply(401, status_body(401, "Unauthorized"));
    return error_of([&] { Client(config, {.transport = transport}).get<Widget>(key); });
  };
  Config config = parse_kubeconfig(R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "http://10.0.0.1"}}]
users: [{name: u, user: {token: secret}}])");
  EXPECT_THAT(
      error_with(config),
      StartsWith("get Widget default/web, sent without credentials (kubeconfig, context \"c\", without "
                 "its credentials, because the server is plain http): 401 Unauthorized"));
  config.server = "https://10.0.0.1";
  config.token = "secret";
  EXPECT_THAT(error_with(config), StartsWith("get Widget default/web: 401 Unauthorized"));
}

TEST_F(ClientRetries, WaitsForTheServersRetryAfter) {
  transport->reply(429, "", {{"Retry-After", "3"}});
  transport->reply(503, "", {{"Retry-After", "2"}});
  transport->reply(201, web);
  run_with_waits([&] { client.create(Widget{.metadata = {.name = "web", .namespace_ = "default"}}); },
                 {3s, 2s});
  EXPECT_EQ(transport->requests().size(), 3U);
}

TEST_F(ClientRetries, DoesNotRepeatAWriteThatMayHaveHappened) {
  transport->reply(500, status_body(500, "InternalError"));
  EXPECT_THAT(error_of([&] { client.create(Widget{.metadata = {.name = "web", .namespace_ = "default"}}); }),
              HasSubstr("500 InternalError"));
  transport->fail(TransportErrorCode::interrupted);
  EXPECT_EQ(error_of([&] { client.remove<Widget>(key); }), "scripted");
  EXPECT_EQ(transport->requests().size(), 2U);
}

TEST_F(ClientRetries, RepeatsABrokenRead) {
  transport->fail(TransportErrorCode::interrupted);
  transport->reply(502, "<html>");
  transport->reply(200, web);
  run_with_waits([&] { client.get<Widget>(key); }, {120ms, 240ms});
  EXPECT_EQ(transport->requests().size(), 3U);
}

TEST_F(ClientRetries, NeverWaitsBeyondTheDeadline) {
  transport->reply(429, status_body(429, "TooManyRequests"), {{"Retry-After", "60"}});
  EXPECT_THAT(error_of([&] { client.get<Widget>(key); }), HasSubstr("429 TooManyRequests"));
  transport->reply(429, status_body(429, "TooManyRequests"), {{"Retry-After", "5"}});
  EXPECT_THAT(error_of([&] { client.with({.timeout = 5s}).get<Widget>(key); }),
              HasSubstr("429 TooManyRequests"));
}

TEST_F(ClientRetries, StopEndsTheWait) {
  transport->reply(429, "", {{"Retry-After", "30"}});
  std::stop_source stop;
  std::string error;
  std::thread thread(
      [&] { error = error_of([&] { client.with({.stop = stop.get_token()}).get<Widget>(key); }); });
  clock->wait_for_waiters(1);
  stop.request_stop();
  thread.join();
  EXPECT_EQ(error, "get Widget default/web: cancelled");
}

TEST_F(ClientRetries, MayBeSwitchedOff) {
  transport->reply(429, status_body(429, "TooManyRequests"));
  EXPECT_THAT(error_of([&] { client.with({.max_retries = 0}).get<Widget>(key); }), HasSubstr("429"));
  EXPECT_EQ(transport->requests().size(), 1U);
}

std::string page(std::initializer_list<const char*> names, const std::string& continue_token = "",
                 const std::string& version = "100") {
  Json list = Json::object({{"kind", "WidgetList"}, {"apiVersion", "test.dev/v1"}, {"items", Json::array()}});
  list["metadata"]["resourceVersion"] = version;
  if (!continue_token.empty()) list["metadata"]["continue"] = continue_token;
  for (const char* name : names) {
    Json item = Json::object();
    item["metadata"]["name"] = name;
    item["metadata"]["namespace"] = "default";
    item["spec"]["unknown"] = 1;
    list["items"].push_back(std::move(item));
  }
  return list.dump();
}

template <class T>
std::vector<std::string> names(const List<T>& list) {
  std::vector<std::string> result;
  for (const auto& item : list.items) result.push_back(key_of(*item).name);
  return result;
}

TEST_F(ClientLists, FollowsPagesAndKeepsTheirTexts) {
  transport->reply(200, page({"a", "b"}, "t1"));
  transport->reply(200, page({"c"}, "t2", "101"));
  transport->reply(200, page({"d"}));
  const List<Widget> list = client.list<Widget>({.namespace_ = "default",
                                                 .label_selector = "x",
                                                 .page_size = 2,
                                                 .resource_version = "5",
                                                 .resource_version_match = "NotOlderThan"});
  EXPECT_THAT(names(list), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(list.resource_version, "100");
  EXPECT_EQ(list.continue_token, "");
  EXPECT_EQ(list.items[2].raw(), R"({"metadata":{"name":"c","namespace":"default"},"spec":{"unknown":1}})");
  const auto requests = transport->requests();
  EXPECT_EQ(requests[0].target,
            "/apis/test.dev/v1/namespaces/default/widgets?labelSelector=x&limit=2&resourceVersion=5&"
            "resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(requests[1].target,
            "/apis/test.dev/v1/namespaces/default/widgets?labelSelector=x&limit=2&continue=t1")
      << "the token carries the version; the server refuses both";
  EXPECT_EQ(requests[2].target,
            "/apis/test.dev/v1/namespaces/default/widgets?labelSelector=x&limit=2&continue=t2");
}

TEST_F(ClientLists, AsksForFiveHundredAndAllNamespaces) {
  transport->reply(200, page({}));
  EXPECT_TRUE(client.list<Widget>().items.empty());
  EXPECT_EQ(sent(), "GET /apis/test.dev/v1/widgets?limit=500");
}

TEST_F(ClientLists, AnExpiredTokenRestartsTheListWithoutPaging) {
  transport->reply(200, page({"a", "b"}, "t1"));
  transport->reply(410, status_body(410, "Expired"));
  transport->reply(200, page({"a", "z"}, "", "200"));
  const List<Widget> list = client.list<Widget>({.page_size = 2, .resource_version = "5"});
  EXPECT_THAT(names(list), ElementsAre("a", "z"));
  EXPECT_EQ(list.resource_version, "200");
  EXPECT_EQ(sent(), "GET /apis/test.dev/v1/widgets?resourceVersion=5");
}

// A server that pages whatever is asked for would be asked forever.
TEST_F(ClientLists, AnExpiredTokenRestartsTheListOnce) {
  for (int i = 0; i < 2; ++i) {
    transport->reply(200, page({"a", "b"}, "t1"));
    transport->reply(410, status_body(410, "Expired"));
  }
  EXPECT_THAT(error_of([&] { client.list<Widget>(); }), HasSubstr("list Widget: 410 Expired"));
  EXPECT_EQ(transport->requests().size(), 4U);
}

TEST_F(ClientLists, AllPagesShareOneTimeLimit) {
  const std::vector<std::pair<CallOptions, const char*>> limits = {
      {{.timeout = 3s}, "typed"}, {{.timeout = 3s}, "dynamic"}, {{.deadline = clock->now() + 11s}, "typed"}};
  transport->on_request = [&](const http::Request&) { clock->advance(2s); };
  for (const auto& [limit, kind] : limits) {
    const std::size_t before = transport->requests().size();
    for (int i = 0; i < 2; ++i) transport->reply(200, page({"a"}, "t" + std::to_string(i)));
    const Client limited = client.with(limit);
    const std::string error = error_of([&, kind = std::string_view(kind)] {
      if (kind == "typed") {
        limited.list<Widget>();
      } else {
        limited.resource(Widget::resource).list();
      }
    });
    EXPECT_EQ(error, "list Widget: deadline exceeded") << kind;
    const auto requests = transport->requests();
    ASSERT_EQ(requests.size(), before + 2) << kind;
    EXPECT_EQ(requests[before].deadline, requests[before + 1].deadline) << kind;
  }
}

TEST_F(ClientCompletions, AllPagesShareOneTimeLimit) {
  transport->on_request = [&](const http::Request&) { clock->advance(2s); };
  for (int i = 0; i < 2; ++i) transport->reply(200, page({"a"}, "t" + std::to_string(i)));
  std::string error;
  client.with({.timeout = 3s}).start(calls::list<Widget>({}), [&](Outcome<List<Widget>> outcome) {
    error = error_of([&] { outcome.value(); });
  });
  EXPECT_EQ(error, "list Widget: deadline exceeded");
  EXPECT_EQ(transport->requests().size(), 2U);
}

TEST_F(ClientEdits, TheReadAndThePatchShareOneTimeLimit) {
  transport->on_request = [&](const http::Request&) { clock->advance(4s); };
  transport->reply(200, web);
  const Snapshot<Widget> known(client.with({.timeout = 5s}).get<Widget>(key));
  const Snapshot<Widget> bare{Widget(*known)};
  transport->reply(200, web);
  EXPECT_EQ(error_of([&] {
              client.with({.timeout = 3s}).patch(bare, [](Widget& widget) { widget.spec.ports.pop_back(); });
            }),
            "patch Widget default/web: deadline exceeded");
}

TEST_F(ClientLists, AnExpiredTokenOfTheCallerIsAnError) {
  transport->reply(410, status_body(410, "Expired"));
  EXPECT_THAT(error_of([&] { client.list<Widget>({.continue_token = "old"}); }),
              HasSubstr("list Widget: 410 Expired"));
  transport->reply(410, status_body(410, "Expired"));
  EXPECT_THAT(error_of([&] { client.list<Widget>({.resource_version = "1"}); }), HasSubstr("410 Expired"));
}

TEST_F(ClientLists, LimitStopsEarlyAndGoesOnLater) {
  transport->reply(200, page({"a", "b"}, "t1"));
  transport->reply(200, page({"c"}, "t2"));
  const List<Widget> list = client.list<Widget>({.limit = 3, .page_size = 2});
  EXPECT_THAT(names(list), ElementsAre("a", "b", "c"));
  EXPECT_EQ(list.continue_token, "t2");
  EXPECT_EQ(sent(), "GET /apis/test.dev/v1/widgets?limit=1&continue=t1");
  transport->reply(200, page({"d"}));
  EXPECT_THAT(names(client.list<Widget>({.continue_token = "t2"})), ElementsAre("d"));
}

TEST_F(ClientLists, ABodyThatIsNotAListIsADecodeError) {
  for (const char* body : {"", "[]", "{}", "<html>", R"({"items":[{]})", R"({"items":{}})",
                           R"({"items":[1]})", R"({"items":[{"metadata":{"name":"a"}}],)"}) {
    transport->reply(200, body);
    EXPECT_THAT(error_of([&] { client.list<Widget>(); }), HasSubstr("widgets")) << body;
  }
  transport->reply(200, R"({"metadata":{"resourceVersion":"1"},"items":null})");
  EXPECT_TRUE(client.list<Widget>().items.empty());
}

TEST_F(ClientCompletions, CarryValuesAndErrors) {
  transport->reply(200, web);
  int replicas = 0;
  client.start(calls::get<Widget>(key),
               [&](Outcome<Snapshot<Widget>> outcome) { replicas = outcome.value()->spec.replicas; });
  EXPECT_EQ(replicas, 2);
  transport->reply(403, status_body(403, "Forbidden"));
  std::string error;
  client.start(calls::get<Widget>(key),
               [&](Outcome<Snapshot<Widget>> outcome) { error = error_of([&] { outcome.value(); }); });
  EXPECT_EQ(error, "get Widget default/web: 403 Forbidden: server says Forbidden");
  transport->reply(200, "{");
  client.start(calls::get<Widget>(key),
               [&](Outcome<Snapshot<Widget>> outcome) { error = error_of([&] { outcome.value(); }); });
  EXPECT_THAT(error, HasSubstr("widgets/default/web"));
  transport->reply(404, status_body(404, "NotFound"));
  bool absent = false;
  client.start(calls::find<Widget>(key),
               [&](Outcome<Snapshot<Widget>> outcome) { absent = !outcome.value(); });
  EXPECT_TRUE(absent);
}

TEST_F(ClientCompletions, ExistForEveryCall) {
  int done = 0;
  const auto count = [&](auto outcome) { done += outcome.ok() ? 1 : 0; };
  const Widget widget{.metadata = {.name = "web", .namespace_ = "default"}};
  transport->reply(200, web);
  const auto read = client.get<Widget>(key);
  const std::string scale = R"({"kind":"Scale","spec":{"replicas":1}})";
  for (int i = 0; i < 6; ++i) transport->reply(200, web);
  client.start(calls::create(widget), count);
  client.start(calls::patch(read, [](Widget& w) { w.spec.replicas = 7; }), count);
  client.start(calls::patch_status(read, [](tests::WidgetStatus& s) { s.ready_replicas = 7; }), count);
  client.start(calls::patch<Widget>(key, Patch::merge(Json::object())), count);
  client.start(calls::apply(widget), count);
  client.start(calls::apply_status(widget), count);
  transport->reply(404, status_body(404, "NotFound"));
  client.start(calls::remove<Widget>(key), count);
  transport->reply(200, "{}");
  client.start(calls::remove_all<Widget>({.namespace_ = "default"}), count);
  transport->reply(200, scale);
  client.start(calls::scale<Widget>(key, 3), count);
  transport->reply(200, page({"a"}, "t"));
  transport->reply(200, page({"b"}));
  client.start(calls::list<Widget>(), count);
  EXPECT_EQ(done, 10);
  EXPECT_TRUE(transport->exhausted());
  client.start(calls::patch(read, [](Widget&) {}), count);
  EXPECT_EQ(done, 11) << "nothing to send";
}

TEST_F(ClientCompletions, AnEditWithoutWireFormReadsFirst) {
  transport->reply(200, web);
  const Snapshot<Widget> bare(*client.get<Widget>(key));
  transport->reply(200, web);
  transport->reply(200, web);
  int done = 0;
  client.start(calls::patch(bare, [](Widget& w) { w.spec.ports.pop_back(); }),
               [&](Outcome<Snapshot<Widget>> outcome) { done += outcome.ok() ? 1 : 0; });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(
      transport->last().body,
      R"({"metadata":{"resourceVersion":"7","uid":"u-1"},"spec":{"ports":[{"name":"http","port":80,"weight":5}]}})");
  EXPECT_TRUE(transport->exhausted());
}

TEST_F(ClientCompletions, AreRetriedInVirtualTime) {
  transport->reply(429, "", {{"Retry-After", "3"}});
  transport->fail(TransportErrorCode::interrupted);
  transport->reply(200, web);
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  client.start(calls::get<Widget>(key), [&](Outcome<Snapshot<Widget>> outcome) {
    const std::lock_guard lock(mutex);
    done += outcome.ok() ? 1 : 0;
    changed.notify_all();
  });
  EXPECT_EQ(done, 0);
  clock->wait_for_waiters(1);
  clock->advance(3s);
  clock->wait_for_waiters(1);
  clock->advance(120ms);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done == 1; });
}

TEST_F(ClientCompletions, AreNotRetriedBeyondTheDeadline) {
  for (const auto& [retry_after, retried] : {std::pair("4", true), std::pair("5", false)}) {
    transport->reply(429, status_body(429, "TooManyRequests"), {{"Retry-After", retry_after}});
    std::string error;
    const auto call =
        client.with({.timeout = 5s}).start(calls::get<Widget>(key), [&](Outcome<Snapshot<Widget>> outcome) {
          error = error_of([&] { outcome.value(); });
        });
    EXPECT_EQ(error.empty(), retried) << error;
    call->cancel();
    EXPECT_THAT(error, HasSubstr(retried ? "cancelled" : "429 TooManyRequests"));
  }
}

TEST_F(ClientCompletions, CancelEndsACallThatRunsAndOneThatWaits) {
  std::string error;
  int done = 0;
  const auto note = [&](Outcome<Snapshot<Widget>> outcome) {
    ++done;
    error = error_of([&] { outcome.value(); });
  };
  transport->hang();
  auto call = client.start(calls::get<Widget>(key), note);
  call->cancel();
  call->cancel();
  EXPECT_EQ(error, "get Widget default/web: cancelled");
  transport->reply(429, "", {{"Retry-After", "30"}});
  call = client.start(calls::get<Widget>(key), note);
  EXPECT_EQ(done, 1);
  error.clear();
  call->cancel();
  EXPECT_EQ(error, "get Widget default/web: cancelled");
  EXPECT_EQ(done, 2);
}

TEST_F(ClientCompletions, TheStopTokenEndsThem) {
  std::stop_source stop;
  std::string error;
  int done = 0;
  const auto note = [&](Outcome<Snapshot<Widget>> outcome) {
    ++done;
    error = error_of([&] { outcome.value(); });
  };
  const Client bound = client.with({.stop = stop.get_token()});
  transport->hang();
  bound.start(calls::get<Widget>(key), note);
  stop.request_stop();
  EXPECT_EQ(error, "get Widget default/web: cancelled");
  bound.start(calls::get<Widget>(key), note);
  EXPECT_EQ(done, 2);
  EXPECT_EQ(transport->requests().size(), 1U) << "a stopped token sends nothing";
}

// Otherwise the transport's thread would destroy the transport, possibly while the program ends.
TEST_F(ClientCompletions, TheCalleeOfACompletionHoldsTheLastReference) {
  auto own = std::make_shared<FakeTransport>();
  std::optional<Client> last(Client(Config{.server = "http://one"}, {.transport = own}));
  own->hang();
  bool gone = false;
  const std::weak_ptr<FakeTransport> watched = own;
  const auto call = last->start(calls::get<Widget>(key), [&](const Outcome<Snapshot<Widget>>&) {
    last.reset();
    gone = watched.expired();
  });
  FakeTransport& answering = *own;
  own.reset();
  answering.release({.status = 200, .headers = {}, .body = web});
  EXPECT_TRUE(gone);
}

TEST_F(ClientCompletions, AStreamDoesNotKeepTheClient) {
  auto own = std::make_shared<FakeTransport>();
  std::optional<Client> last(Client(Config{.server = "http://one"}, {.transport = own}));
  struct Silent final : http::StreamHandler {
    void on_response(int, const http::Headers&) override {}
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override {}
  };
  const auto call = last->stream({.resource = Widget::resource}, std::make_shared<Silent>());
  last.reset();
  EXPECT_EQ(own.use_count(), 1);
  own->streams.front()->respond(401);  // its credentials would be recorded as rejected
  own->streams.front()->end();
}

TEST_F(ClientCompletions, ListsCanBeCancelledBetweenPages) {
  transport->reply(200, page({"a"}, "t1"));
  transport->hang();
  std::string error;
  const auto call = client.start(calls::list<Widget>(), [&](Outcome<List<Widget>> outcome) {
    error = error_of([&] { outcome.value(); });
  });
  EXPECT_EQ(error, "");
  call->cancel();
  EXPECT_EQ(error, "list Widget: cancelled");
}

TEST_F(ClientCompletions, ExistForEveryCallByResource) {
  int done = 0;
  const auto count = [&](auto outcome) { done += outcome.ok() ? 1 : 0; };
  const ResourceId id = Widget::resource;
  transport->reply(200, web);
  const auto read = client.resource(id).get(key);
  for (int i = 0; i < 6; ++i) transport->reply(200, web);
  client.start(calls::get(id, key), count);
  client.start(calls::create(id, *read), count);
  client.start(calls::update(id, *read), count);
  client.start(calls::patch(id, read, [](DynamicObject& object) { object["spec"]["replicas"] = 7; }), count);
  client.start(calls::patch(id, key, Patch::merge(Json::object())), count);
  client.start(calls::apply(id, *read), count);
  transport->reply(404, status_body(404, "NotFound"));
  transport->reply(404, status_body(404, "NotFound"));
  client.start(calls::find(id, key), [&](const auto& outcome) { count(outcome); });
  client.start(calls::remove(id, key), count);
  transport->reply(200, "{}");
  client.start(calls::remove_all(id, {.namespace_ = "default"}), count);
  transport->reply(200, R"({"kind":"Scale","spec":{"replicas":1}})");
  client.start(calls::scale(id, key), count);
  transport->reply(200, page({"a"}, "t"));
  transport->reply(200, page({"b"}));
  client.start(calls::list(id), count);
  EXPECT_EQ(done, 11);
  EXPECT_TRUE(transport->exhausted());
}

TEST_F(ClientCompletions, AnyRequestIsACall) {
  const auto length = [](const http::Response& response) { return response.body.size(); };
  const auto call = [&] {
    return ApiCall<std::size_t>({.resource = Widget::resource, .namespace_ = "default", .name = "web"},
                                length);
  };
  transport->reply(200, web);
  EXPECT_EQ(client.run(call()), std::string(web).size());
  transport->reply(200, web);
  std::size_t got = 0;
  client.start(call(), [&](Outcome<std::size_t> outcome) { got = outcome.value(); });
  EXPECT_EQ(got, std::string(web).size());
}

TEST_F(ClientReads, DynamicObjectsOfAnyKind) {
  const ResourceClient widgets = client.resource(Widget::resource);
  transport->reply(200, web);
  const auto widget = widgets.get(key);
  EXPECT_EQ((*widget)["spec"]["secretKnob"], Json(true));
  transport->reply(404, status_body(404, "NotFound"));
  EXPECT_FALSE(widgets.find(key));
  transport->reply(200, page({"a"}, "t"));
  transport->reply(200, page({"b"}));
  const auto list = widgets.list({.namespace_ = "default"});
  EXPECT_THAT(names(list), ElementsAre("a", "b"));
  EXPECT_EQ(list.items[0]->kind(), "Widget");
  EXPECT_EQ(list.items[0]->api_version(), "test.dev/v1");
}

TEST_F(ClientReads, MetadataOnlyOfAnyKind) {
  const std::string object = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  const std::string list =
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  const ResourceClient widgets = client.resource(Widget::resource).metadata_only();
  const auto accept = [&] { return *transport->last().headers.find("Accept"); };
  transport->reply(200, web);
  const auto widget = widgets.get(key);
  EXPECT_EQ(accept(), object);
  transport->reply(200, web);
  widgets.find(key);
  EXPECT_EQ(accept(), object);
  transport->reply(200, web);
  widgets.patch(key, Patch::merge(Json::object()));
  EXPECT_EQ(accept(), object);
  transport->reply(200, page({"a"}));
  widgets.list();
  EXPECT_EQ(accept(), list);
  transport->reply(200, web);
  client.with({.metadata_only = true}).get<Widget>(key);
  EXPECT_EQ(accept(), "application/json") << "a typed call";
}

TEST_F(ClientWrites, DynamicUpdateLosesNothingAndPatchSendsTheDifference) {
  const ResourceClient widgets = client.resource(Widget::resource);
  transport->reply(200, web);
  const auto widget = widgets.get(key);
  DynamicObject changed = *widget;
  changed["spec"]["replicas"] = 3;
  transport->reply(200, web);
  widgets.update(changed);
  EXPECT_EQ(sent(), "PUT /apis/test.dev/v1/namespaces/default/widgets/web?fieldManager=tester");
  EXPECT_EQ(sent_body()["spec"]["secretKnob"], Json(true));
  transport->reply(200, web);
  widgets.update(changed, "status");
  EXPECT_EQ(sent(), "PUT /apis/test.dev/v1/namespaces/default/widgets/web/status?fieldManager=tester");
  transport->reply(200, web);
  widgets.apply(DynamicObject(Json::parse(R"({"metadata":{"name":"web","namespace":"default"},)"
                                          R"("status":{"readyReplicas":1}})")),
                {}, "status");
  EXPECT_EQ(sent(),
            "PATCH /apis/test.dev/v1/namespaces/default/widgets/web/status?fieldManager=tester&force=true");
  EXPECT_EQ(sent_body().at({"status", "readyReplicas"}), Json(1));
  transport->reply(200, web);
  widgets.patch(widget, [](DynamicObject& object) { object["spec"]["ports"][std::size_t{0}]["port"] = 81; });
  EXPECT_EQ(sent_body().at({"metadata", "resourceVersion"}).as_string(), "7");
  EXPECT_EQ(sent_body()["spec"]["ports"][std::size_t{0}]["weight"], Json(5));
  EXPECT_TRUE(widgets.patch(widget, [](DynamicObject&) {}).same(widget));
  transport->reply(201, web);
  widgets.create(DynamicObject(ResourceId(Widget::resource), "default", "web"));
  EXPECT_EQ(sent(), "POST /apis/test.dev/v1/namespaces/default/widgets?fieldManager=tester");
}

TEST_F(ClientReads, BuiltInKindsWork) {
  transport->reply(
      200,
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web","namespace":"default"},"data":{"a":"b"}})");
  EXPECT_EQ(client.get<ConfigMap>(key)->data.at("a"), "b");
  EXPECT_EQ(sent(), "GET /api/v1/namespaces/default/configmaps/web");
}

}  // namespace
}  // namespace evenkeel
