// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of coordination.k8s.io v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination_v1 {

struct LeaseSpec {
  std::optional<MicroTime> acquire_time = {};
  std::optional<std::string> holder_identity = {};
  std::optional<std::int32_t> lease_duration_seconds = {};
  std::optional<std::int32_t> lease_transitions = {};
  std::optional<std::string> preferred_holder = {};
  std::optional<MicroTime> renew_time = {};
  std::optional<std::string> strategy = {};

  bool operator==(const LeaseSpec&) const = default;
};

/// coordination.k8s.io/v1 Lease.
struct Lease {
  static constexpr ResourceInfo resource{
      .group = "coordination.k8s.io", .version = "v1", .kind = "Lease", .plural = "leases"};
  ObjectMeta metadata = {};
  LeaseSpec spec = {};

  bool operator==(const Lease&) const = default;
};

EVENKEEL_DECLARE_FIELDS(LeaseSpec)
EVENKEEL_DECLARE_FIELDS(Lease)

}  // namespace coordination_v1

using coordination_v1::Lease;

}  // namespace v0
}  // namespace evenkeel
