// SPDX-License-Identifier: Apache-2.0
// The operator of docs/operations-testing.md.
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/operations.hpp>

#include "../support/repository.hpp"

namespace operations_document {

namespace ek = evenkeel;

struct TableSpec {
  int replicas = 1;
  std::string image = "table:1";
};
EVENKEEL_FIELDS(TableSpec, (replicas, ek::minimum(0), ek::maximum(5)), (image, ek::pattern("^[a-z0-9.:-]+$")))

struct Table {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.evenkeel.dev", .version = "v1", .kind = "Table", .plural = "tables"};
  ek::ObjectMeta metadata = {};
  TableSpec spec = {};
};
EVENKEEL_FIELDS(Table, metadata, spec)

ek::Result reconcile(ek::Context& context, const Table& table) {
  for (int at = 0; at < table.spec.replicas; ++at) {
    const std::string name = table.metadata.name + "-" + std::to_string(at);
    if (context.find<ek::Pod>({table.metadata.namespace_, name})) continue;
    ek::Pod pod{.metadata = {.name = name}};
    pod.spec.containers = {{.name = "table", .image = table.spec.image}};
    context.apply(pod);
  }
  return ek::done();
}

ek::ControllerSpec table_controller() {
  return ek::controller_for<Table>(reconcile).owns<ek::Pod>();
}

const Table oak{.metadata = {.name = "oak", .namespace_ = "default"}, .spec = {.replicas = 1}};

ek::Result repaired(ek::Context& context, const Table& table) {
  for (int at = 0; at < table.spec.replicas; ++at) {
    ek::Pod pod{.metadata = {.name = table.metadata.name + "-" + std::to_string(at)}};
    pod.spec.containers = {{.name = "table", .image = table.spec.image}};
    context.apply(pod);
  }
  const std::size_t first = table.metadata.name.size() + 1;
  for (const auto& pod : context.owned_by<ek::Pod>(table)) {
    if (std::stoi(pod->metadata.name.substr(first)) >= table.spec.replicas)
      context.remove<ek::Pod>(ek::key_of(*pod));
  }
  return ek::done();
}

ek::ControllerSpec repaired_controller() {
  return ek::controller_for<Table>(repaired).owns<ek::Pod>();
}

std::string page() {
  return evenkeel::tests::read_repository_file("docs/operations-testing.md");
}

TEST(OperationsDocument, ShowsTheOutputOfItsOperator) {
  const auto result = ek::testing::operations(table_controller, oak, {.max_findings = 1});
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(Table, TakesEveryChange) {
  const ek::testing::Operations result = ek::testing::operations(repaired_controller, oak);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

void pods_become_ready(ek::testing::Harness& cluster) {
  for (const auto& pod : cluster.list<ek::Pod>()) {
    if (pod->status.phase == "Running") continue;
    cluster.edit_status<ek::Pod>(ek::key_of(*pod), [](auto& status) { status.phase = "Running"; });
  }
}

TEST(Table, TakesEveryChangeOfRunningPods) {
  const auto result = ek::testing::operations(
      repaired_controller, oak,
      {.environment = pods_become_ready,
       .values = {{"spec.image",
                   {.valid = {R"("table:2")", R"("table:3-slim")"}, .wrong = {R"("Table:1")"}}}},
       .untouched = {"spec.replicas"}});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.refused, 1u) << result.describe();
}

// ---- Options and errors

std::string refusal_of(const ek::testing::OperationsOptions& options) {
  try {
    ek::testing::operations(repaired_controller, oak, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Operations, RefusesOptionsOutOfRange) {
  EXPECT_EQ(refusal_of({.limit = {}}), "operations: OperationsOptions::limit must be > 0");
  EXPECT_EQ(refusal_of({.values_per_property = 0}),
            "operations: OperationsOptions::values_per_property must be > 0");
  EXPECT_EQ(refusal_of({.changes = {{.path = "spec..image", .value = "1"}}}),
            "operations: the path \"spec..image\" has an empty name");
  EXPECT_EQ(refusal_of({.changes = {{.path = "spec.image", .value = "table"}}}),
            "operations: the value of spec.image: parse error at line 1, column 2: syntax error while "
            "parsing value "
            "- invalid literal");
  EXPECT_EQ(
      refusal_of({.values = {{"spec.legs", {.valid = {"4"}}}}}),
      "operations: OperationsOptions::values has spec.legs, which is no property of Table that is changed; "
      "list items have the index 0");
}

TEST(Operations, ReportsAGivenChangeOfNothing) {
  const auto result = ek::testing::operations(
      repaired_controller, oak, {.changes = {ek::testing::set_property("spec.image", R"("table:1")")}});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].problems[0].kind, ek::testing::OperationProblemKind::not_reached);
}

TEST(Operations, LimitsTheNumberOfChanges) {
  const auto result = ek::testing::operations(repaired_controller, oak, {.max_changes = 2});
  EXPECT_EQ(result.changes, 2u);
  EXPECT_GT(result.left_out, 0u);
  EXPECT_THAT(result.describe(), ::testing::HasSubstr("Changes left out: "));
}

TEST(Operations, ThrowsTheRefusalOfTheObject) {
  Table bad = oak;
  bad.spec.replicas = 6;
  EXPECT_THROW(ek::testing::operations(repaired_controller, bad), ek::ApiError);
}

TEST(Operations, RefusesAnObjectWithWhichTheOperatorFails) {
  const auto failing = [] {
    return ek::controller_for<Table>(
        [](ek::Context&, const Table&) -> ek::Result { throw std::runtime_error("there is no wood"); });
  };
  const auto result = ek::testing::operations(failing, oak);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.describe(),
            "operations: the given object has problems, so nothing was changed:\n"
            "   reconciles of the given object fail: there is no wood\n");
}

TEST(PropertyChange, IsCode) {
  using namespace ek::testing;
  EXPECT_EQ(set_property("spec.replicas", "3").code(), R"(ek::testing::set_property("spec.replicas", "3"))");
  EXPECT_EQ(set_wrong("spec.image", "\"a\"").code(), "ek::testing::set_wrong(\"spec.image\", R\"(\"a\")\")");
  EXPECT_EQ(remove_property("spec.a[\"b.c\"]").code(),
            "ek::testing::remove_property(R\"(spec.a[\"b.c\"])\")");
}

}  // namespace operations_document
