// SPDX-License-Identifier: Apache-2.0
// Stored objects: their text, parts of it, and the parsed documents that are kept.
#include <memory>
#include <random>
#include <string>
#include <utility>
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

StoredPtr stored(const Json& body) {
  return std::make_shared<const Stored>(body, 7);
}

}  // namespace

TEST(Stored, HasThePartsOfItsDocument) {
  const Json body = document("web");
  const StoredPtr object = stored(body);
  for (const char* path : {"aa", "metadata", "metadata.annotations", "metadata.labels.app", "metadata.name",
                           "spec", "spec.n", "spec.deep.x", "spec.deep.y", "spec.deep.z", "spec.n.m",
                           "status.text", "z", "zz", "a", "metadata.none", "spec.deep.x.y", "aa.b"})
    EXPECT_EQ(object->part(path).dump(), value_at(body, path).dump()) << path;
  EXPECT_EQ(object->label("app.kubernetes.io/name"), Json("web"));
  EXPECT_EQ(object->label("app"), Json("q\"s"));
  EXPECT_EQ(object->label("other"), Json());
  EXPECT_EQ(object->document(), body);
  EXPECT_EQ("{" + object->text() + "}", body.dump());
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
    const StoredPtr object = stored(body);
    for (const std::string& first : names)
      for (const std::string& second : names) {
        const std::string path = first + "." + second;
        ASSERT_EQ(object->part(first).dump(), value_at(body, first).dump()) << body.dump();
        ASSERT_EQ(object->part(path).dump(), value_at(body, path).dump()) << body.dump() << " " << path;
      }
  }
}

TEST(Stored, KnowsItsOwnersAndItsDeletion) {
  Json body = document("web");
  EXPECT_FALSE(stored(body)->is_deleting());
  EXPECT_EQ(stored(body)->owners_text(), "");
  EXPECT_EQ(stored(body)->owners(), Json());
  body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  body["metadata"]["ownerReferences"] = Json::parse(R"([{"kind":"A","uid":"u1"},{"uid":"u2"}])");
  EXPECT_TRUE(stored(body)->is_deleting());
  EXPECT_EQ(stored(body)->owners(), std::as_const(body).at({"metadata", "ownerReferences"}));
}

TEST(ParsedBodies, KeepsTheDocumentsOfTheLastBytesOfText) {
  ParsedBodies parsed(2 * stored(document("a"))->text().size());
  std::vector<StoredPtr> objects;
  for (const char* name : {"a", "b", "c", "d"}) {
    objects.push_back(stored(document(name)));
    parsed.add(objects.back(), document(name));
  }
  const auto kept = [&] {
    std::string out;
    for (const StoredPtr& object : objects) out += parsed.contains(object) ? object->name() : "";
    return out;
  };
  EXPECT_EQ(kept(), "abcd");
  parsed.trim();
  EXPECT_EQ(kept(), "cd");
  EXPECT_EQ(parsed.body(objects[0]), document("a"));
  EXPECT_EQ(parsed.body(objects[3]), document("d"));
  EXPECT_EQ(kept(), "acd");
  parsed.trim();
  EXPECT_EQ(kept(), "ad");
}

TEST(Stored, OutlivesItsStore) {
  StoredPtr object;
  {
    Store store(10, 1);
    object = store.put(store.collection("", "configmaps", true), document("web"));
    store.erase(store.collection("", "configmaps", true), "/web");
  }
  EXPECT_EQ(object->with_version(9)->part("metadata.resourceVersion"), Json("9"));
  EXPECT_EQ(object->with_version(9)->version(), 9U);
}

}  // namespace evenkeel::apiserver
