// SPDX-License-Identifier: Apache-2.0
// --print-manifests and --print-rbac of ek::run().
#pragma once

#include <string>
#include <vector>

#include <evenkeel/manager/run.hpp>

#include "manager/flags.hpp"
#include "manager/manifest_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The text for standard output, and notes for standard error, a line each.
struct PrintedManifests {
  std::string text = {};
  std::vector<std::string> notes = {};
};

/// Returns the manifests of the program. `manager` has its controllers and webhooks, `chosen` the options
/// that flags left, `endpoint` those of the endpoint, and `args` is from completed_args(). Throws
/// std::invalid_argument for options of which no manifests can be made.
PrintedManifests manifests_of(const Manager& manager, const RunOptions& program, const ManagerOptions& chosen,
                              const Flags& flags, const EndpointOptions& endpoint,
                              const std::vector<std::string>& args);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
