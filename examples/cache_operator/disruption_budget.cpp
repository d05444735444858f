// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"
#include "objects.hpp"

namespace cache_operator {

ek::policy_v1::PodDisruptionBudget disruption_budget_of(const v1::Memcached& memcached) {
  ek::policy_v1::PodDisruptionBudget budget{
      .metadata = {.name = memcached.metadata.name, .labels = object_labels(memcached)}};
  budget.spec.max_unavailable = memcached.spec.max_unavailable;
  budget.spec.selector = ek::LabelSelector{.match_labels = server_labels(memcached)};
  return budget;
}

}  // namespace cache_operator
