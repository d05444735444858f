// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/cache/object_store.hpp>

#include "objects.hpp"
#include "random_json.hpp"

namespace evenkeel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::object;
using tests::ObjectParts;

std::vector<std::string> names(const StoreSnapshot& snapshot) {
  std::vector<std::string> result;
  for (const WireObject& one : snapshot)
    result.push_back(one.key().str() + "@" + std::string(one.resource_version()));
  return result;
}

/// Formats "added a@1", "updated a@2", "deleted a@2?" (final state unknown).
std::vector<std::string> words(const std::vector<StoreDelta>& deltas) {
  static const char* const types[] = {"added ", "updated ", "deleted "};
  std::vector<std::string> result;
  for (const StoreDelta& delta : deltas) {
    result.push_back(types[static_cast<int>(delta.type)] + std::string(delta.object.name()) + "@" +
                     std::string(delta.object.resource_version()) + (delta.final_state_unknown ? "?" : ""));
  }
  return result;
}

TEST(ObjectStore, FindsAndListsInOrderOfNamespaceAndName) {
  ObjectStore store;
  for (const char* name : {"c", "a", "b"}) {
    store.apply(object({.name = name, .version = "1", .namespace_ = "two"}));
    store.apply(object({.name = name, .version = "2", .namespace_ = "one"}));
  }
  store.apply(object({.name = "x", .version = "3", .namespace_ = "one-more"}));
  EXPECT_THAT(names(store.snapshot()),
              ElementsAre("one/a@2", "one/b@2", "one/c@2", "one-more/x@3", "two/a@1", "two/b@1", "two/c@1"));
  EXPECT_EQ(store.find("two", "b").resource_version(), "1");
  EXPECT_FALSE(store.find("two", "x"));
  EXPECT_FALSE(store.find("", "b"));
  std::vector<std::string> one;
  const StoreSnapshot snapshot = store.snapshot();
  for (const WireObject& found : snapshot.in_namespace("one")) one.emplace_back(found.name());
  EXPECT_THAT(one, ElementsAre("a", "b", "c"));
  EXPECT_EQ(snapshot.in_namespace("none").begin(), snapshot.in_namespace("none").end());
}

TEST(ObjectStore, TellsWhatAChangeDid) {
  ObjectStore store;
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "5"}))), ElementsAre("added a@5"));
  const auto updated = store.apply(object({.name = "a", .version = "6"}));
  EXPECT_THAT(words(updated), ElementsAre("updated a@6"));
  EXPECT_EQ(updated[0].old.resource_version(), "5");
  const auto deleted = store.remove(object({.name = "a", .version = "9"}));
  EXPECT_THAT(words(deleted), ElementsAre("deleted a@9")) << "with the version at which it was gone";
  EXPECT_EQ(deleted[0].old.resource_version(), "6");
  EXPECT_THAT(words(store.remove(object({.name = "a", .version = "9"}))), IsEmpty());
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(store.bytes(), 0u);
}

TEST(ObjectStore, IgnoresWhatIsNotNewer) {
  ObjectStore store;
  store.apply(object({.name = "a", .version = "10"}));
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "10"}))), IsEmpty());
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "9"}))), IsEmpty());
  EXPECT_THAT(words(store.remove(object({.name = "a", .version = "9"}))), IsEmpty());
  EXPECT_EQ(store.find("default", "a").resource_version(), "10");
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "opaque"}))),
              ElementsAre("updated a@opaque"));
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "9"}))), ElementsAre("updated a@9"))
      << "what cannot be compared is taken in the order of arrival";
  EXPECT_THAT(words(store.apply(object({.name = "b", .version = ""}))), ElementsAre("added b@"));
  EXPECT_THAT(words(store.apply(object({.name = "b", .version = ""}))), ElementsAre("updated b@"));
}

TEST(ObjectStore, NoticesThatAnotherObjectTookTheName) {
  ObjectStore store;
  store.apply(object({.name = "a", .version = "5", .uid = "first"}));
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "4", .uid = "zeroth"}))), IsEmpty());
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "8", .uid = "second"}))),
              ElementsAre("deleted a@5?", "added a@8"));
  EXPECT_EQ(store.size(), 1u);
  EXPECT_THAT(words(store.remove(object({.name = "a", .version = "20", .uid = "third"}))),
              ElementsAre("deleted a@8?"))
      << "the third came and went unseen, so the second is gone, too";
}

TEST(ObjectStore, ReplacesEverythingAtOnceAndTellsTheDifference) {
  ObjectStore store;
  for (const char* name : {"a", "b", "c", "d", "e"}) store.apply(object({.name = name, .version = "5"}));
  const WireObject same = store.find("default", "b");
  const auto deltas =
      store.replace({object({.name = "f", .version = "9"}), object({.name = "b", .version = "5"}),
                     object({.name = "c", .version = "7"}), object({.name = "d", .version = "4"}),
                     object({.name = "e", .version = "8", .uid = "new"})});
  EXPECT_THAT(words(deltas), ElementsAre("deleted a@5?", "deleted e@5?", "updated c@7", "updated d@4",
                                         "added e@8", "added f@9"))
      << "deletions first; a list is right even where its versions go back";
  EXPECT_THAT(names(store.snapshot()),
              ElementsAre("default/b@5", "default/c@7", "default/d@4", "default/e@8", "default/f@9"));
  EXPECT_EQ(store.find("default", "b"), same) << "an object in the same state keeps its memory";
}

TEST(ObjectStore, TakesTheLastOfSeveralOfOneKey) {
  ObjectStore store;
  EXPECT_THAT(
      words(store.replace({object({.name = "a", .version = "1"}), object({.name = "b", .version = "1"}),
                           object({.name = "a", .version = "2"})})),
      ElementsAre("added a@2", "added b@1"));
  EXPECT_EQ(store.size(), 2u);
}

TEST(ObjectStore, FindsChildrenByOwner) {
  ObjectStore store;
  const auto children = [&store](const char* uid) {
    std::vector<std::string> result;
    for (const WireObject& one : store.by_owner(uid)) result.emplace_back(one.name());
    return result;
  };
  store.apply(object({.name = "b", .version = "1", .owners = {"x"}}));
  store.apply(object({.name = "a", .version = "2", .owners = {"x", "y"}}));
  EXPECT_THAT(children("x"), ElementsAre("a", "b"));
  EXPECT_THAT(children("y"), ElementsAre("a"));
  store.apply(object({.name = "a", .version = "3", .owners = {"y", "z"}}));
  EXPECT_THAT(children("x"), ElementsAre("b"));
  EXPECT_THAT(children("z"), ElementsAre("a"));
  EXPECT_EQ(store.by_owner("y")[0].resource_version(), "3");
  store.replace({object({.name = "a", .version = "3", .owners = {"y", "z"}}),
                 object({.name = "c", .version = "5", .owners = {"z"}})});
  EXPECT_THAT(children("x"), IsEmpty());
  EXPECT_THAT(children("z"), ElementsAre("a", "c"));
  store.remove(object({.name = "a", .version = "9"}));
  EXPECT_THAT(children("y"), IsEmpty());
  EXPECT_THAT(children(""), IsEmpty());
}

/// Returns the value of "data.v", which is the object's version.
std::string version_of(const WireObject& object) {
  return Json::parse(object.raw())["data"]["v"].as_string();
}

/// Returns "namespace/name@version" of each object.
std::vector<std::string> words(const std::vector<WireObject>& objects) {
  std::vector<std::string> result;
  for (const WireObject& one : objects)
    result.push_back(one.key().str() + "@" + std::string(one.resource_version()));
  return result;
}

/// The uids of the owners, as a program's own index.
IndexDefinition by_uids(std::string name = "uids") {
  return index_by<WireObject>(std::move(name), [](const WireObject& object) {
    std::vector<std::string> uids;
    for (const WireOwner& owner : object.owners()) uids.emplace_back(owner.uid);
    return uids;
  });
}

TEST(ObjectStoreIndex, FindsObjectsByEachOfTheirValues) {
  ObjectStore store;
  store.add_index(by_uids());
  store.apply(object({.name = "b", .version = "1", .owners = {"x", "x", ""}}));
  store.apply(object({.name = "a", .version = "2", .owners = {"y", "x"}}));
  store.apply(object({.name = "a", .version = "3", .namespace_ = "another", .owners = {"x"}}));
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("another/a@3", "default/a@2", "default/b@1"));
  EXPECT_THAT(words(store.by_index("uids", "y")), ElementsAre("default/a@2"));
  EXPECT_THAT(words(store.by_index("uids", "")), IsEmpty()) << "an empty value is no value";
  store.apply(object({.name = "a", .version = "4", .owners = {"y", "z"}}));
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("another/a@3", "default/b@1"));
  EXPECT_THAT(words(store.by_index("uids", "y")), ElementsAre("default/a@4"));
  EXPECT_THAT(words(store.by_index("uids", "z")), ElementsAre("default/a@4"));
  store.apply(object({.name = "a", .version = "8", .uid = "other", .owners = {"z"}}));
  EXPECT_THAT(words(store.by_index("uids", "y")), IsEmpty()) << "that was another object";
  EXPECT_THAT(words(store.by_index("uids", "z")), ElementsAre("default/a@8"));
  store.remove(object({.name = "b", .version = "9"}));
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("another/a@3"));
  store.replace({object({.name = "c", .version = "9", .owners = {"x"}})});
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("default/c@9"));
  EXPECT_THAT(words(store.by_index("uids", "z")), IsEmpty());
}

TEST(ObjectStoreIndex, TakesStringsOptionalStringsAndRanges) {
  ObjectStore store;
  store.add_index(index_by<WireObject>("text", [](const WireObject& one) { return one.name(); }));
  store.add_index(index_by<WireObject>("optional", [](const WireObject& one) -> std::optional<std::string> {
    if (one.name() == "b") return std::nullopt;
    return "present";
  }));
  store.add_index(index_by<WireObject>("range", [](const WireObject& one) {
    return std::set<std::optional<std::string>>{std::nullopt, "all", std::string(one.name()) + "!"};
  }));
  store.add_index(index_by<DynamicObject>(
      "typed", [](const DynamicObject& one) { return one["data"]["v"].as_string(); }));
  store.apply(object({.name = "b", .version = "1"}));
  store.apply(object({.name = "a", .version = "2"}));
  EXPECT_THAT(words(store.by_index("text", "b")), ElementsAre("default/b@1"));
  EXPECT_THAT(words(store.by_index("optional", "present")), ElementsAre("default/a@2"));
  EXPECT_THAT(words(store.by_index("range", "all")), ElementsAre("default/a@2", "default/b@1"));
  EXPECT_THAT(words(store.by_index("range", "a!")), ElementsAre("default/a@2"));
  EXPECT_THAT(words(store.by_index("typed", "1")), ElementsAre("default/b@1"));
}

TEST(ObjectStoreIndex, FindsByTheValueOfALabel) {
  ObjectStore store;
  store.add_index(index_by<WireObject>("app", label_index("app")));
  const auto labelled = [](const std::string& name, const std::string& labels) {
    return WireScanner().object(R"({"metadata":{"name":")" + name + R"(","namespace":"ns","labels":)" +
                                labels + "}}");
  };
  store.apply(labelled("a", R"({"app":"web"})"));
  store.apply(labelled("b", R"({"apps":"web"})"));
  store.apply(labelled("c", R"({"app":""})"));
  EXPECT_THAT(words(store.by_index("app", "web")), ElementsAre("ns/a@"));
}

TEST(ObjectStoreIndex, IndexesObjectsThatExist) {
  ObjectStore store;
  store.apply(object({.name = "a", .version = "1", .owners = {"x"}}));
  store.apply(object({.name = "b", .version = "2", .owners = {"x"}}));
  store.add_index(by_uids());
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("default/a@1", "default/b@2"));
  store.remove(object({.name = "a", .version = "9"}));
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("default/b@2"));
}

// Regression: the objects of the first replacement after an empty one were not in the index. The function
// makes the changes that another thread would make while it indexes the objects that exist.
TEST(ObjectStoreIndex, HasTheObjectsOfAReplacementOfAllWhileItWasBuilt) {
  ObjectStore store;
  store.apply(object({.name = "a", .version = "1"}));
  store.apply(object({.name = "b", .version = "2"}));
  bool begun = false;
  store.add_index(index_by<WireObject>("all", [&](const WireObject&) {
    if (!std::exchange(begun, true)) {
      store.replace({});
      store.replace({object({.name = "c", .version = "8"}), object({.name = "d", .version = "9"})});
    }
    return "x";
  }));
  EXPECT_THAT(words(store.by_index("all", "x")), ElementsAre("default/c@8", "default/d@9"));
  store.remove(object({.name = "c", .version = "10"}));
  store.apply(object({.name = "e", .version = "11"}));
  EXPECT_THAT(words(store.by_index("all", "x")), ElementsAre("default/d@9", "default/e@11"));
}

TEST(ObjectStoreIndex, ListsPagesInOrderWithinANamespace) {
  ObjectStore store;
  store.add_index(by_uids());
  std::vector<WireObject> objects;
  for (const char* space : {"one", "two", "two-more"}) {
    for (int i = 0; i < 300; ++i)
      objects.push_back(object({.name = "n" + std::to_string(1000 + i),
                                .version = "1",
                                .namespace_ = space,
                                .owners = {i % 2 == 0 ? "even" : "odd"}}));
  }
  store.replace(std::move(objects));
  std::vector<std::string> seen;
  std::size_t pages = 0;
  IndexListOptions options{.namespace_ = "two", .limit = 40};
  while (true) {
    const auto page = store.by_index("uids", "odd", options);
    if (page.empty()) break;
    ++pages;
    for (const std::string& word : words(page)) seen.push_back(word);
    options.after = page.back().key();
  }
  EXPECT_EQ(pages, 4u);
  EXPECT_EQ(seen.size(), 150u);
  EXPECT_EQ(seen, words(store.by_index("uids", "odd", {.namespace_ = "two"})));
  EXPECT_EQ(seen.front(), "two/n1001@1");
  EXPECT_THAT(words(store.by_index("uids", "odd", {.limit = 1, .after = ObjectKey{"one", "n1299"}})),
              ElementsAre("two/n1001@1"))
      << "all namespaces";
  EXPECT_THAT(words(store.by_index("uids", "odd",
                                   {.namespace_ = "one", .limit = 5, .after = ObjectKey{"two", "n1001"}})),
              IsEmpty());
  EXPECT_THAT(words(store.by_index("uids", "odd",
                                   {.namespace_ = "two", .limit = 1, .after = ObjectKey{"one", "n1001"}})),
              ElementsAre("two/n1001@1"));
}

TEST(ObjectStoreIndex, HasOwnWritesInEveryIndex) {
  ObjectStore store;
  store.add_index(by_uids());
  store.add_index(index_by<WireObject>("version", version_of));
  store.replace({object({.name = "a", .version = "5", .owners = {"x"}}),
                 object({.name = "b", .version = "6", .owners = {"x"}}),
                 object({.name = "c", .version = "7", .owners = {"x"}})});
  store.reached("10");
  store.written(object({.name = "a", .version = "11", .owners = {"y"}}));
  store.written(object({.name = "bb", .version = "12", .owners = {"x"}}));
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("default/b@6", "default/bb@12", "default/c@7"));
  EXPECT_THAT(words(store.by_index("uids", "y")), ElementsAre("default/a@11"));
  EXPECT_THAT(words(store.by_index("version", "5")), IsEmpty());
  EXPECT_THAT(words(store.by_index("version", "11")), ElementsAre("default/a@11"));
  EXPECT_THAT(words(store.by_index("uids", "x", {.limit = 2})), ElementsAre("default/b@6", "default/bb@12"))
      << "a page is full although an own write took an object from it";
  EXPECT_THAT(words(store.by_index("uids", "x", {.limit = 2, .after = ObjectKey{"default", "bb"}})),
              ElementsAre("default/c@7"));
  store.reached("13");
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("default/a@5", "default/b@6", "default/c@7"));
}

TEST(ObjectStoreIndex, ComputesTheValuesOnceForEachChange) {
  int calls = 0;
  ObjectStore store;
  store.add_index(index_by<WireObject>("name", [&calls](const WireObject& one) {
    ++calls;
    return one.name();
  }));
  store.replace({object({.name = "a", .version = "1"}), object({.name = "b", .version = "1"})});
  EXPECT_EQ(calls, 2);
  store.apply(object({.name = "a", .version = "2"}));
  EXPECT_EQ(calls, 3) << "the values of the old state are known";
  store.apply(object({.name = "a", .version = "2"}));
  store.remove(object({.name = "a", .version = "3"}));
  store.replace({object({.name = "b", .version = "1"})});
  store.by_index("name", "b");
  EXPECT_EQ(calls, 3) << "nothing has a new state";
}

TEST(ObjectStoreIndex, AFunctionThatThrowsLosesNoObject) {
  std::vector<std::string> failures;
  ObjectStore store({.on_index_failure = [&failures](const IndexFailure& failure) {
    failures.push_back(failure.index.name + " " + failure.object.key().str() + ": " +
                       std::string(failure.error));
  }});
  store.add_index(index_by<WireObject>("data", [](const WireObject& one) {
    if (version_of(one) == "2") throw std::runtime_error("no 2");
    return one.name();
  }));
  store.add_index(by_uids());
  store.apply(object({.name = "a", .version = "1", .owners = {"x"}}));
  EXPECT_THAT(words(store.by_index("data", "a")), ElementsAre("default/a@1"));
  EXPECT_THAT(words(store.apply(object({.name = "a", .version = "2", .owners = {"x"}}))),
              ElementsAre("updated a@2"));
  EXPECT_THAT(failures, ElementsAre("data default/a: no 2"));
  EXPECT_THAT(words(store.by_index("data", "a")), IsEmpty()) << "not the old state either";
  EXPECT_THAT(words(store.by_index("uids", "x")), ElementsAre("default/a@2")) << "other indexes have it";
  EXPECT_EQ(store.find("default", "a").resource_version(), "2");
  store.reached("2");
  store.written(object({.name = "a", .version = "3"}));
  EXPECT_THAT(words(store.by_index("data", "a")), ElementsAre("default/a@3"));
  store.apply(object({.name = "a", .version = "4"}));
  EXPECT_THAT(words(store.by_index("data", "a")), ElementsAre("default/a@4"));
  EXPECT_THAT(failures, SizeIs(1));
}

TEST(ObjectStoreIndex, RefusesAnotherFunctionUnderTheSameName) {
  ObjectStore store;
  const IndexDefinition definition = by_uids();
  store.add_index(definition);
  store.add_index(definition);
  store.add_index(by_uids());  // a lambda without captures is the same function wherever it comes from
  store.add_index(index_by<WireObject>("app", label_index("app")));
  store.add_index(index_by<WireObject>("app", label_index("app")));
  store.add_index(index_by<WireObject>("version", version_of));
  store.add_index(index_by<WireObject>("version", version_of));
  const auto refusal = [&store](IndexDefinition another) -> std::string {
    try {
      store.add_index(std::move(another));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(index_by<WireObject>("uids", version_of)),
            R"(there is an index "uids" with another function)");
  EXPECT_EQ(refusal(index_by<WireObject>("app", label_index("other"))),
            R"(there is an index "app" with another function)");
  EXPECT_THROW(index_by<WireObject>("", version_of), std::invalid_argument);
}

TEST(ObjectStoreIndex, NamesTheIndexesIfThereIsNoSuchOne) {
  ObjectStore store;
  const auto refusal = [&store](const char* name) -> std::string {
    try {
      store.by_index(name, "x");
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal("a"), R"(there is no index "a"; indexes: none)");
  store.add_index(by_uids("b"));
  store.add_index(by_uids("c"));
  EXPECT_EQ(refusal("a"), R"(there is no index "a"; indexes: "b", "c")");
  EXPECT_EQ(refusal(""), R"(there is no index ""; indexes: "b", "c")");
}

/// Compares an index with a scan of the store during random changes.
TEST(ObjectStoreIndex, AgreesWithAScanThroughRandomChanges) {
  tests::RandomJson random(tests::fresh_seed());
  ObjectStore store;
  ObjectStore scanned({.index_owners = false});
  store.add_index(by_uids());
  int version = 0;
  const auto random_object = [&] {
    std::vector<std::string> owners;
    for (std::size_t count = random.below(4); count > 0; --count)
      owners.push_back("o" + std::to_string(random.below(5)));
    return object({.name = "n" + std::to_string(random.below(400)),
                   .version = std::to_string(++version),
                   .namespace_ = "ns" + std::to_string(random.below(2)),
                   .owners = owners});
  };
  for (int step = 0; step < 6'000; ++step) {
    if (random.below(700) == 0) {
      std::vector<WireObject> objects;
      for (std::size_t count = random.below(600); count > 0; --count) objects.push_back(random_object());
      store.replace(objects);
      scanned.replace(objects);
    } else if (random.below(3) == 0) {
      const WireObject gone = random_object();
      store.remove(gone);
      scanned.remove(gone);
    } else {
      const WireObject one = random_object();
      store.apply(one);
      scanned.apply(one);
    }
    if (step == 3'000) store.add_index(by_uids("late"));
    if (step % 100 != 0) continue;
    for (int owner = 0; owner < 5; ++owner) {
      const std::string uid = "o" + std::to_string(owner);
      const auto expected = words(scanned.by_owner(uid));
      ASSERT_EQ(words(store.by_owner(uid)), expected);
      ASSERT_EQ(words(store.by_index("uids", uid)), expected);
      if (step >= 3'000) {
        ASSERT_EQ(words(store.by_index("late", uid)), expected);
      }
    }
  }
}

std::vector<std::string> listed(const ObjectStore& store) {
  std::vector<std::string> result;
  for (const WireObject& one : store.list())
    result.push_back(std::string(one.name()) + "@" + std::string(one.resource_version()));
  return result;
}

TEST(ObjectStore, GivesOwnWritesUntilTheServerHasPassedThem) {
  ObjectStore store;
  store.replace({object({.name = "a", .version = "5"}), object({.name = "c", .version = "6"})});
  store.reached("10");
  store.written(object({.name = "a", .version = "11"}));
  store.written(object({.name = "b", .version = "12", .owners = {"o"}}));
  store.written(object({.name = "c", .version = "9"}));  // delivered, or deleted, before
  EXPECT_THAT(listed(store), ElementsAre("a@11", "b@12", "c@6"));
  EXPECT_EQ(store.find("default", "a").resource_version(), "11");
  EXPECT_EQ(store.by_owner("o").size(), 1u);
  EXPECT_EQ(store.stored("default", "a").resource_version(), "5");
  EXPECT_EQ(store.snapshot().size(), 2u);
  store.apply(object({.name = "a", .version = "13"}));
  EXPECT_EQ(store.find("default", "a").resource_version(), "13") << "somebody else's newer state wins";
  store.reached("13");
  EXPECT_THAT(listed(store), ElementsAre("a@13", "c@6")) << "b was written and deleted since";
  EXPECT_THAT(store.by_owner("o"), IsEmpty());
}

TEST(ObjectStore, OwnWritesFollowSelectorsAndOrder) {
  ObjectStore store;
  store.replace({object({.name = "a", .version = "5", .namespace_ = "one", .owners = {"o"}})});
  store.reached("10");
  store.written(object({.name = "a", .version = "11", .namespace_ = "one"}));
  store.written(object({.name = "z", .version = "12", .namespace_ = "two"}));
  EXPECT_THAT(store.by_owner("o"), IsEmpty()) << "the owner was taken away by our write";
  EXPECT_EQ(store.list("one").size(), 1u);
  EXPECT_EQ(store.list("two").size(), 1u);
  EXPECT_THAT(
      store.list({},
                 [](const WireObject& one) { return one.name() == "a" && one.resource_version() == "5"; }),
      IsEmpty());
  store.written(object({.name = "z", .version = "opaque", .namespace_ = "two"}));
  EXPECT_EQ(store.find("two", "z").resource_version(), "12");
  store.reached("3");
  EXPECT_FALSE(store.find("two", "z")) << "a server that went back may not know our write";
}

TEST(ObjectStore, SnapshotsDoNotChange) {
  ObjectStore store;
  for (int i = 0; i < 1000; ++i) store.apply(object({.name = "n" + std::to_string(i), .version = "1"}));
  const StoreSnapshot before = store.snapshot();
  const std::vector<std::string> expected = names(before);
  for (int i = 0; i < 1000; i += 2) store.remove(object({.name = "n" + std::to_string(i), .version = "9"}));
  for (int i = 1; i < 1000; i += 2) store.apply(object({.name = "n" + std::to_string(i), .version = "2"}));
  store.apply(object({.name = "more", .version = "2"}));
  EXPECT_EQ(names(before), expected);
  EXPECT_EQ(before.size(), 1000u);
  EXPECT_EQ(store.size(), 501u);
}

/// Compares the store with a plain map during random changes, with snapshots taken in between.
TEST(ObjectStore, AgreesWithAMapThroughRandomChanges) {
  tests::RandomJson random(tests::fresh_seed());
  ObjectStore store;
  std::map<std::pair<std::string, std::string>, std::string> model;
  std::vector<std::pair<StoreSnapshot, std::vector<std::string>>> kept;
  int version = 0;
  const auto random_key = [&random] {
    return std::pair("ns" + std::to_string(random.below(3)), "n" + std::to_string(random.below(1500)));
  };
  const auto check = [&] {
    std::vector<std::string> expected;
    std::size_t bytes = 0;
    for (const auto& [key, at] : model) expected.push_back(key.first + "/" + key.second + "@" + at);
    const StoreSnapshot snapshot = store.snapshot();
    for (const WireObject& one : snapshot) bytes += one.bytes();
    ASSERT_EQ(names(snapshot), expected);
    ASSERT_EQ(snapshot.size(), expected.size());
    ASSERT_EQ(store.bytes(), bytes);
    if (kept.size() < 10) kept.emplace_back(snapshot, expected);
  };
  for (int step = 0; step < 20'000; ++step) {
    const auto [space, name] = random_key();
    const std::string at = std::to_string(++version);
    if (random.below(1000) == 0) {
      std::vector<WireObject> objects;
      model.clear();
      for (std::size_t count = random.below(2000); count > 0; --count) {
        const auto key = random_key();
        objects.push_back(object({.name = key.second, .version = at, .namespace_ = key.first}));
        model[key] = at;
      }
      store.replace(std::move(objects));
    } else if (random.below(100) < (step / 4000 % 2 == 0 ? 70u : 30u)) {
      store.apply(object({.name = name, .version = at, .namespace_ = space, .owners = {space}}));
      model[{space, name}] = at;
    } else {
      store.remove(object({.name = name, .version = at, .namespace_ = space}));
      model.erase({space, name});
    }
    if (step % 500 == 0) check();
    if (HasFatalFailure()) return;
  }
  check();
  for (const auto& [snapshot, expected] : kept) EXPECT_EQ(names(snapshot), expected);
}

TEST(ObjectStoreConcurrency, ReadersSeeWholeStatesOnly) {
  // Every state has the same number of objects, all of one version: a reader that sees a half-applied
  // replacement, or a changed leaf, finds something else.
  ObjectStore store;
  const auto state = [](int version) {
    std::vector<WireObject> objects;
    for (int i = 0; i < 300; ++i)
      objects.push_back(object({.name = "n" + std::to_string(i), .version = std::to_string(version)}));
    return objects;
  };
  store.replace(state(1));
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&store, &done] {
      while (!done) {
        const StoreSnapshot snapshot = store.snapshot();
        std::set<std::string> versions;
        std::size_t count = 0;
        for (const WireObject& one : snapshot) {
          versions.emplace(one.resource_version());
          ++count;
        }
        ASSERT_EQ(versions.size(), 1u);
        ASSERT_EQ(count, 300u);
        ASSERT_TRUE(snapshot.find("default", "n7"));
      }
    });
  }
  for (int version = 2; version < 60; ++version) store.replace(state(version));
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(ObjectStoreConcurrency, SnapshotsStayWholeWhileSingleObjectsChange) {
  ObjectStore store;
  for (int i = 0; i < 500; ++i)
    store.apply(object({.name = "n" + std::to_string(i), .version = "1", .owners = {"o"}}));
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&store, &done] {
      while (!done) {
        const StoreSnapshot snapshot = store.snapshot();
        std::size_t count = 0;
        std::string last;
        for (const WireObject& one : snapshot) {
          ASSERT_LT(last, one.name());
          last = one.name();
          ++count;
        }
        ASSERT_EQ(count, snapshot.size());
        store.by_owner("o");
        store.find("default", "n3");
      }
    });
  }
  for (int turn = 2; turn < 3000; ++turn) {
    const std::string name = "n" + std::to_string(turn * 7 % 600);
    if (turn % 3 == 0)
      store.remove(object({.name = name, .version = std::to_string(turn)}));
    else
      store.apply(object({.name = name, .version = std::to_string(turn), .owners = {"o"}}));
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(ObjectStoreIndexConcurrency, ReadersSeeEachChangeInTheIndexAtOnce) {
  // Each state has every object under exactly one of two values, all under the same one.
  ObjectStore store;
  store.add_index(by_uids());
  const auto state = [](int version) {
    std::vector<WireObject> objects;
    for (int i = 0; i < 200; ++i)
      objects.push_back(object({.name = "n" + std::to_string(i),
                                .version = std::to_string(version),
                                .owners = {version % 2 == 0 ? "even" : "odd"}}));
    return objects;
  };
  store.replace(state(1));
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&store, &done] {
      while (!done) {
        for (const char* value : {"even", "odd"}) {
          const auto found = store.by_index("uids", value);
          std::set<std::string> versions;
          for (const WireObject& one : found) versions.emplace(one.resource_version());
          ASSERT_TRUE(found.empty() || found.size() == 200u) << found.size();
          ASSERT_LE(versions.size(), 1u);
        }
      }
    });
  }
  for (int version = 2; version < 100; ++version) store.replace(state(version));
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(ObjectStoreIndexConcurrency, AnIndexAddedDuringChangesIsComplete) {
  ObjectStore store;
  std::vector<WireObject> objects;
  for (int i = 0; i < 1000; ++i)
    objects.push_back(object({.name = "n" + std::to_string(i), .version = "1", .owners = {"o"}}));
  store.replace(std::move(objects));
  std::atomic<bool> done = false;
  std::thread writer([&store, &done] {
    for (int turn = 2; !done; ++turn) {
      const std::string name = "n" + std::to_string(turn * 7 % 1200);
      if (turn % 3 == 0)
        store.remove(object({.name = name, .version = std::to_string(turn)}));
      else
        store.apply(object({.name = name, .version = std::to_string(turn), .owners = {"o"}}));
    }
  });
  for (int i = 0; i < 20; ++i) store.add_index(by_uids("index" + std::to_string(i)));
  done = true;
  writer.join();
  const auto expected = words(store.by_owner("o"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(words(store.by_index("index" + std::to_string(i), "o")), expected);
}

}  // namespace
}  // namespace evenkeel
