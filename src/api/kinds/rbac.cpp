// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/rbac.hpp>

namespace evenkeel {
inline namespace v0 {
namespace rbac_v1 {

EVENKEEL_DEFINE_FIELDS(PolicyRule, api_groups, (non_resource_urls, wire("nonResourceURLs")), resource_names,
                       resources, verbs)
EVENKEEL_DEFINE_FIELDS(Role, metadata, rules)
EVENKEEL_DEFINE_FIELDS(RoleRef, name, api_group, kind)
EVENKEEL_DEFINE_FIELDS(Subject, name, api_group, kind, namespace_)
EVENKEEL_DEFINE_FIELDS(RoleBinding, metadata, role_ref, subjects)
EVENKEEL_DEFINE_FIELDS(AggregationRule, cluster_role_selectors)
EVENKEEL_DEFINE_FIELDS(ClusterRole, metadata, aggregation_rule, rules)
EVENKEEL_DEFINE_FIELDS(ClusterRoleBinding, metadata, role_ref, subjects)

}  // namespace rbac_v1
}  // namespace v0
}  // namespace evenkeel
