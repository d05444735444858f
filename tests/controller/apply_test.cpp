// SPDX-License-Identifier: Apache-2.0
// Applies of a reconciler that send nothing, that are refused, and that recreate the object.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/workqueue/key_table.hpp>

namespace evenkeel {
namespace {
namespace apply_options {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

const ObjectKey primary{"default", "web"};
const ObjectKey child{"default", "child"};
const std::string note = "applied.evenkeel.dev/evenkeel";

enum class Form { typed, dynamic };

// A controller of Secrets, each of which owns a ConfigMap "child" with the data that the test wants.
class ApplyTest : public ::testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    harness.create({Secret{.metadata = {.name = primary.name, .namespace_ = primary.namespace_}}});
    harness.add(controller_for<Secret>([this](Context& context, const Secret&) {
                  apply(context);
                }).owns<ConfigMap>());
  }
  void apply(Context& context) {
    if (context.key() != primary) return;
    ConfigMap map{.metadata = {.name = child.name}, .data = data, .immutable = immutable};
    if (GetParam() == Form::typed) {
      const auto applied = context.apply(map, options);
      EXPECT_THAT(applied->data, IsSupersetOf(data));
    } else {
      const auto applied = context.resource(ConfigMap::resource).apply(DynamicObject(to_tree(map)), options);
      EXPECT_THAT(applied->as<ConfigMap>().data, IsSupersetOf(data));
    }
  }
  // Runs the reconciler until it has settled once more, and returns its writes.
  std::vector<std::string> again() {
    const std::size_t before = harness.writes().size();
    harness.enqueue(primary);
    harness.settle();
    const std::vector<testing::Write>& all = harness.writes();
    return texts({all.begin() + static_cast<std::ptrdiff_t>(before), all.end()});
  }
  static std::vector<std::string> texts(const std::vector<testing::Write>& writes) {
    std::vector<std::string> lines;
    for (const testing::Write& write : writes)
      lines.push_back(write.verb + " " + write.resource + " " + std::to_string(write.status));
    return lines;
  }

  std::map<std::string, std::string> data{{"a", "1"}};
  std::optional<bool> immutable;
  ContextApplyOptions options{.skip_unchanged = true};
  testing::Harness harness{{.expect_failures = true}};
};
INSTANTIATE_TEST_SUITE_P(Forms, ApplyTest, ::testing::Values(Form::typed, Form::dynamic),
                         [](const auto& info) { return info.param == Form::typed ? "Typed" : "Dynamic"; });

TEST_P(ApplyTest, NothingIsSentIfNothingChanged) {
  harness.settle();
  ASSERT_THAT(harness.changes(), SizeIs(1)) << harness.str();
  EXPECT_THAT(again(), IsEmpty());
  data["a"] = "2";
  EXPECT_THAT(again(), ElementsAre("apply configmaps 200"));
  EXPECT_THAT(again(), IsEmpty());
}

TEST_P(ApplyTest, ARestartSendsNothing) {
  harness.settle();
  const std::size_t before = harness.writes().size();
  harness.restart();
  harness.settle();
  EXPECT_EQ(harness.writes().size(), before) << harness.str();
  EXPECT_THAT(harness.runs().size(), ::testing::Ge(2u));
}

TEST_P(ApplyTest, AFieldThatIsNoLongerAppliedIsRemoved) {
  data["b"] = "2";
  harness.settle();
  harness.edit<ConfigMap>(child, [](ConfigMap& map) { map.data["theirs"] = "3"; });
  data.erase("b");
  harness.enqueue(primary);
  harness.settle();
  const auto map = harness.get<ConfigMap>(child);
  EXPECT_FALSE(map->data.contains("b")) << harness.str();
  EXPECT_EQ(map->data.at("theirs"), "3");
}

TEST_P(ApplyTest, WhatOthersChangedIsAppliedAgain) {
  harness.settle();
  harness.edit<ConfigMap>(child, [](ConfigMap& map) { map.data["a"] = "theirs"; });
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "1");
  harness.edit<ConfigMap>(child, [](ConfigMap& map) { map.metadata.annotations.erase(note); });
  harness.settle();
  EXPECT_TRUE(harness.get<ConfigMap>(child)->metadata.annotations.contains(note));
  harness.remove<ConfigMap>(child);
  harness.settle();
  EXPECT_TRUE(harness.find<ConfigMap>(child));
}

TEST_P(ApplyTest, AFieldOfOthersIsLeftAlone) {
  harness.settle();
  const std::size_t before = harness.writes().size();
  harness.edit<ConfigMap>(child, [](ConfigMap& map) {
    map.data["theirs"] = "1";
    map.metadata.labels["team"] = "a";
    map.metadata.finalizers = {"other.example.com/hold"};
  });
  harness.settle();
  EXPECT_EQ(harness.writes().size(), before) << harness.str();
}

TEST_P(ApplyTest, AFailedApplyIsRepeated) {
  harness.inject({.verb = "patch", .resource = "configmaps", .count = 1, .status = 500});
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "1");
  EXPECT_THAT(again(), IsEmpty());
}

TEST_P(ApplyTest, AnObjectOfAnotherOwnerIsRefused) {
  harness.create({Secret{.metadata = {.name = "other", .namespace_ = "default"}}});
  ConfigMap theirs{.metadata = {.name = child.name, .namespace_ = "default"}, .data = {{"a", "theirs"}}};
  theirs.metadata.owner_references = {
      {.api_version = "v1", .kind = "Secret", .name = "other", .controller = true}};
  harness.create({theirs});
  harness.enqueue(primary);
  harness.run_for(1s);
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "theirs");
  const auto& run = harness.runs().back();
  EXPECT_THAT(run.outcome.message, HasSubstr("cannot control it: it is controlled by Secret "));
  EXPECT_THAT(harness.changes(), IsEmpty()) << harness.str();
}

TEST_P(ApplyTest, AnObjectWithoutOwnerIsAdoptedOrRefusedAsAsked) {
  harness.create(
      {ConfigMap{.metadata = {.name = child.name, .namespace_ = "default"}, .data = {{"a", "theirs"}}}});
  options.unowned = Unowned::refuse;
  harness.run_for(1s);
  EXPECT_EQ(harness.last().outcome.message,
            "apply ConfigMap default/child: Secret web cannot control it: it exists and has no controller");
  EXPECT_THAT(harness.writes(), IsEmpty());
  options.unowned = Unowned::adopt;
  harness.settle(1h);
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "1") << harness.str();
  ASSERT_THAT(harness.get<ConfigMap>(child)->metadata.owner_references, SizeIs(1));
}

TEST_P(ApplyTest, AnObjectThatLostItsOwnerIsStillOurs) {
  options.unowned = Unowned::refuse;
  harness.settle();
  harness.edit<ConfigMap>(child, [](ConfigMap& map) { map.metadata.owner_references.clear(); });
  harness.settle();
  EXPECT_THAT(harness.get<ConfigMap>(child)->metadata.owner_references, SizeIs(1)) << harness.str();
}

TEST_P(ApplyTest, AnImmutableFieldFailsUnlessTheObjectIsRecreated) {
  immutable = true;
  harness.settle();
  const std::string uid = harness.get<ConfigMap>(child)->metadata.uid;
  data["a"] = "2";
  harness.enqueue(primary);
  harness.run_for(1s);
  EXPECT_THAT(harness.last().outcome.message, HasSubstr("field is immutable when `immutable` is set"));
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "1");
  options.recreate_immutable = true;
  harness.settle(1h);
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "2") << harness.str();
  EXPECT_NE(harness.get<ConfigMap>(child)->metadata.uid, uid);
  EXPECT_THAT(again(), IsEmpty());
}

TEST_P(ApplyTest, AnObjectThatIsNotDeletedAtOnceIsRecreatedLater) {
  immutable = true;
  options.recreate_immutable = true;
  harness.settle();
  harness.edit<ConfigMap>(child,
                          [](ConfigMap& map) { map.metadata.finalizers = {"other.example.com/hold"}; });
  harness.settle();
  data["a"] = "2";
  harness.enqueue(primary);
  harness.run_for(1s);
  EXPECT_THAT(harness.last().outcome.message, HasSubstr("immutable"));
  EXPECT_TRUE(is_deleting(harness.get<ConfigMap>(child)->metadata));
  harness.edit<ConfigMap>(child, [](ConfigMap& map) { map.metadata.finalizers.clear(); });
  harness.settle(1h);
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "2") << harness.str();
}

TEST_P(ApplyTest, AnObjectOfNobodyIsNotDeletedToRecreateIt) {
  harness.create({ConfigMap{.metadata = {.name = child.name, .namespace_ = "default"},
                            .data = {{"a", "theirs"}},
                            .immutable = true}});
  options.recreate_immutable = true;
  harness.run_for(1s);
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "theirs") << harness.str();
  EXPECT_THAT(harness.last().outcome.message, HasSubstr("immutable"));
}

TEST_P(ApplyTest, WithoutOwnNothingIsDeletedToRecreateIt) {
  harness.create({ConfigMap{.metadata = {.name = child.name, .namespace_ = "default"},
                            .data = {{"a", "theirs"}},
                            .immutable = true}});
  options.own = false;
  options.recreate_immutable = true;
  harness.run_for(1s);
  EXPECT_EQ(harness.get<ConfigMap>(child)->data.at("a"), "theirs") << harness.str();
  EXPECT_THAT(harness.last().outcome.message, HasSubstr("immutable"));
}

TEST(ApplyMetric, CountsAppliesThatSentNothing) {
  testing::Harness harness;
  KeyTable keys;
  std::atomic<std::uint64_t> skipped{0};
  harness.create({Secret{.metadata = {.name = primary.name, .namespace_ = primary.namespace_}}});
  const auto secret = harness.client().get<Secret>(primary);
  for (int run = 0; run < 3; ++run) {
    Context context(
        {.client = harness.client(), .request = keys.intern(primary), .applies_skipped = &skipped});
    context.set_primary(std::make_unique<detail::PrimaryOf<Secret>>(secret));
    context.apply(ConfigMap{.metadata = {.name = child.name}, .data = {{"a", "1"}}},
                  {.skip_unchanged = true});
  }
  EXPECT_EQ(skipped, 2u);
}

}  // namespace apply_options
}  // namespace
}  // namespace evenkeel
