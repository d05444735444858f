// SPDX-License-Identifier: Apache-2.0
// The parameter shardSelector on a real kube-apiserver with the feature gate ShardedListAndWatch and on the
// embedded server: both give equal answers.
#include <functional>
#include <future>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/resource_client.hpp>

#include "../support/await.hpp"
#include "real_environment.hpp"

namespace evenkeel {
namespace real_sharded_list {

using http::Method;

struct Barge {
  static constexpr ResourceInfo resource{.group = "sharding.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Barge",
                                         .plural = "barges",
                                         .installs_crd = true};
  ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Barge, metadata)

/// A kind of which a server has no objects of its own.
struct ResourceQuota {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "ResourceQuota", .plural = "resourcequotas"};
  ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(ResourceQuota, metadata)

constexpr char quotas[] = "resourcequotas";
constexpr char low[] = "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')";
constexpr char high[] = "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')";

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// The answers of one server.
class Story {
 public:
  explicit Story(const Config& config)
      : client_(config, {.retry = {.max_retries = 0, .max_blind_retries = 0}}) {
    for (const char* space : {"blue", "green", "red", "shipping", "web"}) {
      client_.create(Namespace{.metadata = {.name = space}});
      for (const char* name : {"a", "b"}) {
        client_.create(ResourceQuota{.metadata = {.name = name, .namespace_ = space}});
        client_.create(Barge{.metadata = {.name = name, .namespace_ = space}});
      }
    }
  }

  /// Returns the answer without what differs between any two runs.
  Json ask(Method method, const std::string& path, const Parameters& query, const std::string& accept = {}) {
    RestRequest request{.method = method, .query = query, .accept = accept, .path = path};
    try {
      Json answer = Json::parse(client_.raw(request).body);
      token_ = answer.at({"metadata", "continue"}).string_or("");
      return summary(answer);
    } catch (const ApiError& error) {
      return Json(std::to_string(error.code()) + " " + error.reason() + " " + error.message());
    }
  }
  void note(const std::string& step, const Json& answer) { lines.push_back(step + ": " + answer.dump()); }
  void note_list(const std::string& path, Parameters query, const std::string& accept = {}) {
    std::string step = "list " + path + " " + accept;
    for (const auto& [name, value] : query) step += " " + name + "=" + value;
    note(step, ask(Method::get, path, query, accept));
  }
  /// Notes the events that watches send before their ends. They run at once, so that each has the time that a
  /// slow machine needs.
  void note_watches(const std::vector<std::pair<std::string, Parameters>>& watches) {
    std::vector<std::future<Json>> all;
    for (const auto& [path, query] : watches)
      all.push_back(std::async(std::launch::async, [this, path, query] { return events_of(path, query); }));
    for (std::size_t i = 0; i < all.size(); ++i) note("watch " + watches[i].first, all[i].get());
  }

  const Client& client() const { return client_; }
  const std::string& token() const { return token_; }
  std::vector<std::string> lines = {};

 private:
  Json events_of(const std::string& path, Parameters query) const {
    query.insert(query.end(), {{"watch", "1"}, {"timeoutSeconds", "6"}});
    std::istringstream received(client_.raw({.method = Method::get, .query = query, .path = path}).body);
    Json out = Json::array();
    for (std::string line; std::getline(received, line);) {
      const Json event = Json::parse(line);
      out.push_back(event["type"].string_or("") + " " + name_of(event["object"]));
    }
    return out;
  }
  static std::string name_of(const Json& object) {
    return object.at({"metadata", "namespace"}).string_or("") + "/" +
           object.at({"metadata", "name"}).string_or("");
  }
  static Json summary(const Json& answer) {
    Json out = Json::object({{"kind", answer["kind"]}, {"metadata", answer["metadata"]}});
    for (const char* member : {"resourceVersion", "uid", "creationTimestamp"}) out["metadata"].erase(member);
    if (Json* token = out["metadata"].find("continue"); token != nullptr && !token->string_or("").empty())
      *token = "some";
    Json names = Json::array();
    for (std::size_t i = 0; i < answer["items"].size(); ++i) names.push_back(name_of(answer["items"][i]));
    out["items"] = std::move(names);
    return out;
  }

  Client client_;
  std::string token_;
};

std::string all(const std::string& kind) {
  return "/api/v1/" + kind;
}
constexpr char barges[] = "/apis/sharding.evenkeel.dev/v1/barges";

void list(Story& story) {
  for (const std::string& path : {all(quotas), std::string(barges)}) {
    for (const char* shard : {low, high}) {
      story.note_list(path, {{"shardSelector", shard}});
      story.note_list(path, {{"shardSelector", shard}, {"resourceVersion", "0"}});
      story.note_list(path, {{"shardSelector", shard}, {"fieldSelector", "metadata.name=a"}});
      story.note_list(path, {{"shardSelector", shard}, {"labelSelector", "x=y"}});
      for (const char* kind : {"PartialObjectMetadataList", "Table"})
        story.note_list(path, {{"shardSelector", shard}},
                        std::string("application/json;as=") + kind + ";g=meta.k8s.io;v=v1");
    }
    story.note_list(path, {{"shardSelector", std::string("  ") + low + "||" + high}});
    story.note_list(path, {{"shardSelector", ""}});
  }
  story.note_list("/api/v1/namespaces/web/resourcequotas", {{"shardSelector", low}});
  story.note_list("/api/v1/namespaces/web/resourcequotas", {{"shardSelector", high}});
  story.note_list("/api/v1/namespaces/web/resourcequotas/a", {{"shardSelector", high}});
}

void page(Story& story) {
  for (const std::string& path : {all(quotas), std::string(barges)}) {
    for (const char* shard : {low, high}) {
      Parameters query{{"shardSelector", shard}, {"limit", "1"}};
      for (int pages = 0; pages < 8; ++pages) {
        story.note("page of " + path, story.ask(Method::get, path, query));
        if (story.token().empty()) break;
        query = {{"shardSelector", shard}, {"limit", "1"}, {"continue", story.token()}};
      }
    }
  }
}

void watch(Story& story) {
  const std::string before =
      story.client().list<ResourceQuota>({.namespace_ = "web", .limit = 1}).resource_version;
  for (const char* space : {"blue", "web"}) {
    const auto made = story.client().create(ResourceQuota{.metadata = {.name = "w", .namespace_ = space}});
    story.client().patch(made, [](ResourceQuota& quota) { quota.metadata.labels["x"] = "y"; });
    story.client().remove<ResourceQuota>(key_of(*made));
  }
  std::vector<std::pair<std::string, Parameters>> watches;
  for (const char* shard : {low, high}) {
    const Parameters since{{"shardSelector", shard}, {"resourceVersion", before}};
    Parameters labelled = since;
    labelled.emplace_back("labelSelector", "x=y");
    watches.emplace_back(all(quotas), since);
    watches.emplace_back(all(quotas), Parameters{{"shardSelector", shard}});
    watches.emplace_back(barges, Parameters{{"shardSelector", shard}});
    watches.emplace_back(all(quotas), labelled);
    watches.emplace_back(all(quotas), Parameters{{"shardSelector", shard},
                                                 {"sendInitialEvents", "true"},
                                                 {"allowWatchBookmarks", "true"},
                                                 {"resourceVersionMatch", "NotOlderThan"}});
  }
  story.note_watches(watches);
}

void refuse(Story& story) {
  const std::string from = "'0x0000000000000000'";
  const std::string to = "'0x8000000000000000'";
  const std::vector<std::string> selectors = {
      " ",
      "shardRange(object.metadata.uid, " + from + ")",
      "shardRange(object.metadata.name, " + from + ", " + to + ")",
      "shardRange('x', " + from + ", " + to + ")",
      "shardRange(object['metadata'], " + from + ", " + to + ")",
      "shardRange(object.metadata.uid, 0, " + to + ")",
      "shardRange(object.metadata.uid, 1.5, " + to + ")",
      "shardRange(object.metadata.uid, true, " + to + ")",
      "shardRange(object.metadata.uid, null, " + to + ")",
      "shardRange(object.metadata.uid, object, " + to + ")",
      "shardRange(object.metadata.uid, [], " + to + ")",
      "shardRange(object.metadata.uid, {}, " + to + ")",
      "shardRange(object.metadata.uid, '00', " + to + ")",
      "shardRange(object.metadata.uid, '0x', " + to + ")",
      "shardRange(object.metadata.uid, " + from + ", '0x8')",
      "shardRange(object.metadata.uid, " + from + ", '0x8G')",
      "shardRange(object.metadata.uid, " + from + ", '0x800000000000000000')",
      "shardRange(object.metadata.uid, " + from + ", '0x20000000000000000')",
      "shardRange(object.metadata.uid, " + to + ", " + to + ")",
      std::string(low) + " || shardRange(object.metadata.uid, " + from + ", " + to + ")",
      std::string(low) + " && " + low,
      std::string(low) + " ? true : false",
      "!" + std::string(low),
      "has(object.metadata)",
      "object.all(x, x)",
      "object.metadata",
      "x",
      "'x'",
      "[1]",
      "object.shardRange(object.metadata.namespace, " + from + ", " + to + ")",
      "(" + std::string(low) + ")",
      std::string(low) + " || " + low + " || (" + low + " || " + low + ")"};
  for (const std::string& selector : selectors) {
    story.note_list(all(quotas), {{"shardSelector", selector}});
    story.note_list(all(quotas), {{"shardSelector", selector}, {"watch", "1"}, {"fieldSelector", "a=b"}});
  }
  story.note_list(barges, {{"shardSelector", "x"}});
  story.note_list(all(quotas), {{"shardSelector", "x"}, {"labelSelector", "a==="}});
  story.note("watch refused", story.ask(Method::get, all(quotas), {{"shardSelector", "x"}, {"watch", "1"}}));
  story.note("deletion refused",
             story.ask(Method::delete_, "/api/v1/namespaces/web/resourcequotas", {{"shardSelector", "x"}}));
}

void remove(Story& story) {
  for (const std::string& path : {std::string("/api/v1/namespaces/web/resourcequotas"),
                                  std::string("/apis/sharding.evenkeel.dev/v1/namespaces/web/barges")}) {
    for (const char* shard : {high, low}) {
      story.note("delete " + path,
                 story.ask(Method::delete_, path, {{"shardSelector", shard}, {"limit", "1"}}));
      story.note("delete " + path, story.ask(Method::delete_, path, {{"shardSelector", shard}}));
      story.note_list(path, {});
    }
  }
}

std::vector<std::string> answers(const Config& config, bool gate) {
  Story story(config);
  for (const auto& part : {list, page, watch, remove}) part(story);
  if (gate) refuse(story);
  return story.lines;
}

void compare(const std::string& flag, bool gate) {
  testing::Environment real({.api_server_flags = {flag}});
  real.install<Barge>();
  apiserver::ApiServer embedded{{.core = {.sharded_list_and_watch = gate}}};
  embedded.install(crd_for<Barge>().dump());
  const std::vector<std::string> expected = answers(real.config(), gate);
  const std::vector<std::string> found = answers(embedded.config(), gate);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]);
  const auto counted = ::testing::Contains(::testing::HasSubstr("shardInfo"));
  if (gate) {
    EXPECT_THAT(expected, counted);
  } else {
    EXPECT_THAT(expected, ::testing::Not(counted));
  }
}

TEST(RealShardedLists, AreThoseOfTheEmbeddedServer) {
  compare("--feature-gates=ShardedListAndWatch=true", true);
}

TEST(RealShardedLists, AreNotKnownWithoutTheGate) {
  compare("--feature-gates=ShardedListAndWatch=false", false);
}

// Parse errors have the texts of another parser; the status and what precedes the text are equal.
TEST(RealShardedLists, ErrorsOfTheParserBeginAlike) {
  testing::Environment real({.api_server_flags = {"--feature-gates=ShardedListAndWatch=true"}});
  apiserver::ApiServer embedded{{.core = {.sharded_list_and_watch = true}}};
  for (const Config& config : {real.config(), embedded.config()}) {
    const Client client(config, {.retry = {.max_retries = 0, .max_blind_retries = 0}});
    for (const char* selector : {"shardRange(", "a b", "shardRange(object.metadata.uid,,)"}) {
      try {
        client.raw({.query = {{"shardSelector", selector}}, .path = all(quotas)});
        ADD_FAILURE() << selector;
      } catch (const ApiError& error) {
        EXPECT_EQ(error.code(), 500);
        EXPECT_THAT(error.message(),
                    ::testing::StartsWith("invalid shard selector: CEL parse error: Syntax error: "));
      }
    }
  }
}

}  // namespace real_sharded_list
}  // namespace evenkeel
