// SPDX-License-Identifier: Apache-2.0
// The objects of a manifest in all its forms, and their creation.
#include "apiserver/shell/manifest.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace evenkeel::apiserver {
namespace {

/// Returns the names of the objects, or the error.
std::string names_in(std::string_view manifest) {
  try {
    std::string out;
    for (const ManifestObject& object : read_manifest(manifest)) {
      out += (out.empty() ? "" : " ") + object_text(object);
      EXPECT_EQ(Json::parse(object.text).at({"metadata", "name"}).string_or(""), object.name);
    }
    return out;
  } catch (const DecodeError& error) {
    return error.what();
  }
}

}  // namespace

TEST(Manifest, HasTheObjectsOfEveryForm) {
  for (
      const char* text : {
          "kind: A\nmetadata:\n  name: a\n---\n# nothing\n---\nkind: B\nmetadata: {name: b}\n",
          "kind: A\nmetadata:\n  name: a\n--- \n{\"kind\": \"B\", \"metadata\": {\"name\": \"b\"}}\n---\n",
          R"( {"kind": "List", "items": [{"kind": "A", "metadata": {"name": "a"}} , {"kind": "B", "metadata": {"name": "b"}}]} )",
          R"({"items": [{"kind": "A", "metadata": {"name": "a"}}, {"kind": "B", "metadata": {"name": "b"}}],
              "metadata": {"x": "}"}, "kind": "ThingList"})",
          "items:\n- kind: A\n  metadata:\n    name: a\n- kind: B\n  metadata:\n    name: b\nkind: List\n",
          "kind: List\nitems:\n- kind: A\n  metadata: {name: a}\n- kind: B\n  metadata:\n    name: b\n",
      })
    EXPECT_EQ(names_in(text), "A/a B/b") << text;
  EXPECT_EQ(names_in(R"({"kind": "List", "items": []})"), "");
  EXPECT_EQ(names_in(R"({"kind": "List"})"), "");
  EXPECT_EQ(names_in("kind: List\n"), "");
  EXPECT_EQ(names_in(""), "");
}

TEST(Manifest, KeepsTheItemsOfOtherKinds) {
  for (const char* text : {"items:\n- a\n- b\nkind: Basket\nmetadata:\n  name: a\n",
                           R"({"items": ["a", "b"], "kind": "Basket", "metadata": {"name": "a"}})"}) {
    const std::vector<ManifestObject> objects = read_manifest(text);
    ASSERT_EQ(objects.size(), 1U) << text;
    EXPECT_EQ(objects[0].text, R"({"items":["a","b"],"kind":"Basket","metadata":{"name":"a"}})");
  }
}

TEST(Manifest, RefusesMalformedDocuments) {
  EXPECT_EQ(names_in("kind: A\n b: c\n"), "yaml: line 2: illegal map value");
  for (const char* text : {
           R"({"kind": "List", "items": [{"kind": "A"}, {"kind": ]})",
           R"({"kind": "List", "items": [{"kind": "A"} {"kind": "B"}]})",
           R"({"kind": "List", "items": [{"kind": "A"}]} x)",
           R"({"kind": "List" "items": []})",
       })
    EXPECT_TRUE(names_in(text).starts_with("yaml: line 1: ")) << names_in(text);
}

TEST(Manifest, LooksUpEachPlaceOnce) {
  std::string log;
  ObjectCreator creator([&](const http::Request& request) -> http::Response {
    log += std::string(http::method_name(request.method)) + " " + request.target + "\n";
    if (request.method == http::Method::get)
      return {200, {}, R"({"resources": [{"name": "as/status", "kind": "A", "namespaced": true},
                          {"name": "as", "kind": "A", "namespaced": true}, {"name": "bs", "kind": "B"}]})"};
    if (request.body.find("taken") != std::string::npos) return {409, {}, R"({"reason": "AlreadyExists"})"};
    return {request.body.find("bad") != std::string::npos ? 422 : 201, {}, R"({"message": "no"})"};
  });
  for (const ManifestObject& object : read_manifest(R"({"kind": "List", "items": [
      {"apiVersion": "x/v1", "kind": "A", "metadata": {"name": "one", "namespace": "n"}},
      {"apiVersion": "x/v1", "kind": "A", "metadata": {"name": "taken"}},
      {"apiVersion": "v1", "kind": "B", "metadata": {"name": "two"}}]})"))
    creator.create(object);
  EXPECT_EQ(log,
            "GET /apis/x/v1\nPOST /apis/x/v1/namespaces/n/as\nPOST /apis/x/v1/namespaces/default/as\n"
            "GET /api/v1\nPOST /api/v1/bs\n");
  const auto refused = [&](const char* manifest) -> std::string {
    try {
      creator.create(read_manifest(manifest).at(0));
    } catch (const Error& error) {
      return error.what();
    }
    return "created";
  };
  EXPECT_EQ(refused(R"({"apiVersion": "v1", "kind": "B", "metadata": {"name": "bad"}})"), "B/bad: no");
  EXPECT_EQ(refused(R"({"apiVersion": "v1", "kind": "C", "metadata": {"name": "c"}})"),
            "C/c: the server knows no kind C in \"v1\"");
}

}  // namespace evenkeel::apiserver
