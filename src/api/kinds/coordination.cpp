// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/coordination.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination_v1 {

EVENKEEL_DEFINE_FIELDS(LeaseSpec, acquire_time, holder_identity, lease_duration_seconds, lease_transitions,
                       preferred_holder, renew_time, strategy)
EVENKEEL_DEFINE_FIELDS(Lease, metadata, spec)

}  // namespace coordination_v1
}  // namespace v0
}  // namespace evenkeel
