// SPDX-License-Identifier: Apache-2.0
// The rights that follow from what a program declares and from what it was seen to do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <evenkeel/client/access.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/manager/manifests.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the rights of rules_of(), by the scope of the kinds.
ManifestPart part_of(const ControllerSpec& spec);
/// Returns `rules`, with the right to `get` added for kinds that they allow to be listed and written.
std::vector<PolicyRule> with_reads(std::vector<PolicyRule> rules);
/// Adds the rights to label the objects of which the caches of a ring hold a share, see ShardOptions::label.
void add_label_rules(ManifestPart& part, const ControllerSpec& spec);

/// Adds rules to `part`, those for kinds of its cluster_rules to these.
void add_rules(ManifestPart& part, const std::vector<PolicyRule>& rules);

/// Namespaces of an operator.
struct OperatorPlace {
  std::string own = {};      ///< In which it runs.
  std::string watched = {};  ///< In which it works; empty: all.
};

/// Accesses of a record in namespaces in which the operator does not work.
struct RecordedElsewhere {
  std::map<std::string, std::vector<PolicyRule>> rules = {};  ///< Rights by namespace.
  std::vector<std::string> stand_ins = {};  ///< Namespaces whose rights are granted in the watched one.
};

/// Adds the rights that the accesses need to `part`, except for those that it has for certain objects, or in
/// the namespace in which the operator runs; returns those in other namespaces than the watched one. All but
/// the operator's own stand for the watched one in a record without it, which tests made elsewhere.
RecordedElsewhere add_recorded(ManifestPart& part, const std::vector<Access>& accesses,
                               const OperatorPlace& place);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
