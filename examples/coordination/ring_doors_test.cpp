// SPDX-License-Identifier: Apache-2.0
// The doors of the simulated database, over real sockets: the caller in the journal, and faults.
#include "ring_doors.hpp"

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/http/curl_transport.hpp>

using namespace std::chrono_literals;

namespace {

class RingDoorsTest : public testing::Test {
 protected:
  RingDoorsTest() {
    ek::MutexLock lock(ring_.mutex);
    ring_.database.start({.id = "dc1-log-1",
                          .address = "10.0.0.1:4501",
                          .process_class = "log",
                          .dc = "dc1",
                          .version = "7.1.0",
                          .command_line = "old"},
                         ring_.clock->now());
  }

  ek::http::Response send(const std::string& door, ek::http::Request request) {
    const std::string url = ek::Json::parse(doors_.urls())[door].as_string();
    return ek::http::make_curl_transport({.server = url, .proxy = ""})->fetch(std::move(request));
  }
  ek::http::Response post(const std::string& door, const std::string& path, std::string body) {
    return send(door, {.method = ek::http::Method::post, .target = path, .body = std::move(body)});
  }
  int kill(const std::string& door) { return post(door, "/kill", R"({"targets":["10.0.0.1:4501"]})").status; }
  void fault(const std::string& text) { ASSERT_EQ(post("admin", "/faults", text).status, 200); }
  RingJournal journal() { return ek::from_json<RingJournal>(send("admin", {.target = "/journal"}).body); }

  SharedRing ring_{{.processes = 1, .coordinators = 1}, ek::real_clock()};
  RingDoors doors_{ring_, {"dc1", "dc2"}, "127.0.0.1:0"};
};

}  // namespace

TEST_F(RingDoorsTest, TheJournalKnowsThroughWhichDoorACallCame) {
  EXPECT_EQ(kill("dc2"), 200);
  const RingJournal all = journal();
  ASSERT_EQ(all.entries.size(), 2U);
  EXPECT_EQ(all.entries[0].caller, "database");
  EXPECT_EQ(all.entries[1].caller, "dc2");
  EXPECT_EQ(all.entries[1].call, "kill");
  EXPECT_EQ(all.entries[1].groups, std::vector<std::string>{"dc1-log-1"});
  EXPECT_TRUE(all.entries[1].recovery);
  const auto status = ek::from_json<RingStatus>(send("dc1", {.target = "/status"}).body);
  EXPECT_EQ(status.generation, 4);
}

TEST_F(RingDoorsTest, RefusesWhatIsNoOrder) {
  EXPECT_EQ(post("dc1", "/kill", "[").status, 400);
  EXPECT_EQ(post("dc1", "/destroy", "{}").status, 404);
  EXPECT_EQ(post("admin", "/faults", R"({"door":"dc9","kind":"cut"})").status, 404);
  EXPECT_EQ(post("dc1", "/coordinators", R"({"targets":["10.9.9.9:4501"]})").status, 409);
}

TEST_F(RingDoorsTest, ACutDoorListensNoMoreAndTheOthersDo) {
  fault(R"({"door":"dc1","kind":"cut"})");
  EXPECT_THROW(kill("dc1"), ek::TransportError);
  EXPECT_EQ(kill("dc2"), 200);
  fault(R"({"door":"dc1","kind":"open"})");
  EXPECT_EQ(kill("dc1"), 200);
}

TEST_F(RingDoorsTest, RefusesOrLosesAsManyCallsAsItWasTold) {
  fault(R"({"door":"dc1","kind":"refuse","count":1})");
  EXPECT_EQ(kill("dc1"), 503);
  EXPECT_EQ(journal().entries.size(), 1U) << "it was not performed";
  EXPECT_EQ(kill("dc1"), 200);
  fault(R"({"door":"dc1","kind":"lose","count":1})");
  EXPECT_EQ(kill("dc1"), 504);
  EXPECT_EQ(journal().entries.size(), 3U) << "it was performed";
  EXPECT_EQ(kill("dc1"), 200);
}

TEST_F(RingDoorsTest, ADoorThatHangsAnswersWhenItIsOpened) {
  fault(R"({"door":"dc1","kind":"hang"})");
  EXPECT_THROW(send("dc1", {.target = "/status", .deadline = ek::real_clock()->now() + 50ms}),
               ek::TransportError);
  EXPECT_EQ(kill("dc2"), 200);
  fault(R"({"door":"dc1","kind":"open"})");
  EXPECT_EQ(kill("dc1"), 200);
}
