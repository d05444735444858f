// SPDX-License-Identifier: Apache-2.0
// The effects that the answers of writes tell.
#include "cache/write_answer.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::write_answer_tests {
namespace {

using http::Method;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

RestRequest pod(Method method, std::string name = "web", std::string subresource = "",
                std::string body = "") {
  return {.method = method,
          .resource = {"", "v1", "Pod", "pods"},
          .namespace_ = "default",
          .name = std::move(name),
          .subresource = std::move(subresource),
          .body = std::move(body)};
}

/// Formats each effect: "removed default/web uid=u version=7", "written default/web".
std::vector<std::string> read(const RestRequest& request, int status, const std::string& body) {
  static const char* const kinds[] = {"written", "removed", "changed", "outdated",
                                      "ending",  "absent",  "present", "unknown"};
  const detail::WriteAnswer answer = detail::read_answer({request, status, body});
  std::vector<std::string> result;
  for (const auto& [effect, text] : answer.facts) {
    std::string line = kinds[static_cast<int>(effect.kind)];
    line += " " + effect.namespace_ + "/" + effect.name;
    if (!effect.uid.empty()) line += " uid=" + effect.uid;
    if (!effect.version.empty()) line += " version=" + effect.version;
    EXPECT_EQ(text, effect.kind == WriteEffect::Kind::written ? body : "");
    result.push_back(std::move(line));
  }
  if (answer.of_collection) result.emplace_back("of a collection");
  return result;
}

std::string with(const std::string& metadata, const std::string& kind = "Pod") {
  return R"({"kind":")" + kind +
         R"(","apiVersion":"v1","metadata":{"name":"web","namespace":"default","uid":"u","resourceVersion":"7")" +
         (metadata.empty() ? "" : "," + metadata) + R"(},"spec":{}})";
}

const char* const ending = R"("deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0)";
const char* const in_grace = R"("deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)";

TEST(WriteAnswer, OfAWriteIsTheObject) {
  EXPECT_THAT(read(pod(Method::post, ""), 201, with("")), ElementsAre("written default/web"));
  EXPECT_THAT(read(pod(Method::put), 200, with("")), ElementsAre("written default/web"));
  EXPECT_THAT(read(pod(Method::patch, "web", "status"), 200, with("")), ElementsAre("written default/web"));
}

TEST(WriteAnswer, OfADeletionIsTheStateThatIsLeft) {
  EXPECT_THAT(read(pod(Method::delete_), 200, with(in_grace)), ElementsAre("written default/web"));
  EXPECT_THAT(read(pod(Method::delete_), 200, with(std::string(ending) + R"(,"finalizers":["x"])")),
              ElementsAre("written default/web"));
  EXPECT_THAT(read(pod(Method::delete_), 200, with(ending)),
              ElementsAre("removed default/web uid=u version=7"));
  EXPECT_THAT(read(pod(Method::delete_), 200, with(R"("finalizers":[])")),
              ElementsAre("removed default/web uid=u version=7"))
      << "the last state of a kind that is deleted without delay";
  EXPECT_THAT(
      read(pod(Method::delete_), 200,
           R"({"kind":"Status","metadata":{},"status":"Success","details":{"name":"web","uid":"u"}})"),
      ElementsAre("removed default/web uid=u"));
  EXPECT_THAT(read(pod(Method::delete_), 200, R"({"kind":"Status","status":"Success"})"),
              ElementsAre("ending default/web"));
}

TEST(WriteAnswer, OfTheUpdateThatRemovesTheLastFinalizerIsARemoval) {
  EXPECT_THAT(read(pod(Method::patch), 200, with(ending)),
              ElementsAre("removed default/web uid=u version=7"));
  EXPECT_THAT(read(pod(Method::put), 200, with(in_grace)), ElementsAre("written default/web"));
}

TEST(WriteAnswer, ANamespaceStaysWhileItHasContent) {
  RestRequest request{
      .method = Method::delete_, .resource = {"", "v1", "Namespace", "namespaces"}, .name = "n"};
  const std::string body =
      R"({"kind":"Namespace","metadata":{"name":"n","uid":"u","resourceVersion":"7",)"
      R"("deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"finalizers":["kubernetes"]}})";
  EXPECT_THAT(read(request, 200, body), ElementsAre("written /n"));
}

TEST(WriteAnswer, OfAnotherKindTellsTheVersionOnly) {
  EXPECT_THAT(read(pod(Method::patch, "web", "scale"), 200, with("", "Scale")),
              ElementsAre("changed default/web version=7"));
  EXPECT_THAT(read(pod(Method::patch), 200, with("", "PartialObjectMetadata")),
              ElementsAre("changed default/web version=7"));
}

TEST(WriteAnswer, OfAnEvictionTellsThatThePodEnds) {
  const char* const status = R"({"kind":"Status","status":"Success"})";
  EXPECT_THAT(read(pod(Method::post, "web", "eviction"), 201, status), ElementsAre("ending default/web"));
  EXPECT_THAT(read(pod(Method::post, "web", "eviction",
                       R"({"kind":"Eviction","deleteOptions":{"preconditions":{"uid":"p"}}})"),
                   201, status),
              ElementsAre("ending default/web uid=p"));
  EXPECT_THAT(read(pod(Method::post, "web", "binding"), 201, status), ElementsAre("outdated default/web"));
  EXPECT_THAT(read(pod(Method::post, "web", "token"), 201, with("", "TokenRequest")), IsEmpty());
}

TEST(WriteAnswer, OfACollectionTellsItsObjects) {
  const std::string list =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" + with("") + "]}";
  EXPECT_THAT(read(pod(Method::delete_, ""), 200, list), ElementsAre("ending default/web uid=u"));
  EXPECT_THAT(read(pod(Method::delete_, ""), 200, R"({"kind":"Status"})"), ElementsAre("of a collection"));
  EXPECT_THAT(read(pod(Method::delete_, ""), 500, ""), ElementsAre("of a collection"));
  EXPECT_THAT(read(pod(Method::delete_, ""), 0, ""), ElementsAre("of a collection"));
}

TEST(WriteAnswer, OfARefusalTellsWhatIsOutOfDate) {
  const char* const conflict = R"({"kind":"Status","reason":"Conflict"})";
  const char* const exists = R"({"kind":"Status","reason":"AlreadyExists"})";
  EXPECT_THAT(read(pod(Method::put, "web", "", with("")), 409, conflict),
              ElementsAre("outdated default/web version=7"));
  EXPECT_THAT(read(pod(Method::patch, "web", "", R"({"spec":{}})"), 409, conflict), IsEmpty())
      << "a conflict of field owners";
  EXPECT_THAT(read(pod(Method::post, "", "", with("")), 409, exists), ElementsAre("present default/web"));
  EXPECT_THAT(read(pod(Method::post, "", "", "{}"), 409, exists), IsEmpty());
  EXPECT_THAT(read(pod(Method::delete_), 404, "{}"), ElementsAre("absent default/web"));
  EXPECT_THAT(read(pod(Method::post, ""), 404, "{}"), IsEmpty());
}

TEST(WriteAnswer, OfALostWriteTellsTheName) {
  EXPECT_THAT(read(pod(Method::patch), 0, ""), ElementsAre("unknown default/web"));
  EXPECT_THAT(read(pod(Method::patch), 504, "{}"), ElementsAre("unknown default/web"));
  EXPECT_THAT(read(pod(Method::post, "", "", with("")), 0, ""), ElementsAre("unknown default/web"));
  EXPECT_THAT(read(pod(Method::post, "", "", R"({"metadata":{"generateName":"web-"}})"), 0, ""), IsEmpty());
}

TEST(WriteAnswer, OfAnythingElseTellsNothing) {
  for (const char* body :
       {"", "{", "[]", "<html>", R"({"kind":8})", R"({"metadata":[]})",
        R"({"metadata":{"name":"web","uid":"u"}})", R"({"metadata":{"resourceVersion":7}})"})
    EXPECT_THAT(read(pod(Method::put), 200, body), IsEmpty()) << body;
}

std::string address(const std::string& path) {
  const RestRequest found = detail::addressed({.method = Method::put, .path = path});
  const ResourceId& resource = found.resource;
  return resource.group + "|" + resource.version + "|" + resource.plural + "|" + found.namespace_ + "|" +
         found.name + "|" + found.subresource;
}

TEST(WriteAnswer, APathIsReadAsAResource) {
  EXPECT_EQ(address("/api/v1/namespaces/default/pods/web/status?x=/y"), "|v1|pods|default|web|status");
  EXPECT_EQ(address("/apis/apps/v1/namespaces/default/deployments"), "apps|v1|deployments|default||");
  EXPECT_EQ(address("/api/v1/nodes/one"), "|v1|nodes||one|");
  EXPECT_EQ(address("/api/v1/namespaces/default"), "|v1|namespaces||default|");
  EXPECT_EQ(address("/api/v1/namespaces/default/finalize"), "|v1|namespaces||default|finalize");
  for (const char* path : {"/version", "/", "/api", "/apis/apps/v1", "relative"})
    EXPECT_EQ(address(path), "|||||") << path;
}

}  // namespace
}  // namespace evenkeel::write_answer_tests
