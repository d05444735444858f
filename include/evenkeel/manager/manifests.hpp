// SPDX-License-Identifier: Apache-2.0
// The manifests that a program prints of itself: --print-manifests and --print-rbac. docs/deployment.md
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/policy_rule.hpp>

namespace evenkeel {
inline namespace v0 {

struct ControllerSpec;

/// A port of the operator's container.
struct ManifestPort {
  std::string name = {};  ///< Up to 15 letters, digits and '-'.
  std::uint16_t number = 0;

  bool operator==(const ManifestPort&) const = default;
};

/// The share of a part of the program in its manifests; see Manager::add_manifest().
struct ManifestPart {
  std::vector<Json> objects = {};  ///< Printed after the Deployment, as they are.
  /// Rights in the namespaces in which the operator works: all, or that of --namespace.
  std::vector<PolicyRule> rules = {};
  std::vector<PolicyRule> cluster_rules = {};  ///< Rights to kinds without a namespace.
  std::vector<PolicyRule> own_rules = {};      ///< Rights in the namespace in which the operator runs.
  /// Rights in namespaces, whichever those are in which the operator works; "": in all.
  std::map<std::string, std::vector<PolicyRule>> namespace_rules = {};
  std::vector<ManifestPort> ports = {};
};

struct ManifestOptions {
  std::string namespace_ = {};  ///< In which the operator runs. Empty: the program's name and "-system".
  std::string image = {};       ///< Empty: "name:version" of the program.
  std::uint32_t replicas = 0;   ///< 0: 2 with an election or shards, otherwise 1.
  /// Rights of the reconcilers, in addition to those of watches, finalizers and of what was recorded.
  std::vector<PolicyRule> rules = {};
  /// Likewise, to kinds without a namespace that no controller watches. With --namespace they need a
  /// ClusterRole.
  std::vector<PolicyRule> cluster_rules = {};
  Json requests = Json::object({{"cpu", "50m"}, {"memory", "64Mi"}});  ///< Requests of the container.
  Json limits = Json::object({{"memory", "256Mi"}});                   ///< Resource limits of the container.
};

/// Returns the rights that follow from the declaration of a controller: those for its watches, its
/// finalizers, and owner references that block the owner's deletion. Rights that only the code of its
/// reconciler needs are not included.
EVENKEEL_API std::vector<PolicyRule> rules_of(const ControllerSpec& spec);

/// Returns the rights that the roles of --print-rbac grant for the work of these controllers: those of
/// rules_of(), `own`, which only the code of the reconcilers needs (ManifestOptions::rules), and the right to
/// `get` kinds that they allow to be listed and written: after a conflict or a lost answer, reads go to the
/// server.
EVENKEEL_API std::vector<PolicyRule> printed_rules(const std::vector<ControllerSpec>& specs,
                                                   const std::vector<PolicyRule>& own = {});

}  // namespace v0
}  // namespace evenkeel
