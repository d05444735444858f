// SPDX-License-Identifier: Apache-2.0
// Restrictions of the Pods that the operator makes: the profile "restricted" of the Pod Security Standards.
#pragma once

#include <cstdint>

#include <evenkeel/api/kinds/pods.hpp>

#include "memcached_v1.hpp"

namespace cache_operator {

inline ek::core_v1::SecurityContext confined_container() {
  return {.allow_privilege_escalation = false,
          .capabilities = ek::core_v1::Capabilities{.drop = {"ALL"}},
          .read_only_root_filesystem = true};
}

inline ek::core_v1::PodSecurityContext confined_pod(std::int64_t user) {
  return {.run_as_non_root = true,
          .run_as_user = user,
          .seccomp_profile = ek::core_v1::SeccompProfile{.type = "RuntimeDefault"}};
}

}  // namespace cache_operator
