// SPDX-License-Identifier: Apache-2.0
#include "cache/object_transform.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/log.hpp>

namespace evenkeel::object_transform_tests {
namespace {

using ::testing::ElementsAre;

/// Keeps the level, the object and the error of each line.
class Lines final : public LogSink {
 public:
  bool enabled(LogLevel) const noexcept override { return true; }
  void write(LogLevel level, std::string_view, LogFields, LogFields fields) noexcept override {
    std::string line = level == LogLevel::error ? "error" : "other";
    for (const LogField& field : fields)
      line.append(" ").append(std::get<std::string_view>(field.value.get()));
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

class ObjectTransformTest : public ::testing::Test {
 protected:
  detail::ObjectTransform transform(std::function<void(Json&)> change) {
    return {{"", "v1", "ConfigMap", "configmaps"}, std::move(change), Log(log_)};
  }
  const std::shared_ptr<Lines> log_ = std::make_shared<Lines>();
};

TEST_F(ObjectTransformTest, ChangesAnObjectThatHasItsKind) {
  const auto drop = transform([](Json& object) {
    EXPECT_EQ(object["kind"].string_or(""), "ConfigMap");
    object.erase("data");
  });
  EXPECT_EQ(drop(R"({"metadata":{"name":"a"},"data":{"x":"y"}})"),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  EXPECT_THAT(log_->lines, ElementsAre());
}

TEST_F(ObjectTransformTest, LeavesAnObjectAsItIsIfTheFunctionThrows) {
  const auto fail = transform([](Json&) { throw std::runtime_error("no way"); });
  const std::string text = R"({"metadata":{"name":"a","namespace":"default"}})";
  EXPECT_EQ(fail(text), text);
  EXPECT_EQ(fail(text), text);
  EXPECT_THAT(log_->lines,
              ElementsAre("error ConfigMap default/a no way", "other ConfigMap default/a no way"));
}

TEST_F(ObjectTransformTest, LeavesAnObjectAsItIsIfItsIdentityChanged) {
  const std::string text = R"({"metadata":{"name":"a","resourceVersion":"7","uid":"u","namespace":"n"}})";
  for (const char* member : {"name", "resourceVersion", "uid", "namespace"}) {
    const auto change = transform([member](Json& object) { object["metadata"][member] = "other"; });
    EXPECT_EQ(change(text), text) << member;
  }
  EXPECT_EQ(transform([](Json& object) { object = Json("gone"); })(text), text);
}

TEST_F(ObjectTransformTest, LeavesWhatIsNoObjectToTheReader) {
  const auto touch = transform([](Json& object) { object["x"] = 1; });
  for (const char* text : {"", "5", "[1]", "{\"a\":", "null"}) EXPECT_EQ(touch(text), text);
}

}  // namespace
}  // namespace evenkeel::object_transform_tests
