// SPDX-License-Identifier: Apache-2.0
// Requests of one member of a ring, one at a time.
#include "sharding/shard_core.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel::shard_core {
namespace {

using namespace std::chrono_literals;
using detail::ShardCore;
using detail::ShardTable;
using detail::SlotEntry;

Json lease(const std::string& name, const std::string& holder, const std::string& version) {
  Json json;
  json["metadata"]["name"] = name;
  json["metadata"]["uid"] = "uid-of-" + name;
  json["metadata"]["resourceVersion"] = version;
  json["spec"]["holderIdentity"] = holder;
  json["spec"]["leaseDurationSeconds"] = 15;
  return json;
}

Json table_lease(const ShardTable& table, const std::string& version) {
  Json json = lease("ring", "ring-1", version);
  json["metadata"]["annotations"][ShardTable::annotation] = table.text();
  return json;
}

Json with_version(Json json, const std::string& version) {
  json["metadata"]["resourceVersion"] = version;
  return json;
}

TEST(ShardCore, GivesTheSlotsOfAMemberAwayOnlyWhenItsEndIsKnown) {
  ShardCore core({.namespace_ = "apps",
                  .ring = "ring",
                  .member = "ring-2",
                  .slots = 2,
                  .lease_duration = 15s,
                  .retry_period = 2s});
  TimePoint now{1h};
  std::optional<ShardCore::Request> request;
  const auto next = [&] { request = core.next_step(now, WallTime()).request; };
  next();
  ASSERT_EQ(request->ask, ShardCore::Ask::list);
  const ShardTable one_each{.slots = {{"ring-1", "", 1}, {"ring-2", "", 1}}};
  core.on_listed(request->id, {lease("ring-1", "ring-1", "5"), table_lease(one_each, "6")}, "6", now);
  next();
  ASSERT_FALSE(request);

  now += 15s;
  next();
  ASSERT_EQ(request->name, "ring");
  EXPECT_EQ(ShardTable::read(request->body).slots[0], (SlotEntry{"ring-1", "ring-2", 1})) << "it is asked";
  core.on_answered(request->id, with_version(request->body, "7"), now);
  next();
  ASSERT_EQ(request->name, "ring-1");
  EXPECT_EQ(request->body.at({"spec", "holderIdentity"}), Json(""));
  core.on_failure(request->id, now);
  next();
  ASSERT_FALSE(request) << "it may be renewed since, which the watch has not shown";

  now += 2s;
  next();
  ASSERT_EQ(request->ask, ShardCore::Ask::list);
  core.on_listed(request->id, {lease("ring-1", "", "8"), table_lease(*core.table(), "7")}, "8", now);
  next();
  ASSERT_EQ(request->name, "ring");
  EXPECT_EQ(ShardTable::read(request->body).slots[0], (SlotEntry{"ring-2", "", 2}));
}

}  // namespace
}  // namespace evenkeel::shard_core
