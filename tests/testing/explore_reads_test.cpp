// SPDX-License-Identifier: Apache-2.0
// Plans that hide what nobody reads: the core that decides, and explorations.
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore_store.hpp"
#include "explore_traces.hpp"
#include "testing/explore/enumerator.hpp"
#include "testing/explore/noticed_changes.hpp"

namespace evenkeel::testing::detail {
namespace explore_reads {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- NoticedChanges

Json state(const std::string& image, const std::string& owner = "") {
  Json made = pod("1", image);
  if (!owner.empty())
    made["metadata"]["ownerReferences"] = Json::array({Json::object({{"kind", "Store"}, {"name", owner}})});
  return made;
}

Json leaving(Json state) {
  state["metadata"]["deletionTimestamp"] = Json("2026-01-01T00:00:00Z");
  return state;
}

TracedWrite change_of(Json before, Json after) {
  TracedWrite made = write_of(edit, std::move(before), std::move(after));
  made.key = {"default", "web"};
  return made;
}

const TracedWrite creates_stranger = change_of({}, state("a"));
const TracedWrite edits_stranger = change_of(state("a"), state("b"));
const TracedWrite creates_owned = change_of({}, state("a", "main"));
const TracedWrite edits_owned = change_of(state("a", "main"), state("b", "main"));
const TracedWrite adopts = change_of(state("a"), state("a", "main"));
const TracedWrite removes = change_of(state("a"), {});
const TracedWrite begins_to_remove = change_of(state("a"), leaving(state("a")));
const TracedWrite removes_at_last = change_of(leaving(state("a")), {});

struct Case {
  std::string name;
  WatchedKinds kinds;
  TracedReads reads;
  TracedWrite change;
  bool event;  // it is noticed if it comes late
  bool state;  // if it is not there at a restart
};

const WatchedKinds owned{{"pods", {.is_owned = true}}};
const WatchedKinds primary{{"pods", {.is_primary = true}}};
const WatchedKinds examined{{"pods", {.is_examined = true, .is_owned = true}}};

std::vector<Case> cases() {
  const TracedReads by_key{.objects = {{"pods", {"default", "web"}}}};
  const TracedReads of_another{.objects = {{"pods", {"default", "db"}}, {"nodes", {"default", "web"}}}};
  const TracedReads list{.lists = {{"pods", "default"}}};
  const TracedReads list_of_all{.lists = {{"pods", ""}}};
  const TracedReads other_list{.lists = {{"pods", "other"}, {"nodes", ""}}};
  return {
      {"a kind that no cache holds", {}, by_key, edits_stranger, false, false},
      {"an object that nobody reads or owns", owned, {}, edits_stranger, false, false},
      {"its creation", owned, {}, creates_stranger, false, false},
      {"a read by key, also of an absent object", owned, by_key, creates_stranger, true, true},
      {"a read of another object", owned, of_another, edits_stranger, false, false},
      {"a list of its namespace", owned, list, edits_stranger, true, true},
      {"a list of all namespaces", owned, list_of_all, edits_stranger, true, true},
      {"lists of others", owned, other_list, edits_stranger, false, false},
      {"a predicate or a mapping", examined, {}, edits_stranger, true, true},
      {"a change that wakes the owner only", owned, {}, edits_owned, true, false},
      {"a creation that names an owner", owned, {}, creates_owned, true, true},
      {"an adoption", owned, {}, adopts, true, true},
      {"a change that wakes its own key only", primary, {}, edits_stranger, true, false},
      {"a creation of a key", primary, {}, creates_stranger, true, true},
      {"a removal", {}, {}, removes, true, true},
      {"the begin of a removal", {}, {}, begins_to_remove, true, true},
      {"the end of a removal", {}, {}, removes_at_last, true, true},
  };
}

TEST(NoticedChanges, TellsWhichChangesAreNoticed) {
  for (const Case& one : cases()) {
    const NoticedChanges noticed(one.reads, one.kinds);
    EXPECT_EQ(noticed.is_event_noticed(one.change), one.event) << one.name;
    EXPECT_EQ(noticed.is_state_noticed(one.change), one.state) << one.name;
  }
}

TEST(NoticedChanges, TakesFunctionsOfTheProgramForReads) {
  const auto nothing = [](Context&, const Store&) {};
  const auto kinds_of = [](const ControllerSpec& spec) {
    WatchedKinds kinds;
    add_watches(spec, kinds);
    return kinds;
  };
  const std::string stores = "stores.test.evenkeel.dev";
  const auto plain = kinds_of(controller_for<Store>(nothing).owns<ConfigMap>());
  EXPECT_TRUE(plain.at(stores).is_primary);
  EXPECT_FALSE(plain.at(stores).is_examined);
  EXPECT_TRUE(plain.at("configmaps").is_owned);
  EXPECT_FALSE(plain.at("configmaps").is_examined);

  const auto one_filtered =
      kinds_of(controller_for<Store>(nothing).owns<ConfigMap>({.when = generation_changed()}));
  EXPECT_TRUE(one_filtered.at("configmaps").is_examined);
  EXPECT_FALSE(one_filtered.at(stores).is_examined);

  const auto all_filtered =
      kinds_of(controller_for<Store>(nothing).owns<ConfigMap>().filter(generation_changed()));
  EXPECT_TRUE(all_filtered.at(stores).is_examined);

  const auto mapped = kinds_of(
      controller_for<Store>(nothing).watches<ConfigMap>([](const WireObject& map) { return map.key(); }));
  EXPECT_TRUE(mapped.at("configmaps").is_examined);
  EXPECT_FALSE(mapped.at(stores).is_examined);

  const auto by_cache = kinds_of(controller_for<Store>(nothing).watches<ConfigMap>(
      [](const WireObject& map, const Cache&) { return map.key(); }));
  EXPECT_TRUE(by_cache.at(stores).is_examined);

  const auto timed = kinds_of(controller_for<Store>(nothing).owns<ConfigMap>().every(std::chrono::hours{1}));
  EXPECT_TRUE(timed.at(stores).is_examined);
  EXPECT_TRUE(timed.at("configmaps").is_examined);
}

// ---- Enumerator

TracedWrite of_pod(const std::string& verb, const std::string& name, Json before, Json after) {
  TracedWrite made =
      write_of("workload: " + verb + " pods default/" + name, std::move(before), std::move(after));
  made.object = "pods default/" + name;
  made.key = {"default", name};
  return made;
}

// The Pod "web" is read, and "db" is not.
Trace trace_of_two() {
  Trace trace{{of_pod("create", "web", {}, state("a")), of_pod("create", "db", {}, state("a")),
               of_pod("patch", "db", state("a"), state("b")), of_pod("edit", "db", state("b"), state("a")),
               of_pod("patch", "web", state("a"), state("b"))}};
  for (std::size_t at = 0; at < trace.writes.size(); ++at) trace.writes[at].idles = at;
  trace.reads.objects.emplace("pods", ObjectKey{"default", "web"});
  return trace;
}

TEST(EnumeratorReads, LeavesOutPlansThatHideWhatNobodyReads) {
  const Plans plans = enumerate(trace_of_two(), owned, {});
  const auto lines = texts(plans.plans);
  EXPECT_THAT(lines, Contains("restart after workload: patch pods default/web with the cache as before "
                              "workload: create pods default/web"));
  EXPECT_THAT(lines, Contains(HasSubstr("events of pods from workload: create pods default/web on wait")));
  EXPECT_THAT(lines, Each(Not(HasSubstr("events of pods from workload: patch pods default/db"))));
  EXPECT_THAT(lines, Each(Not(HasSubstr("as before workload: patch pods default/db"))));
  EXPECT_THAT(lines, Each(Not(HasSubstr("as before workload: create pods default/db"))));
  EXPECT_GT(plans.unread, 0u);
  EXPECT_LE(plans.unread, plans.pruned);
  EXPECT_EQ(enumerate(trace_of_two(), owned, {.scope = ExploreScope::all}).unread, 0u);
}

TEST(EnumeratorReads, LeavesOutNothingIfAllIsRead) {
  EXPECT_EQ(enumerate(trace_of_two(), examined, {}).unread, 0u);
  Trace listed = trace_of_two();
  listed.reads.lists.emplace("pods", "default");
  EXPECT_EQ(enumerate(listed, owned, {}).unread, 0u);
}

// The restart that hides the changes of "db" as well as those of "web" has no plan that hides the latter
// only: in the middle of the changes of "web", it is none that tells anything by itself.
TEST(EnumeratorReads, KeepsAPlanThatHidesMoreThanAnother) {
  Trace trace{{of_pod("create", "db", {}, state("a")), of_pod("create", "web", {}, state("a")),
               of_pod("patch", "web", state("a"), state("b")), of_pod("patch", "db", state("a"), state("b")),
               of_pod("edit", "web", state("b"), state("c")), of_pod("create", "last", {}, state("a"))}};
  trace.reads.objects.emplace("pods", ObjectKey{"default", "web"});
  const auto lines = texts(enumerate(trace, owned, {}).plans);
  EXPECT_THAT(lines, Contains("restart after workload: patch pods default/db with the cache as before "
                              "workload: create pods default/db"));
  EXPECT_THAT(lines, Each(Not("restart after workload: create pods default/last with the cache as before "
                              "workload: create pods default/db")));
}

TEST(EnumeratorReads, KeepsAWindowInWhichSomethingElseIsRead) {
  Trace trace = trace_of_two();
  const std::string late =
      "events of pods from workload: edit pods default/db on wait until nothing is left "
      "to do at that time, then arrive in order";
  EXPECT_THAT(texts(enumerate(trace, owned, {}).plans), Not(Contains(late)));
  trace.writes[4].idles = trace.writes[3].idles;  // the next change comes at once
  EXPECT_THAT(texts(enumerate(trace, owned, {}).plans), Contains(late));
}

// The server may delete Pods because of it.
TEST(EnumeratorReads, KeepsPlansThatHideADeletion) {
  Trace trace{{of_pod("create", "db", {}, state("a")), of_pod("delete", "db", state("a"), {})}};
  trace.writes[0].idles = 1;
  trace.writes[1].idles = 2;
  const auto lines = texts(enumerate(trace, owned, {}).plans);
  EXPECT_THAT(lines, Contains(HasSubstr("restart after workload: delete pods default/db")));
  EXPECT_THAT(lines, Contains(HasSubstr("until right after workload: delete pods default/db")));
}

// ---- Explorations

void write_notes(Harness& cluster) {
  const ObjectKey notes{"default", "notes"};
  cluster.create({data_map("notes", {{"text", "a"}})});
  cluster.settle();
  cluster.edit<ConfigMap>(notes, [](ConfigMap& map) { map.data["text"] = "b"; });
  cluster.settle();
  cluster.edit<ConfigMap>(notes, [](ConfigMap& map) { map.data["text"] = "a"; });
  cluster.settle();
}

void edit_store(Harness& cluster) {
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.image = "store:2"; });
  cluster.settle();
}

void create_store(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
}

void update_store(Harness& cluster) {
  create_store(cluster);
  edit_store(cluster);
}

void update_store_with_notes(Harness& cluster) {
  create_store(cluster);
  write_notes(cluster);
  edit_store(cluster);
}

void apply_data(Context& context, const Store& store) {
  context.apply(data_map("main-data", {{"image", store.spec.image}}));
}

ControllerSpec data_controller() {
  return controller_for<Store>(apply_data).owns<ConfigMap>();
}

TEST(ExploreReads, SpendsNoPlanOnAnObjectThatNobodyReads) {
  const Exploration without = explore(data_controller, update_store);
  const Exploration with = explore(data_controller, update_store_with_notes);
  EXPECT_TRUE(with.ok()) << with.describe();
  EXPECT_EQ(with.plans_run, without.plans_run);
  EXPECT_GT(with.plans_unread, without.plans_unread);
  EXPECT_THAT(with.describe(), HasSubstr(" were pruned, " + std::to_string(with.plans_unread) +
                                         " of them because nobody reads what they hide. Runs"));
  const Exploration all = explore(data_controller, update_store_with_notes, {.scope = ExploreScope::all});
  EXPECT_EQ(all.plans_unread, 0u);
  EXPECT_EQ(all.plans_run, with.plans_run + with.plans_pruned);
}

TEST(ExploreReads, EachKindOfReadCounts) {
  using Read = void (*)(Context&, const Store&);
  const std::vector<std::pair<std::string, Read>> reads{
      {"a key",
       [](Context& context, const Store&) {
         context.find<ConfigMap>({"default", "notes"});
       }},
      {"a key, without a type",
       [](Context& context, const Store&) {
         context.resource(ConfigMap::resource).find({"default", "notes"});
       }},
      {"a list", [](Context& context, const Store&) { context.list<ConfigMap>({.namespace_ = "default"}); }},
      {"a list of all namespaces", [](Context& context, const Store&) { context.list<ConfigMap>(); }},
      {"an owner", [](Context& context, const Store& store) { context.owned_by<ConfigMap>(store); }},
      {"an index", [](Context& context, const Store&) { context.list<ConfigMap>(by("text", "other")); }},
  };
  const Exploration without = explore(data_controller, update_store_with_notes);
  for (const auto& [name, read] : reads) {
    const auto make = [read = read] {
      return ControllerSpec(controller_for<Store>([read](Context& context, const Store& store) {
                              read(context, store);
                              apply_data(context, store);
                            })
                                .owns<ConfigMap>()
                                .index<ConfigMap>("text", [](const ConfigMap& map) {
                                  const auto found = map.data.find("text");
                                  return found == map.data.end() ? std::string() : found->second;
                                }));
    };
    const Exploration result = explore(make, update_store_with_notes);
    EXPECT_TRUE(result.ok()) << name << ": " << result.describe();
    EXPECT_GE(result.plans_run, without.plans_run + 5) << name;
  }
}

// Does nothing while there is a map that forbids it. In the reference, no run that reads it writes.
Result grow_unless_paused(Context& context, const Store& store) {
  if (context.find<ConfigMap>({"default", "pause"})) return done();
  if (store.spec.replicas > 1) apply_data(context, store);
  return done();
}

void pause_and_grow(Harness& cluster) {
  create_store(cluster);
  cluster.create({data_map("pause")});
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.replicas = 2; });
  cluster.settle();
}

TEST(ExploreReads, AGuardThatEndsARunIsARead) {
  const auto make = [] {
    return ControllerSpec(controller_for<Store>(grow_unless_paused).owns<ConfigMap>());
  };
  const Exploration result = explore(make, pause_and_grow);
  EXPECT_EQ(result.reference_writes, 0u);
  EXPECT_EQ(result.plans_unread, 0u);
  ASSERT_FALSE(result.findings.empty()) << result.describe();
  EXPECT_EQ(result.findings[0].plan,
            (Plan{{withhold("configmaps", {.from = {"workload: create configmaps default/pause"}},
                            WithheldDelivery::late)}}));
  EXPECT_EQ(result.findings[0].problems[0].text,
            "configmaps default/main-data exists at the end, but not in the reference");
}

// Reads another map only before there is one.
Result adopt_or_make(Context& context, const Store& store) {
  if (store.status.initialized) return done();
  if (!context.find<ConfigMap>({"default", "notes"})) apply_data(context, store);
  context.patch_status(store, [](StoreStatus& status) { status.initialized = true; });
  return done();
}

Result make_always(Context& context, const Store& store) {
  if (store.status.initialized) return done();
  apply_data(context, store);
  context.patch_status(store, [](StoreStatus& status) { status.initialized = true; });
  return done();
}

TEST(ExploreReads, AnObjectThatWasNotThereIsRead) {
  const auto explored = [](Result (*reconcile)(Context&, const Store&)) {
    return explore([reconcile] { return ControllerSpec(controller_for<Store>(reconcile).owns<ConfigMap>()); },
                   update_store_with_notes);
  };
  const Exploration reads = explored(adopt_or_make);
  const Exploration does_not = explored(make_always);
  EXPECT_GT(reads.plans_run, does_not.plans_run);
  EXPECT_GT(does_not.plans_unread, reads.plans_unread);
}

}  // namespace explore_reads
}  // namespace evenkeel::testing::detail
