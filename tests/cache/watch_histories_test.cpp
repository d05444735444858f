// SPDX-License-Identifier: Apache-2.0
// Histories of watches that real servers have delivered because of bugs of etcd, played to an informer in
// virtual time: https://github.com/etcd-io/etcd/issues/ 15220, 15271, 17529, 18089 and 19179. The state of an
// object never goes back, nothing is reported twice, and what the server never sent is made good by the next
// list. client-go's Reflector behaves alike where nothing else is said; its stores take older states.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cache/informer.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "objects.hpp"
#include "scripted_source.hpp"

namespace evenkeel::watch_histories_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::bookmark;
using tests::frame;
using tests::list_of;
using tests::Notes;
using tests::ObjectParts;
using tests::ScriptedSource;

using Lines = std::vector<std::string>;

constexpr const char* expired = R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                                "\n";

/// An informer that works on the test's thread, and its server, which the test plays.
class Played {
 public:
  explicit Played(bool streaming_list = false)
      : informer_({.resource = {"", "v1", "ConfigMap", "configmaps"},
                   .source = source_,
                   .runner = runner_,
                   .log = {}},
                  {.reflector = {.streaming_list = streaming_list, .random = [] { return 0.0; }}}) {
    informer_.add_handler(notes_, {.delivery = Delivery::direct});
    informer_.start();
    runner_->pump();
  }
  Played(const Played&) = delete;
  Played& operator=(const Played&) = delete;

  /// Returns the next request's stream; the informer must have sent it.
  ScriptedSource::Stream& next() {
    if (source_->waiting() == 0)
      throw std::logic_error("there is no request; " + informer_.health().activity);
    stream_ = source_->next();
    return stream_;
  }
  /// Answers a list, and opens the watch that follows. Returns the version of the list's request.
  std::string list(const std::string& body) {
    const auto request = next();
    request.answer(body);
    runner_->pump();
    next().open();
    runner_->pump();
    return std::get<ListRequest>(request.step).resource_version;
  }
  /// Delivers frames on the open watch; returns what the handler saw of them.
  Lines play(const std::string& frames) {
    news();
    stream_.send(frames);
    runner_->pump();
    return news();
  }
  /// Ends the watch after a while; returns the version from which the next one, which is opened, resumes.
  std::string cut() {
    clock_->advance(10s);
    stream_.end();
    runner_->pump();
    const std::string from = std::get<WatchRequest>(next().step).resource_version;
    stream_.open();
    runner_->pump();
    return from;
  }
  /// The server has forgotten the version of the watch; the list that follows is this one. Returns what the
  /// handler saw of it.
  Lines relist(const std::string& body) {
    expire();
    news();
    list(body);
    return news();
  }
  void expire() {
    play(expired);
    clock_->advance(1min);
    runner_->pump();
  }
  /// Returns the lines that the handler has noted since the last call.
  Lines news() {
    const Lines all = notes_->now();
    const Lines result(all.begin() + static_cast<std::ptrdiff_t>(seen_), all.end());
    seen_ = all.size();
    return result;
  }
  /// Returns the version of the object in the cache, "" if there is none.
  std::string version_of(const std::string& name) const {
    const WireObject found = informer_.store().find("default", name);
    return found ? std::string(found.resource_version()) : "";
  }
  std::map<std::string, std::string> versions() const {
    std::map<std::string, std::string> result;
    for (const WireObject& one : informer_.store().list())
      result[std::string(one.name())] = one.resource_version();
    return result;
  }
  std::string reached() const { return informer_.health().resource_version; }
  ScriptedSource::Stream& stream() { return stream_; }
  void pump() { runner_->pump(); }

 private:
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<ScriptedSource> source_ = std::make_shared<ScriptedSource>();
  std::shared_ptr<detail::JobRunner> runner_ = std::make_shared<detail::JobRunner>(clock_, 0);
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
  ScriptedSource::Stream stream_ = {};
  std::size_t seen_ = 0;
  Informer informer_;
};

// ---- 15220: notifications of progress were not synchronised with the events of their watch.

TEST(WatchHistories, ABookmarkAheadOfItsEventsHidesNone) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}, {.name = "b", .version = "6"}}, "10"));
  EXPECT_THAT(server.play(bookmark("20") + frame("MODIFIED", {.name = "a", .version = "15"}) +
                          frame("DELETED", {.name = "b", .version = "16"}) +
                          frame("ADDED", {.name = "c", .version = "17"})),
              ElementsAre("updated a@15 from 5", "deleted b@16", "added c@17"));
  EXPECT_EQ(server.cut(), "20");
}

TEST(WatchHistories, ABookmarkBehindItsEventsMovesNothingBack) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}}, "10"));
  server.play(frame("MODIFIED", {.name = "a", .version = "15"}) + bookmark("12"));
  EXPECT_EQ(server.cut(), "15") << "what was delivered is not requested again";
  EXPECT_EQ(server.version_of("a"), "15");
}

// The watch ended between the bookmark and the events that it had overtaken: nobody sends them any more.
TEST(WatchHistories, AListMakesGoodWhatABookmarkHasOvertaken) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}, {.name = "b", .version = "6"}}, "10"));
  server.play(bookmark("20"));
  EXPECT_EQ(server.cut(), "20") << "as client-go does: the cache cannot know";
  EXPECT_THAT(server.play(frame("ADDED", {.name = "d", .version = "21"})), ElementsAre("added d@21"));
  EXPECT_THAT(
      server.relist(list_of(
          {{.name = "a", .version = "15"}, {.name = "c", .version = "17"}, {.name = "d", .version = "21"}},
          "30")),
      ElementsAre("deleted b@6 unknown", "updated a@15 from 5", "added c@17"));
}

TEST(WatchHistories, AnEndOfAStreamedListMayBeAheadOrBehind) {
  for (const std::string end : {"12", "20"}) {
    Played server(/*streaming_list=*/true);
    server.next().open();
    server.pump();
    EXPECT_THAT(server.play(frame("ADDED", {.name = "a", .version = "15"}) + bookmark(end, true)),
                ElementsAre("added a@15 initial", "synced"));
    EXPECT_THAT(server.play(frame("MODIFIED", {.name = "a", .version = "15"}) +
                            frame("ADDED", {.name = "b", .version = "18"})),
                ElementsAre("added b@18"));
    EXPECT_EQ(server.cut(), end == "12" ? "18" : "20");
  }
}

// ---- 15271: a member that restored a snapshot of its leader sent a part of the history again.

TEST(WatchHistories, ARepeatedPartOfTheHistoryIsNoNews) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}}, "10"));
  const std::vector<std::string> part = {frame("MODIFIED", {.name = "a", .version = "11"}),
                                         frame("MODIFIED", {.name = "a", .version = "12"}),
                                         frame("ADDED", {.name = "b", .version = "13"})};
  EXPECT_THAT(server.play(part[0] + part[1] + part[2]),
              ElementsAre("updated a@11 from 5", "updated a@12 from 11", "added b@13"));
  for (const std::string& one : part) {
    EXPECT_THAT(server.play(one), IsEmpty());
    EXPECT_EQ(server.version_of("a"), "12") << "client-go's store shows the older state here";
  }
  EXPECT_EQ(server.cut(), "13") << "the version does not follow the repetition back";
  EXPECT_THAT(server.play(frame("MODIFIED", {.name = "a", .version = "14"})),
              ElementsAre("updated a@14 from 12"));
}

// Stricter than client-go, where the object is there until its deletion is repeated.
TEST(WatchHistories, ADeletedObjectDoesNotReturnWithARepetition) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}}, "10"));
  const std::string part = frame("MODIFIED", {.name = "a", .version = "11"}) +
                           frame("DELETED", {.name = "a", .version = "12"}) +
                           frame("ADDED", {.name = "b", .version = "13", .uid = "v"}) +
                           frame("DELETED", {.name = "b", .version = "14", .uid = "v"});
  EXPECT_THAT(server.play(part),
              ElementsAre("updated a@11 from 5", "deleted a@12", "added b@13", "deleted b@14"));
  EXPECT_THAT(server.play(part), IsEmpty());
  EXPECT_THAT(server.play(frame("ADDED", {.name = "a", .version = "15", .uid = "w"})),
              ElementsAre("added a@15"));
  EXPECT_THAT(server.play(part), IsEmpty()) << "nor does it take the place of its successor";
  EXPECT_THAT(server.play(frame("DELETED", {.name = "a", .version = "16", .uid = "w"})),
              ElementsAre("deleted a@16"));
  EXPECT_THAT(server.play(part), IsEmpty());
}

// An object that leaves the selector of a watch and comes back has the same uid, and a newer version.
TEST(WatchHistories, AnObjectThatComesBackToASelectorIsThereAgain) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}}, "10"));
  EXPECT_THAT(server.play(frame("DELETED", {.name = "a", .version = "11"}) +
                          frame("ADDED", {.name = "a", .version = "12"})),
              ElementsAre("deleted a@11", "added a@12"));
}

TEST(WatchHistories, A410WithinARepetitionListsAtTheNewestVersionSeen) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}}, "10"));
  server.play(frame("MODIFIED", {.name = "a", .version = "12"}) +
              frame("DELETED", {.name = "a", .version = "13"}) +
              frame("MODIFIED", {.name = "a", .version = "11"}));
  server.expire();
  EXPECT_EQ(server.list(list_of({{.name = "b", .version = "14"}}, "20")), "13");
  EXPECT_EQ(server.versions(), (std::map<std::string, std::string>{{"b", "14"}}));
}

// etcd was restored from a backup: its versions begin again below those that were seen.
TEST(WatchHistories, AListIsRightWhereTheServerHasGoneBack) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"}, {.name = "b", .version = "6"}}, "10"));
  server.play(frame("MODIFIED", {.name = "a", .version = "50"}) +
              frame("DELETED", {.name = "b", .version = "51"}));
  server.expire();
  server.next().answer(R"({"kind":"Status","code":504,"reason":"Timeout",
      "message":"Too large resource version: 51, current: 40",
      "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})",
                       504);
  server.pump();
  server.news();
  EXPECT_EQ(server.list(list_of({{.name = "a", .version = "30"}, {.name = "b", .version = "6"}}, "40")), "");
  EXPECT_THAT(server.news(), ElementsAre("updated a@30 from 50", "added b@6"));
  EXPECT_EQ(server.cut(), "40");
  EXPECT_THAT(server.play(frame("MODIFIED", {.name = "b", .version = "41"})),
              ElementsAre("updated b@41 from 6"));
}

// ---- 17529: slow watchers lost the events before a compaction, without notice.

TEST(WatchHistories, AfterASilentGapWhatComesNextIsRight) {
  Played server;
  server.list(list_of({{.name = "a", .version = "5"},
                       {.name = "b", .version = "6"},
                       {.name = "c", .version = "7"},
                       {.name = "d", .version = "8"}},
                      "10"));
  // Lost: changes of a and b, the deletions of c and d, the creations of e and f.
  EXPECT_THAT(server.play(frame("MODIFIED", {.name = "a", .version = "174748"}) +
                          frame("DELETED", {.name = "b", .version = "174749"}) +
                          frame("ADDED", {.name = "c", .version = "174750", .uid = "new"}) +
                          frame("MODIFIED", {.name = "e", .version = "174751"}) +
                          frame("DELETED", {.name = "f", .version = "174752"})),
              ElementsAre("updated a@174748 from 5", "deleted b@174749", "deleted c@7 unknown",
                          "added c@174750", "added e@174751"));
  EXPECT_EQ(server.version_of("d"), "8") << "nobody has said that it is gone";
  EXPECT_THAT(server.relist(list_of({{.name = "a", .version = "174748"},
                                     {.name = "c", .version = "174750", .uid = "new"},
                                     {.name = "e", .version = "174751"}},
                                    "174760")),
              ElementsAre("deleted d@8 unknown"));
}

// ---- 18089: a deletion was lost if its revision was compacted before a watch from it began.

TEST(WatchHistories, TheSuccessorOfAnObjectEndsItWhereItsDeletionWasLost) {
  // An API server that missed the deletion as well takes the creation for a change.
  for (const std::string type : {"ADDED", "MODIFIED"}) {
    Played server;
    server.list(list_of({{.name = "k", .version = "4", .uid = "first"}}, "4"));
    EXPECT_EQ(server.cut(), "4");
    EXPECT_THAT(server.play(frame(type, {.name = "k", .version = "6", .uid = "second"})),
                ElementsAre("deleted k@4 unknown", "added k@6"));
  }
}

// ---- 19179: the deletion at the compacted revision was missing after a restart, and only that one.

TEST(WatchHistories, ALostDeletionIsMadeGoodByTheNextListAndNotUndoneAfterwards) {
  Played server;
  server.list(list_of({{.name = "ol767", .version = "140"},
                       {.name = "jcoca", .version = "146"},
                       {.name = "x", .version = "150"}},
                      "408"));
  EXPECT_EQ(server.cut(), "408");
  EXPECT_THAT(server.play(frame("DELETED", {.name = "jcoca", .version = "410"})),
              ElementsAre("deleted jcoca@410"));  // and not ol767, deleted at 409
  EXPECT_EQ(server.cut(), "410");
  EXPECT_EQ(server.version_of("ol767"), "140");
  EXPECT_THAT(server.relist(list_of({{.name = "x", .version = "150"}}, "420")),
              ElementsAre("deleted ol767@140 unknown"));
  EXPECT_THAT(server.play(frame("DELETED", {.name = "ol767", .version = "409"})), IsEmpty())
      << "its deletion, late";
}

// ---- All of them, at random.

/// A server with an honest history, which it delivers with the faults above.
class FaultyServer {
 public:
  explicit FaultyServer(std::uint64_t seed) : random_(seed) {
    played_.list(list_of({}, "1"));
    played_.news();
  }

  void step() {
    change();
    switch (random_() % 8) {
      case 0:  // 15271
        at_ -= std::min<std::size_t>(at_, random_() % 6);
        break;
      case 1:  // 17529, 18089, 19179
        at_ = std::min(at_ + random_() % 3, history_.size());
        break;
      case 2:  // 15220
        deliver(bookmark(std::to_string(version_)));
        break;
      case 3:
        deliver(bookmark(std::to_string(version_ - random_() % 3)));
        break;
      default:
        break;
    }
    for (auto count = random_() % 4; count > 0 && at_ < history_.size(); --count) deliver(history_[at_++]);
  }
  /// Ends the watch; the next list is honest.
  void heal() {
    played_.expire();
    std::vector<ObjectParts> objects;
    for (const auto& [name, parts] : objects_) objects.push_back(parts);
    played_.list(list_of(objects, std::to_string(version_)));
    check(/*listed=*/true);
    at_ = history_.size();
    std::map<std::string, std::string> honest;
    for (const auto& [name, parts] : objects_) honest[name] = parts.version;
    EXPECT_EQ(played_.versions(), honest);
  }

 private:
  void change() {
    const std::string name(1, static_cast<char>('a' + random_() % 4));
    const std::string version = std::to_string(++version_);
    const auto found = objects_.find(name);
    if (found == objects_.end()) {
      objects_[name] = {.name = name, .version = version, .uid = "uid-" + version};
      history_.push_back(frame("ADDED", objects_[name]));
    } else if (random_() % 3 == 0) {
      found->second.version = version;
      history_.push_back(frame("DELETED", found->second));
      objects_.erase(found);
    } else {
      found->second.version = version;
      history_.push_back(frame("MODIFIED", found->second));
    }
  }
  void deliver(const std::string& text) {
    played_.stream().send(text);
    played_.pump();
    check(/*listed=*/false);
  }
  /// The handler has seen what the store has, and no version of a key twice or after a newer one.
  void check(bool listed) {
    for (const std::string& line : played_.news()) {
      const std::string name = line.substr(line.find('@') - 1, 1);
      const auto version = std::stoull(line.substr(line.find('@') + 1));
      if (line.starts_with("deleted")) {
        EXPECT_EQ(told_.erase(name), 1U) << line;
        if (line.ends_with("unknown")) continue;
      } else {
        EXPECT_EQ(told_.contains(name), line.starts_with("updated")) << line;
        told_[name] = std::to_string(version);
      }
      if (!listed) {
        EXPECT_GT(version, newest_[name]) << line;
      }
      newest_[name] = std::max<std::uint64_t>(newest_[name], version);
    }
    EXPECT_EQ(told_, played_.versions());
  }

  std::mt19937_64 random_;
  Played played_;
  std::uint64_t version_ = 1;
  std::map<std::string, ObjectParts> objects_;
  std::vector<std::string> history_;  // the events, as frames
  std::size_t at_ = 0;                // of them, the next one to deliver
  std::map<std::string, std::string> told_;
  std::map<std::string, std::uint64_t> newest_;
};

TEST(WatchHistories, NoMixtureOfThemMakesAnObjectGoBackOrOutlivesAList) {
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FaultyServer server(seed);
    for (int round = 0; round < 3; ++round) {
      for (int step = 0; step < 40; ++step) server.step();
      server.heal();
    }
  }
}

}  // namespace
}  // namespace evenkeel::watch_histories_tests
