// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/coordination.hpp>

namespace evenkeel::inline v0 {

EVENKEEL_DEFINE_FIELDS(LeaseSpec, acquire_time, holder_identity, lease_duration_seconds, lease_transitions,
                       preferred_holder, renew_time, strategy)
EVENKEEL_DEFINE_FIELDS(Lease, metadata, spec)

}  // namespace evenkeel::inline v0
