// SPDX-License-Identifier: Apache-2.0
// Custom resources as they are read back, and what else a real server does with them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class CustomObjectsTest : public CoreFixture {
 protected:
  /// Returns version v1 with these properties of the object, and more members.
  static std::string version(const std::string& properties, const std::string& more = "") {
    return R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",)"
           R"("properties":)" +
           properties + "}}" + (more.empty() ? "" : "," + more) + "}";
  }
  static Json ship_with(const std::string& spec) {
    Json out = ship("a");
    out["spec"] = Json::parse(spec);
    return out;
  }
  /// Returns the causes of an answer as "reason field: message", one per line.
  static std::string causes_of(const CoreReply& reply) {
    std::string out;
    const Json& causes = reply.body.at({"details", "causes"});
    for (std::size_t i = 0; i < causes.size(); ++i)
      out += causes[i]["reason"].string_or("") + " " + causes[i]["field"].string_or("") + ": " +
             causes[i]["message"].string_or("") + "\n";
    return out;
  }
  static std::vector<std::string> warnings_of(const CoreReply& reply) {
    std::vector<std::string> out;
    for (const auto& [name, value] : reply.headers)
      if (name == "Warning") out.push_back(value);
    return out;
  }
};

// Regression: strict decoding refused, and others lost, the members of maps in lists below untyped fields.
TEST_F(CustomObjectsTest, KeepListsBelowUntypedFields) {
  install_ships(version(R"({"spec":{"type":"object","properties":{)"
                        R"("any":{"x-kubernetes-preserve-unknown-fields":true}}}})"));
  const std::string spec = R"({"any":[{"k":"v"},[{"k":[{"l":1}]}]]})";
  const CoreReply made = post(ships + "?fieldValidation=Strict", ship_with(spec));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made["spec"], Json::parse(spec));
  EXPECT_EQ(put(ships + "/a?fieldValidation=Strict", made.body)["spec"], Json::parse(spec));
  EXPECT_EQ(merge(ships + "/a?fieldValidation=Strict", R"({"spec":{"any":[{"b":[{"c":1}]}]}})")["spec"],
            Json::parse(R"({"any":[{"b":[{"c":1}]}]})"));
  EXPECT_EQ(apply(ships + "/b?fieldManager=m&fieldValidation=Strict",
                  R"({"apiVersion":"example.com/v1","kind":"Ship","metadata":{"name":"b"},"spec":)" + spec +
                      "}")["spec"],
            Json::parse(spec));
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
