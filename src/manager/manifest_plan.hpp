// SPDX-License-Identifier: Apache-2.0
// All that the manifests of an operator depend on, and the objects made of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/manifests.hpp>
#include <evenkeel/sharding/shards.hpp>
#include <evenkeel/webhook/configuration.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The webhooks of a program, as far as manifests have to know them.
struct WebhookPlan {
  std::string manager = {};  ///< ManagerOptions::name, from which the configurations have theirs.
  WebhookService service = {};
  std::uint16_t port = 0;   ///< Port of the container; 0: there are no webhooks.
  std::string secret = {};  ///< Secret for the certificates that the program makes; empty: it has files.
  std::vector<Json> configurations = {};
  std::vector<std::string> converted = {};  ///< Names of the definitions with a conversion.
};

struct ManifestPlan {
  std::string name = {};  ///< Name of the program and of most objects.
  std::string namespace_ = {};
  std::string image = {};
  std::uint32_t replicas = 1;
  bool one_at_a_time = false;       ///< Two replicas would disturb each other.
  std::int64_t grace_seconds = 30;  ///< Grace period and shutdown delay.
  std::vector<std::string> args = {};
  std::string watched = {};  ///< Namespace in which it works; empty: all.
  /// Rights in particular namespaces, with ManifestPart::own_rules and namespace_rules; "": in all.
  std::map<std::string, std::vector<PolicyRule>> runtime_rules = {};
  ManifestPart part = {};
  std::vector<Json> crds = {};
  EndpointOptions endpoint = {};
  WebhookPlan webhooks = {};
  Json requests = {};
  Json limits = {};
  bool service_monitor = false;
};

/// Returns the port of ":8080", "0.0.0.0:8080" or "[::]:8080"; std::nullopt for an address of the machine
/// alone. Throws std::invalid_argument, beginning with `flag`, for a port that is chosen at the start.
std::optional<std::uint16_t> container_port(const std::string& flag, const std::string& address);

/// Throw std::invalid_argument for a name that the objects cannot have.
void check_program_name(const std::string& name);
void check_namespace(const std::string& name);

/// Adds the rights of an election, shards, webhooks and access reviews.
void add_election_rules(ManifestPlan& plan, const std::string& lease, const std::string& namespace_);
void add_shard_rules(ManifestPlan& plan, const ShardOptions& shards);
void add_webhook_rules(ManifestPlan& plan);
void add_review_rules(ManifestPlan& plan);

/// Returns the service account, and the roles with their bindings.
std::vector<Json> rbac_objects(const ManifestPlan& plan);
/// Returns all objects, in the order in which they are applied. Throws std::invalid_argument for probes that
/// no kubelet reaches.
std::vector<Json> manifest_objects(const ManifestPlan& plan);

/// Returns {apiVersion, kind, metadata: {name, namespace}}; the namespace is left out if it is empty.
Json object_of(std::string_view api_version, std::string_view kind, const std::string& name,
               const std::string& namespace_);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
