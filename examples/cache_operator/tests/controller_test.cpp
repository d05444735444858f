// SPDX-License-Identifier: Apache-2.0
// The operator in virtual time: from the creation to a change of everything that servers depend on.
#include <algorithm>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/metrics/text.hpp>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace controller_test {

using namespace std::chrono_literals;
using ek::testing::Harness;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string metrics_of(const ek::MetricRegistry& registry) {
  ek::PrometheusText text;
  registry.collect(text);
  return text.str();
}

TEST(CacheOperator, MakesItsObjectsAndBecomesAvailable) {
  Harness cluster({.name = "cache-operator", .webhooks = {memcached_webhook({})}});
  cluster.add(controller());
  cluster.create({memcached({.replicas = 3})});
  cluster.run_for(1s);
  EXPECT_EQ(condition(cluster, "Available").status, "False") << cluster.str();
  EXPECT_EQ(condition(cluster, "Progressing").message, "0 of 3 servers are up to date");

  play_cluster(cluster);
  cluster.settle();
  const auto found = cluster.get<v1::Memcached>(sessions);
  EXPECT_EQ(found->status.ready_replicas, 3) << cluster.str();
  EXPECT_EQ(found->status.observed_generation, found->metadata.generation);
  EXPECT_EQ(found->status.address, "sessions.default.svc:11211");
  EXPECT_FALSE(found->status.rollout);
  for (const char* type : {"Available", "Progressing", "Degraded"})
    EXPECT_EQ(condition(cluster, type).observed_generation, found->metadata.generation) << type;
  EXPECT_EQ(condition(cluster, "Available").status, "True");
  EXPECT_EQ(condition(cluster, "Progressing").reason, "Complete");
  EXPECT_EQ(condition(cluster, "Degraded").status, "False");
  EXPECT_THAT(reasons_of_events(cluster), IsSupersetOf({"RolloutStarted", "RolloutCompleted"}));
}

TEST(CacheOperator, OwnsWhatItMakes) {
  const Harness cluster = settled({memcached({.flush = v1::Flush{.schedule = "0 3 * * *"}})});
  const auto owner = cluster.get<v1::Memcached>(sessions);
  EXPECT_TRUE(ek::is_owned_by(cluster.get<ek::ConfigMap>(sessions_config)->metadata, *owner));
  EXPECT_TRUE(ek::is_owned_by(cluster.get<ek::Service>(sessions)->metadata, *owner));
  EXPECT_TRUE(ek::is_owned_by(cluster.get<ek::StatefulSet>(sessions)->metadata, *owner));
  EXPECT_TRUE(ek::is_owned_by(cluster.get<ek::policy_v1::PodDisruptionBudget>(sessions)->metadata, *owner));
  EXPECT_TRUE(ek::is_owned_by(cluster.get<ek::CronJob>(sessions_flush)->metadata, *owner));
  EXPECT_EQ(cluster.get<ek::Service>(sessions)->spec.cluster_ip, "None");
  EXPECT_EQ(cluster.get<ek::CronJob>(sessions_flush)->spec.schedule, "0 3 * * *");
}

TEST(CacheOperator, SendsNothingWhenNothingHasChanged) {
  Harness cluster = settled({memcached()});
  const std::size_t writes = cluster.writes().size();
  cluster.enqueue(sessions);
  cluster.restart();
  cluster.settle();
  EXPECT_EQ(cluster.writes().size(), writes) << cluster.str();
}

TEST(CacheOperator, ScalesAndSaysSo) {
  Harness cluster = settled({memcached({.replicas = 2})});
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.replicas = 4; });
  cluster.run_for(1s);
  EXPECT_EQ(cluster.get<ek::StatefulSet>(sessions)->spec.replicas, 4) << cluster.str();
  EXPECT_EQ(condition(cluster, "Progressing").status, "True");
  EXPECT_EQ(condition(cluster, "Available").status, "False") << "two of four, and one may be away";
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Available").status, "True");
  EXPECT_EQ(cluster.get<v1::Memcached>(sessions)->status.ready_replicas, 4) << cluster.str();
}

TEST(CacheOperator, RollsTheServersWhenTheirConfigurationChanges) {
  Harness cluster = settled({memcached()});
  const std::string before = annotation_of_servers(cluster, "config-hash");
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.threads = 8; });
  settle(cluster);
  EXPECT_EQ(cluster.get<ek::ConfigMap>(sessions_config)->data.at("THREADS"), "8");
  EXPECT_NE(annotation_of_servers(cluster, "config-hash"), before) << cluster.str();
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.threads = 4; });
  settle(cluster);
  EXPECT_EQ(annotation_of_servers(cluster, "config-hash"), before);
}

TEST(CacheOperator, RollsTheServersWhenTheirUsersChange) {
  Harness cluster =
      settled({users("ada:engine"), memcached({.auth = v1::Auth{.secret_name = sessions_users.name}})});
  const std::string before = annotation_of_servers(cluster, "users-hash");
  EXPECT_EQ(before.size(), 16U) << cluster.str();
  EXPECT_THAT(cluster.get<ek::StatefulSet>(sessions)->spec.template_.spec.containers.at(0).args,
              Contains("--auth-file=/etc/memcached/users"));

  cluster.edit<ek::Secret>(sessions_users, [](ek::Secret& secret) { secret.data["users"] = "ada:tables"; });
  cluster.run_for(1s);
  EXPECT_NE(annotation_of_servers(cluster, "users-hash"), before) << cluster.str();
  EXPECT_EQ(condition(cluster, "Progressing").status, "True");
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Progressing").status, "False");
}

TEST(CacheOperator, LeavesTheServersAloneWhenALabelOfTheSecretChanges) {
  Harness cluster =
      settled({users("ada:engine"), memcached({.auth = v1::Auth{.secret_name = sessions_users.name}})});
  const std::string before = annotation_of_servers(cluster, "users-hash");
  const std::size_t runs = cluster.runs().size();
  cluster.edit<ek::Secret>(sessions_users, [](ek::Secret& secret) { secret.metadata.labels["team"] = "a"; });
  settle(cluster);
  EXPECT_GT(cluster.runs().size(), runs) << "the Secret is found through the index";
  EXPECT_EQ(annotation_of_servers(cluster, "users-hash"), before);
}

TEST(CacheOperator, WaitsForItsSecretAndTellsOfIt) {
  Harness cluster = settled({memcached({.auth = v1::Auth{.secret_name = sessions_users.name}})});
  EXPECT_FALSE(cluster.find<ek::StatefulSet>(sessions)) << cluster.str();
  EXPECT_EQ(condition(cluster, "Degraded").reason, "SecretMissing");
  EXPECT_EQ(condition(cluster, "Degraded").message, "there is no Secret sessions-users");

  cluster.create({users("nobody")});
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Degraded").message,
            "Secret sessions-users has no line name:password in the key users");

  cluster.edit<ek::Secret>(sessions_users, [](ek::Secret& secret) { secret.data["users"] = "ada:engine\n"; });
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Degraded").status, "False") << cluster.str();
  EXPECT_EQ(condition(cluster, "Available").status, "True");
  EXPECT_THAT(reasons_of_events(cluster), IsSupersetOf({"SecretMissing", "SecretInvalid", "Recovered"}));
}

TEST(CacheOperator, KeepsServersWhoseSecretIsDeleted) {
  Harness cluster =
      settled({users("ada:engine"), memcached({.auth = v1::Auth{.secret_name = sessions_users.name}})});
  const std::string before = annotation_of_servers(cluster, "users-hash");
  cluster.remove<ek::Secret>(sessions_users);
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Degraded").reason, "SecretMissing") << cluster.str();
  EXPECT_EQ(condition(cluster, "Available").status, "True") << "the servers still serve";
  EXPECT_EQ(annotation_of_servers(cluster, "users-hash"), before);
}

TEST(CacheOperator, RemovesTheJobThatIsNotWantedAnyMore) {
  Harness cluster = settled({memcached({.flush = v1::Flush{.schedule = "0 3 * * *"}})});
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.flush.reset(); });
  settle(cluster);
  EXPECT_FALSE(cluster.find<ek::CronJob>(sessions_flush)) << cluster.str();
}

TEST(CacheOperator, CallsARolloutStalledThatTakesTooLong) {
  Harness cluster({.name = "cache-operator"});
  cluster.add(controller({.rollout_limit = 5min}));
  cluster.create({memcached({.replicas = 2})});
  cluster.run_for(1s);
  play_cluster(cluster, 1);
  cluster.run_for(4min);
  EXPECT_EQ(condition(cluster, "Degraded").status, "False") << cluster.str();
  cluster.run_for(2min);
  EXPECT_EQ(condition(cluster, "Degraded").reason, "RolloutStalled") << cluster.str();
  EXPECT_EQ(condition(cluster, "Available").status, "True") << "one of two is enough";
  play_cluster(cluster);
  cluster.settle();
  EXPECT_EQ(condition(cluster, "Degraded").status, "False") << cluster.str();
}

TEST(CacheOperator, RefusesToTakeOverWhatSomebodyElseMade) {
  const ek::Service foreign{.metadata = {.name = sessions.name, .namespace_ = "default"},
                            .spec = {.ports = {{.port = 80}}}};
  Harness cluster = settled({foreign, memcached()}, {.expect_failures = true});
  EXPECT_EQ(condition(cluster, "Degraded").reason, "NameTaken") << cluster.str();
  EXPECT_THAT(condition(cluster, "Degraded").message, HasSubstr("apply Service default/sessions"));
  EXPECT_EQ(cluster.get<ek::Service>(sessions)->spec.ports.at(0).port, 80);

  cluster.remove<ek::Service>(sessions);
  cluster.run_for(30min);
  play_cluster(cluster);
  cluster.settle();
  EXPECT_EQ(condition(cluster, "Degraded").status, "False") << cluster.str();
}

TEST(CacheOperator, WaitsForObjectsOfADeletedCacheOfItsName) {
  Harness cluster = settled({memcached()});
  cluster.edit<ek::ConfigMap>(sessions_config,
                              [](ek::ConfigMap& map) { map.metadata.finalizers = {"example.com/keep"}; });
  cluster.remove<v1::Memcached>(sessions);
  settle(cluster);
  ASSERT_FALSE(cluster.find<v1::Memcached>(sessions)) << cluster.str();

  cluster.create({memcached()});
  cluster.run_for(30s);
  EXPECT_FALSE(cluster.find<ek::StatefulSet>(sessions)) << cluster.str();
  EXPECT_EQ(condition(cluster, "Degraded").status, "False") << "it is only a matter of time";
  cluster.edit<ek::ConfigMap>(sessions_config, [](ek::ConfigMap& map) { map.metadata.finalizers.clear(); });
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Available").status, "True") << cluster.str();
}

TEST(CacheOperator, ReportsWhatTheServerRefuses) {
  Harness cluster({.name = "cache-operator",
                   .faults = {{.verb = "patch", .resource = "statefulsets", .count = 5, .status = 403}}});
  cluster.add(controller());
  cluster.create({memcached()});
  cluster.run_for(50ms);
  EXPECT_EQ(condition(cluster, "Degraded").reason, "ApplyFailed") << cluster.str();
  EXPECT_EQ(condition(cluster, "Progressing").reason, "NotBegun");
  settle(cluster);
  EXPECT_EQ(condition(cluster, "Degraded").status, "False") << cluster.str();
  EXPECT_THAT(reasons_of_events(cluster), IsSupersetOf({"ApplyFailed", "Recovered"}));
}

TEST(CacheOperator, CountsRolloutsAndServers) {
  ek::MetricRegistry registry;
  Harness cluster({.name = "cache-operator"});
  cluster.add(memcached_controller({.rollout_limit = 5min}, registry));
  cluster.create({memcached({.replicas = 2})});
  cluster.run_for(6min);
  play_cluster(cluster);
  cluster.settle();
  const std::string text = metrics_of(registry);
  EXPECT_THAT(text, HasSubstr("cache_operator_rollouts_total{result=\"stalled\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("cache_operator_rollouts_total{result=\"completed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("cache_operator_ready_servers{namespace=\"default\",name=\"sessions\"} 2\n"));
  cluster.remove<v1::Memcached>(sessions);
  settle(cluster);
  EXPECT_THAT(metrics_of(registry), Not(HasSubstr("sessions")));
}

TEST(CacheOperator, SelectsServersOnly) {
  const Harness cluster = settled({memcached({.flush = v1::Flush{.schedule = "0 3 * * *"}})});
  const auto set = cluster.get<ek::StatefulSet>(sessions);
  const auto job = cluster.get<ek::CronJob>(sessions_flush);
  const ek::LabelSelector selector = set->spec.selector.value();
  EXPECT_TRUE(selector.matches(set->spec.template_.metadata.labels));
  EXPECT_FALSE(selector.matches(job->spec.job_template.spec.template_.metadata.labels));
  EXPECT_EQ(cluster.get<ek::policy_v1::PodDisruptionBudget>(sessions)->spec.selector, selector);
}

}  // namespace controller_test
}  // namespace cache_operator::tests
