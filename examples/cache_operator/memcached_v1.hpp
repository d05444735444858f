// SPDX-License-Identifier: Apache-2.0
// The kind Memcached in its version v1: the one that is stored, that the operator works with, and through
// which other versions are converted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/evenkeel.hpp>

namespace cache_operator {

namespace ek = evenkeel;

inline constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

namespace v1 {

/// The users who may use the cache: a Secret with the key "users", in which each line is "name:password".
struct Auth {
  std::string secret_name = {};
};
EVENKEEL_FIELDS(Auth, (secret_name, ek::required, ek::max_length(253),
                       ek::pattern("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"),
                       ek::doc("Secret of the same namespace whose key \"users\" has lines name:password.")))

/// Times at which the cache is emptied.
struct Flush {
  std::string schedule = {};
  std::optional<std::string> time_zone = {};
};
EVENKEEL_FIELDS(Flush,
                (schedule, ek::required, ek::min_length(1), ek::doc("As of a CronJob: \"0 3 * * *\".")),
                (time_zone, ek::min_length(1),
                 ek::doc("Such as Europe/Paris; by default that of the cluster.")))

struct MemcachedSpec {
  static constexpr ek::CelRule rules[] = {
      {.rule = "self.connections >= self.threads", .message = "there must be a connection for each thread"}};
  int replicas = 1;
  std::optional<std::string> image = {};
  ek::Quantity memory = ek::Quantity(64 * mebibyte, ek::Quantity::Format::binary);
  int connections = 1024;
  int threads = 4;
  int port = 11211;
  int max_unavailable = 1;
  std::optional<Auth> auth = {};
  std::optional<Flush> flush = {};
};
EVENKEEL_FIELDS(MemcachedSpec, (replicas, ek::minimum(0), ek::maximum(64), ek::doc("Number of servers.")),
                (image, ek::pattern("^[a-zA-Z0-9][a-zA-Z0-9._:/@-]*$"), ek::max_length(512),
                 ek::doc("Image of the servers; by default the one that the operator was started with.")),
                (memory, ek::doc("Memory for the items of a server, a whole number of Mi.")),
                (connections, ek::minimum(1), ek::maximum(65535),
                 ek::doc("Connections that a server accepts.")),
                (threads, ek::minimum(1), ek::maximum(64), ek::doc("Threads of a server.")),
                (port, ek::minimum(1024), ek::maximum(65535), ek::immutable, ek::doc("Port of a server.")),
                (max_unavailable, ek::minimum(1), ek::maximum(64),
                 ek::doc("Servers that may be evicted at the same time, as from a node that is drained.")),
                (auth, ek::doc("Without it everybody who reaches the port may use the cache.")),
                (flush, ek::doc("Empties the cache at these times.")))

/// A change of the servers that goes on.
struct Rollout {
  std::int64_t generation = 0;
  ek::Time started = {};
};
EVENKEEL_FIELDS(Rollout, (generation, ek::doc("Of the StatefulSet.")), started)

struct MemcachedStatus {
  std::int64_t observed_generation = 0;
  int replicas = 0;
  int updated_replicas = 0;
  int ready_replicas = 0;
  std::string selector = {};
  std::string address = {};
  std::optional<Rollout> rollout = {};
  std::vector<ek::Condition> conditions = {};
};
EVENKEEL_FIELDS(MemcachedStatus, observed_generation, replicas, updated_replicas, ready_replicas,
                (selector, ek::doc("Selects the Pods of the servers, for autoscalers.")),
                (address, ek::doc("Name and port that resolve to all servers.")), rollout,
                (conditions, ek::list_map("type")))

struct Memcached {
  static constexpr ek::ResourceInfo resource{.group = "cache.evenkeel.dev",
                                             .version = "v1",
                                             .kind = "Memcached",
                                             .plural = "memcacheds",
                                             .short_name = "mc",
                                             .installs_crd = true};
  static constexpr std::string_view description = "Servers of memcached behind one name.";
  static constexpr std::string_view categories[] = {"all"};
  static constexpr ek::CelRule rules[] = {
      {.rule = "size(self.metadata.name) <= 40",
       .message = "a name has at most 40 characters, so that there is room for those of its objects"}};
  static constexpr ek::ScaleSubresource scale{.label_selector_path = ".status.selector"};
  static constexpr ek::PrinterColumn columns[] = {
      {.name = "Servers", .type = "integer", .json_path = ".spec.replicas"},
      {.name = "Ready", .type = "integer", .json_path = ".status.readyReplicas"},
      {.name = "Available", .json_path = R"(.status.conditions[?(@.type=="Available")].status)"},
      {.name = "Degraded",
       .json_path = R"(.status.conditions[?(@.type=="Degraded")].reason)",
       .priority = 1}};
  ek::ObjectMeta metadata = {};
  MemcachedSpec spec = {};
  MemcachedStatus status = {};
};
EVENKEEL_FIELDS(Memcached, metadata, spec, status)

}  // namespace v1
}  // namespace cache_operator
