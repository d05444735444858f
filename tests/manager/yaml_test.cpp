// SPDX-License-Identifier: Apache-2.0
#include "manager/yaml.hpp"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using detail::to_yaml;

TEST(Yaml, WritesBlocks) {
  const Json document =
      Json::parse(R"({"apiVersion": "v1", "items": [{"name": "a", "ports": [1, 2]}, "x", [3, [4]]],
                                       "metadata": {"labels": {}, "list": []}, "n": null, "yes": true})");
  EXPECT_EQ(to_yaml(document), R"(apiVersion: v1
items:
- name: a
  ports:
  - 1
  - 2
- x
- - 3
  - - 4
metadata:
  labels: {}
  list: []
"n": null
"yes": true
)");
}

TEST(Yaml, QuotesWhatWouldBeReadAsSomethingElse) {
  for (const char* text : {"true", "Yes", "off", "null", "~", "1", "1.5", "0x10", "", "a: b", "a #b", "- a",
                           "a\nb", "@a", "{a", "*a", "trailing ", "2026-01-01", "\xC3\xBC"}) {
    EXPECT_EQ(to_yaml(Json::object({{"k", text}})), "k: " + Json(text).dump() + "\n") << text;
  }
  for (const char* text :
       {"demos.demo.evenkeel.dev", "apiextensions.k8s.io/v1", "how many, at most", "readyReplicas"}) {
    EXPECT_EQ(to_yaml(Json::object({{"k", text}})), std::string("k: ") + text + "\n") << text;
  }
}

TEST(Yaml, ABareScalarIsADocument) {
  EXPECT_EQ(to_yaml(Json("web")), "web\n");
  EXPECT_EQ(to_yaml(Json::array()), "[]\n");
}

}  // namespace
}  // namespace evenkeel
