// SPDX-License-Identifier: Apache-2.0
// Reads, writes and limits; conflicts and lost answers are in store_suite_conflicts.cpp.
#include "store_suite.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <variant>

#include "../support/await.hpp"

namespace evenkeel::tests {

using coordination::Commit;
using coordination::Committed;
using coordination::Entry;
using coordination::key_of;
using coordination::KeyRange;
using coordination::Limits;
using coordination::prefix_of;
using coordination::prefix_range;
using coordination::ScanPage;
using coordination::Store;
using coordination::TooLarge;
using coordination::Version;

using Texts = std::vector<std::string>;

std::string StoreSuite::fresh_root() {
  std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ranges::replace(name, '/', '-');
  return "/suite/" + name;
}

std::vector<std::string> StoreSuite::keys(std::string_view prefix, int count) const {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    all.push_back(key(std::string(prefix) + std::string(5 - number.size(), '0') + number));
  }
  return all;
}

std::string StoreSuite::contents(Store& store) const {
  std::string text;
  const std::string prefix = key("");
  for (const Entry& entry : store.snapshot()->scan_all(prefix_range(prefix))) {
    text += (text.empty() ? "" : " ") + entry.key.substr(prefix.size()) + "=" + entry.value;
  }
  return text;
}

Version StoreSuite::put(std::string_view unit, std::string_view value) const {
  const auto result = commit({.puts = {{key(unit), std::string(value)}}});
  const auto* committed = std::get_if<Committed>(&result);
  if (committed == nullptr) throw std::runtime_error(describe(result));
  return committed->version;
}

TEST_P(StoreSuite, BeginsEmpty) {
  const auto snapshot = store_->snapshot();
  EXPECT_FALSE(snapshot->get(key("a")));
  const ScanPage page = snapshot->scan(all());
  EXPECT_TRUE(page.entries.empty());
  EXPECT_EQ(page.next, "");
  EXPECT_NE(store_->name(), "");
}

TEST_P(StoreSuite, ShowsACommitWithItsVersion) {
  const auto result = commit({.puts = {{key("a"), "1"}, {key("b"), ""}}});
  ASSERT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  const Version version = std::get<Committed>(result).version;
  EXPECT_GT(version, 0u);
  const auto snapshot = second_client()->snapshot();
  EXPECT_EQ(snapshot->get(key("a")), (Entry{key("a"), "1", version}));
  EXPECT_EQ(snapshot->get(key("b")), (Entry{key("b"), "", version})) << "an empty value is not absent";
  EXPECT_EQ(snapshot->scan_all(all()),
            (std::vector<Entry>{{key("a"), "1", version}, {key("b"), "", version}}));
}

TEST_P(StoreSuite, VersionsOnlyGrow) {
  const Version first = put("a", "1");
  const Version other = put("b", "1");
  const Version again = put("a", "1");
  EXPECT_LT(first, other);
  EXPECT_LT(other, again);
  EXPECT_EQ(store_->snapshot()->get(key("a"))->version, again) << "the same value, written anew";
  EXPECT_EQ(store_->snapshot()->get(key("b"))->version, other) << "what is not written keeps its version";
  commit({.erases = {key("a")}});
  EXPECT_FALSE(store_->snapshot()->get(key("a")));
  EXPECT_GT(put("a", "1"), again) << "a member that comes back is another member";
}

TEST_P(StoreSuite, KeepsAnyBytes) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const Texts units = {
      std::string("a\0b", 3), "a b", "a%b", "a\nb", "a\xff", "a", "\xff\x02", "ä", "", every};
  Commit wanted;
  for (const std::string& unit : units) {
    if (!unit.empty()) wanted.puts.push_back({key(unit), unit + every});
  }
  wanted.puts.push_back({key("blank"), " "});
  wanted.puts.push_back({key("lines"), "\n \t\n"});
  ASSERT_TRUE(std::holds_alternative<Committed>(commit(wanted)));
  std::ranges::sort(wanted.puts, {}, &Commit::Put::key);
  const auto entries = second_client()->snapshot()->scan_all(all());
  ASSERT_EQ(entries.size(), wanted.puts.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].key, wanted.puts[i].key) << "in the order of bytes";
    EXPECT_EQ(entries[i].value, wanted.puts[i].value);
  }
}

TEST_P(StoreSuite, ScansFromBeginToBeforeEnd) {
  commit({.puts = {{key("a"), "1"}, {key("b"), "2"}, {key("c"), "3"}, {key("d"), "4"}}});
  const auto snapshot = store_->snapshot();
  const auto scanned = [&](const KeyRange& range) {
    Texts units;
    for (const Entry& entry : snapshot->scan_all(range)) units.push_back(entry.key.substr(key("").size()));
    return units;
  };
  EXPECT_EQ(scanned({key("b"), key("d")}), (Texts{"b", "c"}));
  EXPECT_EQ(scanned({key("aa"), key("cc")}), (Texts{"b", "c"}));
  EXPECT_EQ(scanned({key("b"), key("b")}), Texts());
  EXPECT_EQ(scanned({key("c"), prefix_range(key("")).end}), (Texts{"c", "d"}));
}

// 'separate scopes'
TEST_P(StoreSuite, ScansOfAScopeSeeNoOther) {
  for (const char* scope : {"dc1", "dc10", "dc", "dc1/a", "primary", "primary-sat"}) {
    const auto result = commit({.puts = {{key_of(root_, {"pendingForRestart", scope, "log-1"}), scope}}});
    ASSERT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  }
  const auto snapshot = store_->snapshot();
  for (const char* scope : {"dc1", "dc10", "dc", "dc1/a", "primary", "primary-sat"}) {
    const auto seen = snapshot->scan_all(prefix_range(prefix_of(root_, {"pendingForRestart", scope})));
    ASSERT_EQ(seen.size(), 1u) << scope;
    EXPECT_EQ(seen[0].value, scope);
  }
  EXPECT_EQ(snapshot->scan_all(prefix_range(prefix_of(root_, {"pendingForRestart"}))).size(), 6u);
}

TEST_P(StoreSuite, NeverEndsAScanSilently) {
  const Texts names = keys("k", 300);
  for (std::size_t at = 0; at < names.size(); at += 100) {
    Commit wanted;
    for (std::size_t i = at; i < at + 100; ++i) wanted.puts.push_back({names[i], "v"});
    ASSERT_TRUE(std::holds_alternative<Committed>(commit(wanted)));
  }
  const auto snapshot = store_->snapshot();
  Texts seen;
  KeyRange rest = all();
  for (int page_number = 0;; ++page_number) {
    ASSERT_LE(page_number, 300);
    const ScanPage page = snapshot->scan(rest, 7);
    EXPECT_LE(page.entries.size(), 7u);
    for (const Entry& entry : page.entries) seen.push_back(entry.key);
    if (page.next.empty()) break;
    rest.begin = page.next;
  }
  EXPECT_EQ(seen, names);
  EXPECT_EQ(snapshot->scan_all(all()).size(), 300u);
}

TEST_P(StoreSuite, ASnapshotStaysAsItWas) {
  const bool stays = store_->capabilities().snapshot_scan;
  put("a", "1");
  put("b", "1");
  const auto snapshot = store_->snapshot();
  commit({.puts = {{key("a"), "2"}, {key("c"), "2"}}, .erases = {key("b")}});
  const auto a = snapshot->get(key("a"));
  const auto entries = snapshot->scan_all(all());
  ASSERT_TRUE(a);
  if (stays) {
    EXPECT_EQ(a->value, "1");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[1].key, key("b"));
    EXPECT_FALSE(snapshot->get(key("c")));
  }
  EXPECT_EQ(contents(), "a=2 c=2") << "a new one shows what is";
  EXPECT_GE(store_->snapshot()->version(), snapshot->version());
}

TEST_P(StoreSuite, SaysThatASnapshotWasForgotten) {
  put("a", "1");
  const auto snapshot = store_->snapshot();
  put("a", "2");
  if (!GetParam().forget) {
    EXPECT_TRUE(snapshot->get(key("a"))) << "this one keeps what it has read";
    return;
  }
  GetParam().forget(*store_);
  EXPECT_THROW(snapshot->get(key("a")), coordination::SnapshotExpired);
  EXPECT_THROW(snapshot->scan_all(all()), coordination::SnapshotExpired);
  EXPECT_EQ(contents(), "a=2");
}

TEST_P(StoreSuite, ErasesKeysAndRanges) {
  commit({.puts = {{key("a"), ""}, {key("b"), ""}, {key("c"), ""}, {key("d"), ""}, {key("e"), ""}}});
  commit({.erases = {key("a"), key("absent")}, .range_erases = {{key("b"), key("d")}}});
  EXPECT_EQ(contents(), "d= e=");
  commit({.range_erases = {{key(""), prefix_range(key("")).end}}});
  EXPECT_EQ(contents(), "");
}

// The normal form; stores accept any form.
TEST_P(StoreSuite, HasOneFinalOperationForEachKey) {
  commit({.puts = {{key("a"), "1"}, {key("b"), "1"}, {key("c"), "1"}}});
  const auto result = commit({.puts = {{key("b"), "2"}, {key("n"), "1"}, {key("n"), "2"}},
                              .erases = {key("b"), key("n"), key("c"), key("c")},
                              .range_erases = {{key("a"), key("c")}, {key("b"), key("bb")}}});
  ASSERT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  EXPECT_EQ(contents(), "b=2 n=2");
}

TEST_P(StoreSuite, RefusesWhatHasNoSense) {
  EXPECT_THROW(commit({.puts = {{"", "1"}}}), std::invalid_argument);
  EXPECT_THROW(commit({.range_erases = {{key("b"), key("a")}}}), std::invalid_argument);
  const Commit two_shards{.puts = {{key("a"), "1"}, {key_of(root_, {"set", "dc2", "a"}), "1"}}};
  if (store_->capabilities().multi_key_atomic) {
    EXPECT_TRUE(std::holds_alternative<Committed>(commit(two_shards)));
  } else {
    EXPECT_THROW(commit(two_shards), std::invalid_argument);
    EXPECT_TRUE(store_->snapshot()->scan_all(all()).empty());
  }
}

TEST_P(StoreSuite, TakesWhatItsLimitsAllowAndNoMore) {
  const Limits limits = store_->limits();
  const auto refused = [this](const Commit& wanted) {
    const auto result = commit(wanted);
    const auto* large = std::get_if<TooLarge>(&result);
    EXPECT_EQ(contents(), "") << "nothing of it was applied";
    return large == nullptr ? describe(result) : large->limit;
  };
  if (limits.value_bytes != 0) {
    EXPECT_EQ(refused({.puts = {{key("v"), std::string(limits.value_bytes + 1, 'x')}}}), "value_bytes");
  }
  if (limits.key_bytes != 0) {
    const std::string longest = key(std::string(limits.key_bytes - key("").size(), 'k'));
    EXPECT_EQ(refused({.puts = {{longest + "k", ""}}}), "key_bytes");
    EXPECT_TRUE(std::holds_alternative<Committed>(commit({.puts = {{longest, ""}}})));
    commit({.erases = {longest}});
  }
  const int most = limits.operations == 0 ? 600 : static_cast<int>(limits.operations);
  Commit wanted;
  for (const std::string& name : keys("k", most)) wanted.puts.push_back({name, "v"});
  const Commit fits = wanted;
  if (limits.operations != 0) {
    wanted.puts.push_back({key("one more"), "v"});
    EXPECT_EQ(refused(wanted), "operations");
  }
  const auto result = commit(fits);
  EXPECT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  EXPECT_EQ(store_->snapshot()->scan_all(all()).size(), static_cast<std::size_t>(most));
}

// One large instance: 200 groups in all sets.
TEST_P(StoreSuite, TakesThePublishOfTwoHundredGroups) {
  constexpr int groups = 200;
  Commit wanted;
  for (const std::string set : {"pendingForRemoval", "pendingForExclusion", "readyForExclusion",
                                "pendingForInclusion", "pendingForRestart", "readyForRestart"}) {
    for (int i = 0; i < groups; ++i) {
      wanted.puts.push_back({key_of(root_, {set, "dc1", "dc1-storage-" + std::to_string(i)}),
                             R"({"at":1790000000,"kind":"storage"})"});
    }
    wanted.puts.push_back({key_of(root_, {"guard", set, "dc1"}), ""});
  }
  const Limits limits = store_->limits();
  const auto result = commit(wanted);
  if (coordination::broken_limit(limits, normalise(wanted))) {
    EXPECT_TRUE(std::holds_alternative<TooLarge>(result)) << describe(result);
    return;
  }
  ASSERT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  EXPECT_EQ(store_->snapshot()->scan_all(all()).size(), wanted.puts.size());
}

TEST_P(StoreSuite, IsStoppedBeforeItBegins) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(store_->snapshot(stop.get_token())->get(key("a")), Cancelled);
  const auto result = store_->commit({.puts = {{key("a"), "1"}}}, stop.get_token());
  const bool unavailable = std::holds_alternative<coordination::Unavailable>(result);
  EXPECT_TRUE(unavailable || std::holds_alternative<coordination::Unknown>(result)) << describe(result);
  if (unavailable) {
    EXPECT_EQ(contents(), "");
  }
}

// 'no answer, no action': an unreachable store is not an empty store, and a commit that was never sent is not
// Unknown.
TEST_P(StoreSuite, IsUnavailableWhereNobodyAnswers) {
  const auto store = GetParam().open_unreachable(root_);
  EXPECT_THROW(store->snapshot()->get(key("a")), coordination::StoreUnavailable);
  const auto result = store->commit({.reads = {{key("a"), 0}}, .puts = {{key("a"), "1"}}});
  EXPECT_TRUE(std::holds_alternative<coordination::Unavailable>(result)) << describe(result);
}

TEST_P(StoreSuite, HintsThatSomethingChanged) {
  std::atomic<int> hints = 0;
  auto watch = store_->watch(prefix_range(key("")), [&hints] { ++hints; });
  if (!store_->capabilities().watch) {
    EXPECT_EQ(watch, nullptr);
    return;
  }
  ASSERT_NE(watch, nullptr);
  const auto other = second_client();
  // A watch may begin after watch() has returned, so the key is written again until the first hint.
  int written = 0;
  const auto write_until = [&](int wanted) {
    await("a hint of the store " + store_->name(), [&] {
      other->commit({.puts = {{key("a"), std::to_string(++written)}}});
      return hints >= wanted;
    });
  };
  write_until(1);
  write_until(hints + 1);
  watch.reset();
  const int then = hints;
  other->commit({.puts = {{key("a"), "last"}}});
  EXPECT_EQ(hints, then) << "after its end it runs no more";
}

}  // namespace evenkeel::tests
