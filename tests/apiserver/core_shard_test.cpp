// SPDX-License-Identifier: Apache-2.0
// The parameter shardSelector of lists, watches and deletions of collections.
// tests/real/sharded_list_test.cpp compares the answers with those of a real server.
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

constexpr char low[] = "shardRange(object.metadata.namespace,'0x0000000000000000','0x8000000000000000')";
constexpr char high[] = "shardRange(object.metadata.namespace,'0x8000000000000000','0x10000000000000000')";

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return out;
}

class ApiServerCoreShards : public CoreFixture {
 protected:
  explicit ApiServerCoreShards(bool gate = true) : CoreFixture({.sharded_list_and_watch = gate}) {
    // By FNV-1a the first one is in the upper half, the others are in the lower one.
    for (const char* name : {"a", "green", "shipping", "web"}) {
      post("/api/v1/namespaces", Json::parse(R"({"metadata":{"name":")" + std::string(name) + R"("}})"));
      post("/api/v1/namespaces/" + std::string(name) + "/configmaps", config_map("of-" + std::string(name)));
    }
  }
  static std::string query(std::string_view selector) { return "?shardSelector=" + encoded(selector); }
  static std::string names(const CoreReply& list) {
    std::string out;
    for (std::size_t i = 0; i < list["items"].size(); ++i)
      out += (i == 0 ? "" : " ") + list["items"][i].at({"metadata", "name"}).string_or("?");
    return out;
  }
  CoreReply list(std::string_view selector, const std::string& more = "") {
    return get("/api/v1/configmaps" + query(selector) + more);
  }
  std::string problem(std::string_view selector) {
    const CoreReply reply = list(selector);
    EXPECT_EQ(reply.status, 500) << selector;
    EXPECT_EQ(reply.reason(), "");
    return reply.message();
  }
};

TEST_F(ApiServerCoreShards, ListsSelectAndEchoTheNormalisedSelector) {
  const CoreReply lower = list(low);
  const CoreReply upper = list(high);
  EXPECT_EQ(names(lower), "of-green of-shipping of-web");
  EXPECT_EQ(names(upper), "of-a");
  EXPECT_EQ(upper.body.at({"metadata", "shardInfo", "selector"}),
            "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')");
  EXPECT_EQ(names(list(std::string(" ") + low + " ||\n" + high)), "of-a of-green of-shipping of-web");
}

TEST_F(ApiServerCoreShards, ObjectsAreInOneHalfByUid) {
  const auto half = [this](const char* from, const char* to) {
    return list("shardRange(object.metadata.uid, '" + std::string(from) + "', '" + to + "')")["items"].size();
  };
  const std::size_t lower = half("0x0000000000000000", "0x8000000000000000");
  EXPECT_EQ(lower + half("0x8000000000000000", "0x10000000000000000"), 4u);
}

TEST_F(ApiServerCoreShards, PagesCountTheObjectsOfOtherShards) {
  const CoreReply page = list(low, "&limit=1");
  EXPECT_EQ(names(page), "of-green");
  EXPECT_EQ(page.body.at({"metadata", "remainingItemCount"}), 3);
  const std::string next = page.body.at({"metadata", "continue"}).string_or("");
  EXPECT_EQ(names(list(low, "&limit=5&continue=" + next)), "of-shipping of-web");
}

TEST_F(ApiServerCoreShards, OnlyListsOfBuiltInObjectsHaveShardInfo) {
  install_ships();
  const CoreReply ships = get("/apis/example.com/v1/ships" + query(low));
  EXPECT_EQ(ships.status, 200);
  EXPECT_FALSE(ships["metadata"].contains("shardInfo"));
  for (const char* kind : {"PartialObjectMetadataList", "Table"}) {
    const CoreReply reply = get("/api/v1/configmaps" + query(low),
                                std::string("application/json;as=") + kind + ";g=meta.k8s.io;v=v1");
    EXPECT_EQ(reply["kind"], kind);
    EXPECT_FALSE(reply["metadata"].contains("shardInfo")) << kind;
  }
}

TEST_F(ApiServerCoreShards, WatchesSelect) {
  const CoreReply watch = get("/api/v1/configmaps" + query(low) + "&watch=1");
  EXPECT_EQ(seen(watch), "ADDED of-green, ADDED of-shipping, ADDED of-web");
  post("/api/v1/namespaces/a/configmaps", config_map("x"));
  post("/api/v1/namespaces/web/configmaps", config_map("y"));
  remove("/api/v1/namespaces/a/configmaps/x");
  remove("/api/v1/namespaces/web/configmaps/y");
  EXPECT_EQ(seen(watch), "ADDED y, DELETED y");
  EXPECT_EQ(
      get("/api/v1/configmaps" + query("x") + "&watch=1").message(),
      "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator");
}

TEST_F(ApiServerCoreShards, DeletionsOfCollectionsSelect) {
  EXPECT_EQ(remove("/api/v1/namespaces/web/configmaps" + query(high)).status, 200);
  EXPECT_EQ(names(get("/api/v1/namespaces/web/configmaps")), "of-web");
  const CoreReply reply = remove("/api/v1/namespaces/web/configmaps" + query(low));
  EXPECT_EQ(names(reply), "of-web");
  EXPECT_TRUE(reply["metadata"].contains("shardInfo"));
  EXPECT_EQ(names(get("/api/v1/namespaces/web/configmaps")), "");
}

TEST_F(ApiServerCoreShards, RefusesSelectorsAsTheRealServer) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"},
      {"shardRange(object.metadata.uid, '0x0000000000000000')",
       "shardRange() requires exactly 3 arguments, got 2"},
      {"shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
       "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, "
       "object.metadata.namespace"},
      {"shardRange('x', '0x0000000000000000', '0x8000000000000000')",
       "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5"},
      {"shardRange(object.metadata.uid, 0, '0x8000000000000000')",
       "hexStart must be a string literal, got int64"},
      {"shardRange(object.metadata.uid, object, '0x8000000000000000')",
       "hexStart must be a string literal (e.g. '0xff'), got expression kind 3"},
      {"shardRange(object.metadata.uid, '00', '0x8000000000000000')",
       "hexStart must have '0x' prefix, got \"00\""},
      {"shardRange(object.metadata.uid, '0x', '0x8000000000000000')",
       "hexStart: hex value is required after '0x'"},
      {"shardRange(object.metadata.uid, '0x0000000000000000', '0x8')",
       "hexEnd must be a 0x-prefixed 16-digit hex value, got \"0x8\" (did you mean \"0x0000000000000008\"?)"},
      {"shardRange(object.metadata.uid, '0x0000000000000000', '0x8G')",
       "hexEnd: invalid hex character \"G\" in \"0x8G\""},
      {"shardRange(object.metadata.uid, '0x0000000000000000', '0x800000000000000000')",
       "hexEnd: hex value too long (18 chars, max 17): \"800000000000000000\""},
      {"shardRange(object.metadata.uid, '0x0000000000000000', '0x20000000000000000')",
       "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x20000000000000000\""},
      {"shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')",
       "shard range start 0x8000000000000000 must be less than end 0x8000000000000000"},
      {std::string(low) + "||shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')",
       "all shard ranges must use the same field, got \"object.metadata.namespace\" and "
       "\"object.metadata.uid\""},
      {std::string(low) + " && " + low,
       "unsupported function \"_&&_\"; only shardRange() and || are allowed"},
      {"has(object.metadata)", "unsupported function \"has\"; only shardRange() and || are allowed"},
      {"object.metadata", "unexpected expression kind 7; expected shardRange() call or || operator"}};
  for (const auto& [selector, text] : table) EXPECT_EQ(problem(selector), "invalid shard selector: " + text);
  EXPECT_TRUE(problem("shardRange(").starts_with("invalid shard selector: CEL parse error: Syntax error: "));
}

class ApiServerCoreWithoutShards : public ApiServerCoreShards {
 protected:
  ApiServerCoreWithoutShards() : ApiServerCoreShards(false) {}
};

TEST_F(ApiServerCoreWithoutShards, TheParameterIsIgnored) {
  const CoreReply reply = list("this is not even parsed");
  EXPECT_EQ(names(reply), "of-a of-green of-shipping of-web");
  EXPECT_FALSE(reply["metadata"].contains("shardInfo"));
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
