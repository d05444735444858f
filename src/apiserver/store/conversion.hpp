// SPDX-License-Identifier: Apache-2.0
// Built-in resources that are served under several versions from one set of objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Where objects of a resource version are kept, and how they get there and back.
struct SharedStorage {
  std::optional<std::string> group = {};  ///< Unset: the resource's own.
  std::string version = {};               ///< Empty: the resource's own.
  Convert to_storage = nullptr;
  Convert from_storage = nullptr;
};

/// events.k8s.io/v1 events are core events by other names; autoscaling/v1 is the old view of autoscaling/v2.
SharedStorage shared_storage(std::string_view group, std::string_view version, std::string_view plural);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
