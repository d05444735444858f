// SPDX-License-Identifier: Apache-2.0
// The client of the simulated database, over real sockets.
#include "ring_admin_client.hpp"

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>

#include "ring_doors.hpp"

using namespace std::chrono_literals;

namespace {

class RingAdminClientTest : public testing::Test {
 protected:
  RingAdminClientTest() {
    ek::MutexLock lock(ring_.mutex);
    for (int host = 1; host <= 3; ++host) {
      ring_.database.start({.id = "dc1-log-" + std::to_string(host),
                            .address = "10.0.0." + std::to_string(host) + ":4501",
                            .process_class = "log",
                            .dc = "dc1",
                            .version = "7.1.0",
                            .command_line = "old"},
                           ring_.clock->now());
    }
  }

  std::string door() const { return ek::Json::parse(doors_.urls())["dc1"].as_string(); }

  SharedRing ring_{{.processes = 3, .coordinators = 2}, ek::real_clock()};
  RingDoors doors_{ring_, {"dc1"}, "127.0.0.1:0"};
  RingAdminClient client_{{.url = door()}};
};

}  // namespace

TEST_F(RingAdminClientTest, ReadsTheStatus) {
  const ec::DatabaseStatus status = client_.status();
  EXPECT_EQ(status.generation, 2U);
  EXPECT_TRUE(status.available);
  EXPECT_EQ(status.connection_string, "ring:10.0.0.1:4501,10.0.0.2:4501");
  ASSERT_EQ(status.of_group("dc1-log-3").size(), 1U);
  const ec::DatabaseProcess& process = *status.of_group("dc1-log-3").front();
  EXPECT_EQ(process.address, "10.0.0.3:4501");
  EXPECT_EQ(process.where(ec::locality::dc_id), "dc1");
  EXPECT_FALSE(status.is_coordinator(process));
  EXPECT_TRUE(process.has_role("log"));
}

TEST_F(RingAdminClientTest, GivesOrders) {
  const ec::Fence nobody{.caller = "dc1"};
  client_.exclude({"locality_instance_id:dc1-log-1"}, nobody);
  EXPECT_EQ(client_.status().exclusions, std::vector<std::string>{"locality_instance_id:dc1-log-1"});
  EXPECT_EQ(client_.change_coordinators({"10.0.0.3:4501"}, nobody), "ring:10.0.0.3:4501");
  EXPECT_EQ(client_.status().coordinators, std::vector<std::string>{"10.0.0.3:4501"});
  client_.include({"locality_instance_id:dc1-log-1"}, nobody);
  EXPECT_TRUE(client_.status().exclusions.empty());
  client_.kill({"10.0.0.2:4501"}, nobody);
  EXPECT_EQ(client_.status().generation, 10U);
}

TEST_F(RingAdminClientTest, SaysWhyAnOrderWasNotCarriedOut) {
  client_.kill({"10.0.0.1:4501"}, {.caller = "dc1", .action = "restart", .epoch = 3});
  try {
    client_.kill({"10.0.0.1:4501"}, {.caller = "dc1", .action = "restart", .epoch = 2});
    ADD_FAILURE() << "an obsolete epoch";
  } catch (const ec::DatabaseError& error) {
    EXPECT_STREQ(error.what(), "/kill: 409 epoch 2 of restart is obsolete, the present one is 3");
  }
}

TEST_F(RingAdminClientTest, RaisesTheFenceOfAnAction) {
  client_.raise_fence({.caller = "dc1", .action = "restart", .epoch = 3});
  EXPECT_THROW(client_.kill({"10.0.0.1:4501"}, {.caller = "dc1", .action = "restart", .epoch = 2}),
               ec::DatabaseError);
  EXPECT_THROW(client_.raise_fence({.caller = "dc1", .action = "restart", .epoch = 2}), ec::DatabaseError);
  EXPECT_EQ(client_.status().generation, 2U) << "nothing was disturbed";
}

TEST_F(RingAdminClientTest, FailsWhenNobodyListens) {
  RingAdminClient cut{{.url = "http://127.0.0.1:1", .timeout = 1s}};
  EXPECT_THROW(cut.status(), ec::DatabaseError);
}
