// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/faults.hpp>

#include "apiserver/shell/fault_injector.hpp"
#include "apiserver/shell/request_target.hpp"
#include "scripted_backend.hpp"

namespace evenkeel::apiserver::faults_tests {
namespace {

using ::testing::HasSubstr;

RequestTarget target(http::Method method, std::string path) {
  return request_target({.method = method, .target = std::move(path)});
}

RequestTarget get(std::string path) {
  return target(http::Method::get, std::move(path));
}

std::string refusal(std::string_view text) {
  try {
    parse_fault_rule(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RequestTarget, ReadsVerbAndResourceFromThePath) {
  const RequestTarget one = get("/apis/apps/v1/namespaces/a%2Db/deployments/web/scale");
  EXPECT_EQ(one.verb, "get");
  EXPECT_EQ(one.group, "apps");
  EXPECT_EQ(one.resource, "deployments");
  EXPECT_EQ(one.subresource, "scale");
  EXPECT_EQ(one.namespace_, "a-b");
  EXPECT_EQ(one.name, "web");
  EXPECT_EQ(get("/api/v1/pods?limit=500").verb, "list");
  EXPECT_EQ(get("/api/v1/pods?limit=500&watch=true").verb, "watch");
  EXPECT_EQ(target(http::Method::post, "/api/v1/namespaces").verb, "create");
  EXPECT_EQ(target(http::Method::put, "/api/v1/namespaces/a/status").verb, "update");
  EXPECT_EQ(target(http::Method::put, "/api/v1/namespaces/a/status").resource, "namespaces");
  EXPECT_EQ(target(http::Method::delete_, "/api/v1/namespaces/a/pods").verb, "deletecollection");
  EXPECT_EQ(target(http::Method::delete_, "/api/v1/namespaces/a/pods/b").verb, "delete");
  EXPECT_EQ(get("/version").resource, "");
  EXPECT_EQ(get("/version").verb, "get");
  EXPECT_EQ(get("/api/v1").resource, "");
}

TEST(FaultRule, ReadsTheCommandLineForm) {
  const FaultRule rule = parse_fault_rule(
      "verb=watch,resource=demos.example.com/"
      "status,namespace=a,name=b,user=c,skip=2,count=3,probability=0.25,"
      "seed=7,delay=200ms,cut-after=1000,cut-spread=500");
  EXPECT_EQ(rule.verb, "watch");
  EXPECT_EQ(rule.resource, "demos.example.com/status");
  EXPECT_EQ(rule.namespace_, "a");
  EXPECT_EQ(rule.name, "b");
  EXPECT_EQ(rule.user, "c");
  EXPECT_EQ(rule.skip, 2u);
  EXPECT_EQ(rule.count, 3u);
  EXPECT_EQ(rule.probability, 0.25);
  EXPECT_EQ(rule.seed, 7u);
  EXPECT_EQ(rule.delay, std::chrono::milliseconds{200});
  EXPECT_EQ(rule.cut_after, 1000u);
  EXPECT_EQ(rule.cut_spread, 500u);
  const FaultRule answer = parse_fault_rule("status=429,retry-after=2,reason=Busy,message=not now");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.retry_after, std::chrono::seconds{2});
  EXPECT_EQ(answer.reason, "Busy");
  EXPECT_EQ(answer.message, "not now");
  EXPECT_EQ(parse_fault_rule("drop=after").drop, FaultDrop::after);
  EXPECT_EQ(parse_fault_rule("drop=before,ending=reset").ending, FaultEnding::reset);
  EXPECT_EQ(parse_fault_rule("cut-after=0,ending=silence").ending, FaultEnding::silence);
  EXPECT_EQ(parse_fault_rule("cut-after=0,ending=complete").ending, FaultEnding::complete);
  const FaultRule watch = parse_fault_rule(
      "cut-after-events=3,cut-after-time=1m,event-delay=5ms,bookmarks=initial,lag=2s,lag-versions=4");
  EXPECT_EQ(watch.cut_after_events, 3u);
  EXPECT_EQ(watch.cut_after_time, std::chrono::minutes{1});
  EXPECT_EQ(watch.event_delay, std::chrono::milliseconds{5});
  EXPECT_EQ(watch.bookmarks, FaultBookmarks::initial);
  EXPECT_EQ(watch.lag, std::chrono::seconds{2});
  EXPECT_EQ(watch.lag_versions, 4u);
  EXPECT_EQ(parse_fault_rule("bookmarks=none").bookmarks, FaultBookmarks::none);
  EXPECT_EQ(parse_fault_rule("body=garbage").body, FaultBody::garbage);
  EXPECT_EQ(parse_fault_rule("body=html").body, FaultBody::html);
  EXPECT_EQ(parse_fault_rule("body=no-object").body, FaultBody::no_object);
  EXPECT_EQ(parse_fault_rule("delay=1.5s").delay, std::chrono::milliseconds{1500});
}

TEST(FaultRule, RefusesNonsenseNamingTheMember) {
  EXPECT_THAT(refusal("verb=gets,delay=1s"), HasSubstr("unknown verb \"gets\""));
  EXPECT_THAT(refusal("colour=red"), HasSubstr("unknown member \"colour\""));
  EXPECT_THAT(refusal("verb"), HasSubstr("expected member=value, found \"verb\""));
  EXPECT_THAT(refusal("status=abc"), HasSubstr("status: expected a number, found \"abc\""));
  EXPECT_THAT(refusal("status=200"), HasSubstr("status: must be 400 to 599"));
  EXPECT_THAT(refusal("delay=5"), HasSubstr("delay: expected a time like 200ms"));
  EXPECT_THAT(refusal("delay=2000000s"), HasSubstr("delay: at most one day"));
  EXPECT_THAT(refusal("drop=maybe"), HasSubstr("drop: expected before or after"));
  EXPECT_THAT(refusal("drop=before,status=500"), HasSubstr("drop: goes with neither"));
  EXPECT_THAT(refusal("drop=before,cut-after-events=1"), HasSubstr("drop: goes with neither"));
  EXPECT_THAT(refusal("body=garbage,status=500"), HasSubstr("body: does not go with status"));
  EXPECT_THAT(refusal("body=xml"), HasSubstr("body: expected garbage or html or no-object, found \"xml\""));
  EXPECT_THAT(refusal("ending=reset,status=500"), HasSubstr("ending: needs drop or a cut"));
  EXPECT_THAT(refusal("ending=complete,drop=after"), HasSubstr("ending: a drop cannot be complete"));
  EXPECT_THAT(refusal("verb=list,cut-after-events=1"), HasSubstr("verb: what the rule does needs a watch"));
  EXPECT_THAT(refusal("verb=create,lag=1s"), HasSubstr("verb: a lag is for get, list and watch"));
  EXPECT_THAT(refusal("lag=1s,status=500"), HasSubstr("lag, event_delay, bookmarks: need an answer"));
  EXPECT_THAT(refusal("probability=2,status=500"), HasSubstr("probability: must be between 0 and 1"));
  EXPECT_THAT(refusal("probability=nan,status=500"), HasSubstr("probability: must be between 0 and 1"));
  EXPECT_THAT(refusal("cut-spread=3,status=500"), HasSubstr("cut_spread: needs cut_after"));
  EXPECT_THAT(refusal("retry-after=3,delay=1s"), HasSubstr("retry_after: needs status"));
  EXPECT_THAT(refusal("verb=get"), HasSubstr("does nothing"));
  EXPECT_THAT(refusal(""), HasSubstr("does nothing"));
}

TEST(FaultInjector, MatchesVerbResourceGroupNameAndUser) {
  const auto hits = [](FaultRule rule, const RequestTarget& request, std::string_view user = "u") {
    rule.status = 500;
    FaultInjector injector;
    injector.add(rule);
    return injector.plan(request, user).rule != 0;
  };
  const RequestTarget scale = get("/apis/apps/v1/namespaces/a/deployments/web/scale");
  const RequestTarget plain = get("/apis/apps/v1/namespaces/a/deployments/web");
  EXPECT_TRUE(hits({}, plain));
  EXPECT_TRUE(hits({}, get("/version")));
  EXPECT_TRUE(hits({.resource = "deployments"}, plain));
  EXPECT_FALSE(hits({.resource = "deployments"}, scale));
  EXPECT_TRUE(hits({.resource = "deployments/scale"}, scale));
  EXPECT_TRUE(hits({.resource = "deployments.apps/scale"}, scale));
  EXPECT_FALSE(hits({.resource = "deployments.extensions"}, plain));
  EXPECT_TRUE(hits({.resource = "*"}, scale));
  EXPECT_FALSE(hits({.resource = "*"}, get("/version")));
  EXPECT_FALSE(hits({.verb = "list"}, plain));
  EXPECT_TRUE(hits({.namespace_ = "a", .name = "web"}, plain));
  EXPECT_FALSE(hits({.namespace_ = "b"}, plain));
  EXPECT_FALSE(hits({.name = "db"}, plain));
  EXPECT_TRUE(hits({.user = "u"}, plain));
  EXPECT_FALSE(hits({.user = "v"}, plain));
}

TEST(FaultInjector, SelectsOnlyWhatCanHaveTheFault) {
  const auto hits = [](const FaultRule& rule, const std::string& path) {
    FaultInjector injector;
    injector.add(rule);
    return injector.plan(get(path), "").rule != 0;
  };
  for (const char* rule :
       {"cut-after-events=1", "cut-after-time=1s", "event-delay=1s", "bookmarks=none", "body=no-object"}) {
    EXPECT_FALSE(hits(parse_fault_rule(rule), "/api/v1/pods")) << rule;
    EXPECT_TRUE(hits(parse_fault_rule(rule), "/api/v1/pods?watch=1")) << rule;
  }
  const FaultRule lag = {.lag_versions = 1};
  EXPECT_TRUE(hits(lag, "/api/v1/pods?watch=1"));
  EXPECT_TRUE(hits(lag, "/api/v1/pods?resourceVersion=0"));
  EXPECT_TRUE(hits(lag, "/api/v1/namespaces/a/pods/b?resourceVersion=0"));
  EXPECT_FALSE(hits(lag, "/api/v1/pods"));
  EXPECT_FALSE(hits(lag, "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact"));
}

TEST(FaultInjector, SkipsThenFiresCountTimes) {
  FaultInjector injector;
  const FaultId id = injector.add({.skip = 2, .count = 3, .status = 500});
  std::string fired;
  for (int at = 0; at < 8; ++at) fired += injector.plan(get("/api/v1/pods"), "").rule == id ? 'x' : '.';
  EXPECT_EQ(fired, "..xxx...");
  EXPECT_EQ(injector.counts(id).matched, 8u);
  EXPECT_EQ(injector.counts(id).fired, 3u);
  injector.remove(id);
  EXPECT_EQ(injector.plan(get("/api/v1/pods"), "").rule, 0u);
  EXPECT_EQ(injector.counts(id).fired, 3u);
}

TEST(FaultInjector, DrawsTheSameLotsFromTheSameSeed) {
  const auto lots = [](std::uint64_t seed) {
    FaultInjector injector;
    injector.add({.probability = 0.3, .seed = seed, .status = 500});
    std::string fired;
    for (int at = 0; at < 1000; ++at) fired += injector.plan(get("/api/v1/pods"), "").rule ? 'x' : '.';
    return fired;
  };
  const std::string lot = lots(7);
  EXPECT_EQ(lot, lots(7));
  EXPECT_NE(lot, lots(8));
  EXPECT_NEAR(static_cast<double>(std::count(lot.begin(), lot.end(), 'x')), 300, 60);
}

TEST(FaultInjector, ACutThatDidNotHappenLeavesItsPlaceToAnother) {
  FaultInjector injector;
  const FaultId id = injector.add({.count = 1, .cut_after = 10, .cut_spread = 5});
  const FaultPlan first = injector.plan(get("/api/v1/pods"), "");
  ASSERT_TRUE(first.cut_after);
  EXPECT_GE(*first.cut_after, 10u);
  EXPECT_LE(*first.cut_after, 15u);
  EXPECT_EQ(injector.plan(get("/api/v1/pods"), "").rule, 0u) << "while the first may still happen";
  injector.on_not_fired(first);
  const FaultPlan second = injector.plan(get("/api/v1/pods"), "");
  EXPECT_EQ(second.rule, id);
  injector.on_fired(second);
  EXPECT_EQ(injector.plan(get("/api/v1/pods"), "").rule, 0u);
  EXPECT_EQ(injector.counts(id).fired, 1u);
}

TEST(FaultAnswer, IsAStatusWithItsReasonAndRetryAfter) {
  const http::Response busy = fault_answer({.status = 429, .retry_after = std::chrono::seconds{3}});
  EXPECT_EQ(busy.status, 429);
  ASSERT_NE(busy.headers.find("Retry-After"), nullptr);
  EXPECT_EQ(*busy.headers.find("Retry-After"), "3");
  const Json body = Json::parse(busy.body);
  EXPECT_EQ(body["kind"], Json("Status"));
  EXPECT_EQ(body["reason"], Json("TooManyRequests"));
  EXPECT_EQ(body["code"], Json(429));
  EXPECT_EQ(body.at({"details", "retryAfterSeconds"}), Json(3));
  EXPECT_EQ(Json::parse(fault_answer({.status = 410}).body)["reason"], Json("Expired"));
  EXPECT_EQ(Json::parse(fault_answer({.status = 409, .reason = "AlreadyExists"}).body)["reason"],
            Json("AlreadyExists"));
  EXPECT_FALSE(Json::parse(fault_answer({.status = 599}).body).contains("reason"));
}

// Executes plans in the host; without a front, as nothing is announced here.
class HostFaults : public ::testing::Test {
 protected:
  detail::Reply ask(const std::string& path, http::Method method = http::Method::get) {
    const http::Request request{.method = method, .target = path};
    const detail::AuthenticatedRequest authenticated = scripted_.host->authenticate(request, std::nullopt);
    return scripted_.host->execute(request, authenticated, &front_);
  }
  struct Silent final : detail::Front {
    void watches_ready(const std::vector<WatchId>&) noexcept override {}
    void tick_moved() noexcept override {}
    void schedule(std::function<void()>) override {}
  };

  Silent front_;
  ScriptedHost scripted_;
};

TEST_F(HostFaults, DropBeforeHasNoEffectAndDropAfterHas) {
  scripted_.host->inject({.verb = "create", .count = 1, .drop = FaultDrop::before});
  scripted_.host->inject({.verb = "create", .count = 1, .drop = FaultDrop::after});
  EXPECT_TRUE(ask("/api/v1/namespaces", http::Method::post).dropped);
  EXPECT_EQ(scripted_.backend->requests.size(), 0u);
  EXPECT_TRUE(ask("/api/v1/namespaces", http::Method::post).dropped);
  EXPECT_EQ(scripted_.backend->requests.size(), 1u);
  EXPECT_FALSE(ask("/api/v1/namespaces", http::Method::post).dropped);
}

TEST_F(HostFaults, DropAfterAWatchEndsIt) {
  scripted_.host->inject({.verb = "watch", .drop = FaultDrop::after});
  EXPECT_TRUE(ask("/api/v1/pods?watch=1").dropped);
  EXPECT_EQ(scripted_.watches(), 0u);
}

TEST_F(HostFaults, AnAnswerIsCutOnlyIfItIsLonger) {
  const FaultId id = scripted_.host->inject({.cut_after = 100});
  EXPECT_FALSE(ask("/big/100").cut_after);
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 0u);
  EXPECT_EQ(ask("/big/101").cut_after, 100u);
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 1u);
  EXPECT_EQ(scripted_.host->fault_counts(id).matched, 2u);
}

TEST_F(HostFaults, AWatchIsCutInsideAnEvent) {
  const FaultId id = scripted_.host->inject({.verb = "watch", .cut_after = 15});
  const auto watch = ask("/api/v1/pods?watch=1").watch;
  ASSERT_TRUE(watch);
  scripted_.feed("pods", "{\"event\":1}\n");
  EXPECT_EQ(scripted_.host->read(*watch).bytes.size(), 12u);
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 0u);
  scripted_.feed("pods", "{\"event\":2}\n");
  const detail::WatchPiece piece = scripted_.host->read(*watch);
  EXPECT_EQ(piece.bytes, "{\"e");
  EXPECT_TRUE(piece.ended);
  EXPECT_TRUE(piece.cut);
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 1u);
  EXPECT_EQ(scripted_.watches(), 0u);
  EXPECT_TRUE(scripted_.host->read(*watch).ended);
}

TEST_F(HostFaults, AWatchIsToldAStatusBetweenTwoEvents) {
  const FaultId id = scripted_.host->inject({.verb = "watch", .status = 410, .cut_after = 15});
  const auto watch = ask("/api/v1/pods?watch=1").watch;
  ASSERT_TRUE(watch);
  scripted_.feed("pods", "{\"event\":1}\n{\"event\":2}\n{\"event\":3}\n");
  const detail::WatchPiece piece = scripted_.host->read(*watch);
  EXPECT_TRUE(piece.ended);
  EXPECT_FALSE(piece.cut);
  ASSERT_TRUE(piece.bytes.starts_with("{\"event\":1}\n{\"event\":2}\n")) << piece.bytes;
  const Json event = Json::parse(std::string_view(piece.bytes).substr(24));
  EXPECT_EQ(event["type"], Json("ERROR"));
  EXPECT_EQ(event.at({"object", "code"}), Json(410));
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 1u);
}

TEST_F(HostFaults, AStatusWithoutBytesBeforeItComesAtOnce) {
  scripted_.host->inject({.verb = "watch", .status = 410, .cut_after = 0});
  const auto watch = ask("/api/v1/pods?watch=1").watch;
  const detail::WatchPiece piece = scripted_.host->read(*watch);
  EXPECT_TRUE(piece.ended);
  EXPECT_EQ(Json::parse(piece.bytes)["type"], Json("ERROR"));
}

TEST_F(HostFaults, AWatchIsCutAfterSoManyEvents) {
  const FaultId id = scripted_.host->inject({.cut_after_events = 3, .ending = FaultEnding::complete});
  const auto watch = ask("/api/v1/pods?watch=1").watch;
  scripted_.feed("pods", "{1}\n{2}\n");
  EXPECT_EQ(scripted_.host->read(*watch).bytes, "{1}\n{2}\n");
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 0u);
  scripted_.feed("pods", "{3}\n{4}\n");
  const detail::WatchPiece piece = scripted_.host->read(*watch);
  EXPECT_EQ(piece.bytes, "{3}\n");
  EXPECT_TRUE(piece.ended);
  EXPECT_FALSE(piece.cut);
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 1u);
  EXPECT_EQ(scripted_.watches(), 0u);
}

TEST_F(HostFaults, TheCutThatComesFirstCuts) {
  scripted_.host->inject({.cut_after = 9, .cut_after_events = 2, .ending = FaultEnding::reset});
  const auto early = ask("/api/v1/pods?watch=1").watch;
  scripted_.feed("pods", "{1}\n{2}\n{3}\n");
  EXPECT_EQ(scripted_.host->read(*early).bytes, "{1}\n{2}\n");
  const auto late = ask("/api/v1/pods?watch=1").watch;
  scripted_.feed("pods", "{\"long\":1}\n{2}\n");
  const detail::WatchPiece piece = scripted_.host->read(*late);
  EXPECT_EQ(piece.bytes, "{\"long\":1");
  EXPECT_TRUE(piece.cut);
  EXPECT_EQ(piece.ending, FaultEnding::reset);
}

TEST_F(HostFaults, AWatchIsToldWhatIsNoEvent) {
  scripted_.host->inject({.count = 1, .body = FaultBody::garbage, .cut_after_events = 1});
  scripted_.host->inject({.count = 1, .body = FaultBody::no_object});
  const auto garbage = ask("/api/v1/pods?watch=1").watch;
  scripted_.feed("pods", "{1}\n{2}\n");
  const detail::WatchPiece piece = scripted_.host->read(*garbage);
  ASSERT_TRUE(piece.bytes.starts_with("{1}\n\xfe")) << piece.bytes;
  EXPECT_EQ(std::count(piece.bytes.begin(), piece.bytes.end(), '\n'), 2);
  EXPECT_TRUE(piece.ended);
  EXPECT_FALSE(piece.cut);
  const auto empty = ask("/api/v1/pods?watch=1").watch;
  EXPECT_EQ(scripted_.host->read(*empty).bytes, "{\"type\":\"ADDED\"}\n");
  EXPECT_EQ(scripted_.watches(), 0u);
}

TEST_F(HostFaults, AnAnswerIsReplacedByWhatIsNoAnswer) {
  scripted_.host->inject({.verb = "create", .body = FaultBody::garbage});
  scripted_.host->inject({.verb = "watch", .body = FaultBody::html});
  const detail::Reply garbage = ask("/api/v1/namespaces", http::Method::post);
  EXPECT_EQ(garbage.response.status, 200);
  EXPECT_EQ(*garbage.response.headers.find("Content-Type"), "application/json");
  EXPECT_TRUE(garbage.response.body.starts_with("\xfe"));
  EXPECT_EQ(scripted_.backend->requests.size(), 1u) << "it had its effect";
  const detail::Reply page = ask("/api/v1/pods?watch=1");
  EXPECT_FALSE(page.watch);
  EXPECT_EQ(*page.response.headers.find("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(scripted_.watches(), 0u);
}

TEST_F(HostFaults, AnAnswerMayBeCutWithoutASign) {
  scripted_.host->inject({.cut_after = 100, .ending = FaultEnding::complete});
  const detail::Reply reply = ask("/big/500");
  EXPECT_FALSE(reply.cut_after);
  EXPECT_EQ(reply.response.body.size(), 100u);
}

TEST_F(HostFaults, WithholdsBookmarks) {
  const std::string plain = "{\"type\":\"BOOKMARK\",\"object\":{}}\n";
  const std::string initial =
      "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":{\"k8s.io/initial-events-end\":"
      "\"true\"}}}}\n";
  scripted_.host->inject({.count = 1, .bookmarks = FaultBookmarks::none});
  scripted_.host->inject({.count = 1, .bookmarks = FaultBookmarks::initial});
  const auto none = ask("/api/v1/pods?watch=1").watch;
  const auto some = ask("/api/v1/pods?watch=1").watch;
  const auto all = ask("/api/v1/pods?watch=1").watch;
  scripted_.feed("pods", "{1}\n" + initial + plain + "{2}\n");
  EXPECT_EQ(scripted_.host->read(*none).bytes, "{1}\n{2}\n");
  EXPECT_EQ(scripted_.host->read(*some).bytes, "{1}\n" + initial + "{2}\n");
  EXPECT_EQ(scripted_.host->read(*all).bytes, "{1}\n" + initial + plain + "{2}\n");
}

TEST_F(HostFaults, ARuleThatIsTakenAwayLetsRunningWatchesGo) {
  const FaultId cut = scripted_.host->inject({.count = 1, .cut_after_events = 1});
  const FaultId lag = scripted_.host->inject({.lag = std::chrono::seconds{3}, .lag_versions = 2});
  const auto cut_watch = ask("/api/v1/pods?watch=1").watch;
  const auto late_watch = ask("/api/v1/pods?watch=1").watch;
  EXPECT_EQ(scripted_.backend->lags.back().time, std::chrono::seconds{3});
  EXPECT_EQ(scripted_.backend->lags.back().versions, 2u);
  EXPECT_TRUE(scripted_.backend->lags.front().none());
  scripted_.host->remove_fault(cut);
  scripted_.feed("pods", "{1}\n{2}\n");
  EXPECT_EQ(scripted_.host->read(*cut_watch).bytes, "{1}\n{2}\n");
  EXPECT_EQ(scripted_.host->fault_counts(cut).fired, 0u);
  scripted_.host->remove_fault(lag);
  EXPECT_EQ(scripted_.backend->caught_up, (std::vector<WatchId>{*cut_watch, *late_watch}));
}

TEST_F(HostFaults, CutWatchesBreaksAllThatRun) {
  const auto one = ask("/api/v1/pods?watch=1").watch;
  const auto two = ask("/api/v1/pods?watch=1").watch;
  EXPECT_EQ(scripted_.host->cut_watches(), 2u);
  for (const auto& watch : {one, two}) {
    const detail::WatchPiece piece = scripted_.host->read(*watch);
    EXPECT_TRUE(piece.ended && piece.cut);
  }
  EXPECT_EQ(scripted_.host->cut_watches(), 0u);
}

}  // namespace
}  // namespace evenkeel::apiserver::faults_tests
