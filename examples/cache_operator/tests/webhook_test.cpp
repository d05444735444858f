// SPDX-License-Identifier: Apache-2.0
// Admission: defaults, what the schema and its rules refuse, and what the webhook refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/testing/admit.hpp>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace webhook_test {

using ek::testing::Admission;
using ek::testing::admit;
using ek::testing::Harness;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Admission admitted(v1::MemcachedSpec spec) {
  return admit(memcached_webhook({}), memcached(std::move(spec)));
}

ek::Quantity quantity(std::string_view text) {
  return ek::Quantity::parse(text).value();
}

/// Returns the answer of the server to a creation, "" if it accepts it.
std::string answer_to(const v1::Memcached& object) {
  Harness cluster({.webhooks = {memcached_webhook({})}});
  cluster.add(controller());
  try {
    cluster.client().create(object);
    return {};
  } catch (const ek::ApiError& error) {
    return error.message();
  }
}

TEST(CacheOperatorWebhook, NamesTheImageOfTheOperator) {
  EXPECT_EQ(admitted({}).as<v1::Memcached>().spec.image, "memcached:1.6.39");
  EXPECT_EQ(admitted({.image = "memcached:1.5"}).as<v1::Memcached>().spec.image, "memcached:1.5");
}

TEST(CacheOperatorWebhook, RefusesMemoryThatMemcachedCannotHave) {
  EXPECT_TRUE(admitted({.memory = quantity("1Gi")}).allowed);
  EXPECT_THAT(admitted({.memory = quantity("1Mi")}).status.message,
              HasSubstr("spec.memory: Invalid value: must be at least 8Mi"));
  EXPECT_THAT(admitted({.memory = quantity("100M")}).status.message,
              HasSubstr("spec.memory: Invalid value: must be a whole number of Mi"));
  EXPECT_THAT(admitted({.memory = quantity("2Ti")}).status.message,
              HasSubstr("spec.memory: Invalid value: must be at most 1Ti"));
}

TEST(CacheOperatorWebhook, RefusesWhatIsNoSchedule) {
  for (const char* schedule : {"0 3 * * *", "*/5 0-6 * JAN MON-FRI", "@daily"})
    EXPECT_TRUE(admitted({.flush = v1::Flush{.schedule = schedule}}).allowed) << schedule;
  for (const char* schedule : {"every day", "0 3 * *", "once a day at night", "0 3 * * * *", "@"})
    EXPECT_THAT(admitted({.flush = v1::Flush{.schedule = schedule}}).status.message,
                HasSubstr("spec.flush.schedule: Invalid value: must have five fields, as \"0 3 * * *\""))
        << schedule;
}

TEST(CacheOperatorWebhook, WarnsOfWhatCostsAvailability) {
  EXPECT_THAT(admitted({.replicas = 2}).warnings, IsEmpty());
  EXPECT_THAT(admitted({.replicas = 2, .max_unavailable = 2}).warnings,
              ElementsAre("spec.maxUnavailable allows to evict all servers at the same time"));
  const auto update = [](v1::MemcachedSpec now) {
    return admit(memcached_webhook({}), memcached(std::move(now)),
                 {.operation = ek::AdmissionOperation::update,
                  .old_object = ek::to_tree(memcached({.replicas = 2, .image = "memcached:1"}))});
  };
  EXPECT_THAT(update({.replicas = 3, .image = "memcached:1"}).warnings, IsEmpty());
  EXPECT_THAT(update({.replicas = 2, .image = "memcached:2"}).warnings,
              ElementsAre("all servers restart one by one, and lose what they hold"));
}

TEST(CacheOperatorWebhook, KeepsWhatIsToBeKept) {
  v1::Memcached kept = memcached();
  kept.metadata.annotations["cache.evenkeel.dev/keep"] = "true";
  const auto remove = [](const v1::Memcached& object) {
    return admit(memcached_webhook({}), object, {.operation = ek::AdmissionOperation::remove});
  };
  EXPECT_TRUE(remove(memcached()).allowed);
  EXPECT_FALSE(remove(kept).allowed);
  EXPECT_THAT(remove(kept).status.message, HasSubstr("it has the annotation cache.evenkeel.dev/keep"));
}

TEST(CacheOperatorSchema, RefusesWithoutAWebhook) {
  EXPECT_EQ(answer_to(memcached()), "");
  EXPECT_THAT(answer_to(memcached({.replicas = 65})), HasSubstr("spec.replicas"));
  EXPECT_THAT(answer_to(memcached({.connections = 3, .threads = 4})),
              HasSubstr("there must be a connection for each thread"));
  EXPECT_THAT(answer_to(memcached({.image = "memcached 1"})), HasSubstr("spec.image"));
  EXPECT_THAT(answer_to(memcached({.auth = v1::Auth{.secret_name = "Not A Name"}})),
              HasSubstr("spec.auth.secretName"));
  v1::Memcached named = memcached();
  named.metadata.name = std::string(41, 'a');
  EXPECT_THAT(answer_to(named), HasSubstr("a name has at most 40 characters"));
}

TEST(CacheOperatorSchema, RefusesAnotherPort) {
  Harness cluster = settled({memcached()});
  try {
    cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.port = 11212; });
    FAIL() << cluster.str();
  } catch (const ek::ApiError& error) {
    EXPECT_THAT(error.message(), HasSubstr("spec.port: Invalid value: 11212: is immutable"));
  }
}

TEST(CacheOperatorWebhook, RefusesOnTheServer) {
  EXPECT_THAT(answer_to(memcached({.memory = quantity("1Mi")})), HasSubstr("must be at least 8Mi"));
}

}  // namespace webhook_test
}  // namespace cache_operator::tests
