// SPDX-License-Identifier: Apache-2.0
// Built-in resources whose objects are served in several versions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The storage version of a resource version, and the conversions between them.
struct SharedStorage {
  std::optional<std::string> group = {};  ///< Unset: the resource's own.
  std::string version = {};               ///< Empty: the resource's own.
  Convert to_storage = nullptr;
  Convert from_storage = nullptr;
};

/// Returns the storage of a resource version: events.k8s.io/v1 events are core events with renamed members;
/// autoscaling/v1 is a view of autoscaling/v2.
SharedStorage shared_storage(std::string_view group, std::string_view version, std::string_view plural);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
