// SPDX-License-Identifier: Apache-2.0
// Stored objects: their text, parts of it, and the parsed documents that are kept.
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/store/store.hpp"
#include "apiserver/text/member_path.hpp"

namespace evenkeel::apiserver {
namespace {

Json document(const std::string& name) {
  Json out = Json::parse(R"({"aa": [1, "}"], "metadata": {"annotations": {"a.b/c": "\"{\\"},
      "labels": {"app.kubernetes.io/name": "web", "app": "q\"s"}, "uid": "u"}, "spec": {"n": 1.5, "deep": {"x": [{}], "y": null}},
      "status": {"text": "é\n"}, "\"odd": 1, "z": true})");
  out["metadata"]["name"] = name;
  return out;
}

std::shared_ptr<ParsedBodies> keep(std::size_t bytes) {
  return std::make_shared<ParsedBodies>(bytes);
}

}  // namespace

TEST(Stored, HasTheSamePartsParsedOrNot) {
  const auto parsed = keep(0);
  const StoredPtr object = Stored::make(document("web"), 7, 0, parsed);
  const Json body = object->body();
  ASSERT_TRUE(object->is_parsed());
  for (const bool trimmed : {false, true}) {
    if (trimmed) parsed->trim();
    ASSERT_EQ(object->is_parsed(), !trimmed);
    for (const char* path : {"aa", "metadata", "metadata.annotations", "metadata.labels.app", "metadata.name",
                             "spec", "spec.n", "spec.deep.x", "spec.deep.y", "spec.deep.z", "spec.n.m",
                             "status.text", "z", "zz", "a", "metadata.none", "spec.deep.x.y", "aa.b"})
      EXPECT_EQ(object->part(path).dump(), value_at(body, path).dump()) << path;
    EXPECT_EQ(object->label("app.kubernetes.io/name"), Json("web"));
    EXPECT_EQ(object->label("app"), Json("q\"s"));
    EXPECT_EQ(object->label("other"), Json());
    EXPECT_EQ(object->copy(), body);
  }
  EXPECT_EQ("{" + object->text() + "}", body.dump());
  EXPECT_EQ(object->body(), body);
  EXPECT_TRUE(object->is_parsed());
}

TEST(Stored, HasPartsOfAnyDocument) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> names = {"a", "b", "\"c", "metadata", "\\d", "zé", "e f"};
  for (int round = 0; round < 500; ++round) {
    Json body = Json::object();
    for (int member = 0; member < 8; ++member) {
      Json* at = &body;
      for (auto depth = 1 + random() % 3; depth > 0; --depth) {
        Json& next = (*at)[names[random() % names.size()]];
        if (!next.is_object()) next = Json::object();
        at = &next;
      }
      *at = random() % 2 == 0 ? Json(names[random() % names.size()]) : Json(static_cast<int>(random() % 100));
    }
    const auto parsed = keep(0);
    const StoredPtr object = Stored::make(body, 1, 0, parsed);
    parsed->trim();
    for (const std::string& first : names)
      for (const std::string& second : names) {
        const std::string path = first + "." + second;
        ASSERT_EQ(object->part(first).dump(), value_at(body, first).dump()) << body.dump();
        ASSERT_EQ(object->part(path).dump(), value_at(body, path).dump()) << body.dump() << " " << path;
      }
  }
}

TEST(Stored, KeepsTheDocumentsOfTheLastBytesOfText) {
  const std::size_t size = Stored::make(document("a"), 1, 0, keep(0))->text().size();
  const auto parsed = keep(2 * size);
  std::vector<StoredPtr> objects;
  for (const char* name : {"a", "b", "c", "d"}) objects.push_back(Stored::make(document(name), 1, 0, parsed));
  const auto kept = [&] {
    std::string out;
    for (const StoredPtr& object : objects) out += object->is_parsed() ? object->name() : "";
    return out;
  };
  EXPECT_EQ(kept(), "abcd");
  parsed->trim();
  EXPECT_EQ(kept(), "cd");
  EXPECT_EQ(objects[0]->body(), document("a"));
  objects[3].reset();
  objects.pop_back();
  parsed->trim();
  EXPECT_EQ(kept(), "a");
}

TEST(Stored, OutlivesItsStore) {
  StoredPtr object;
  {
    Store store(10, 1);
    object = store.put(store.collection("", "configmaps", true), document("web"));
    store.erase(store.collection("", "configmaps", true), "/web");
  }
  EXPECT_EQ(object->with_version(9)->metadata()["resourceVersion"], Json("9"));
  EXPECT_EQ(object->with_version(9)->version(), 9U);
}

}  // namespace evenkeel::apiserver
