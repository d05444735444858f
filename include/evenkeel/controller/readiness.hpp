// SPDX-License-Identifier: Apache-2.0
// Conditions of built-in kinds for DependentOptions::ready.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/batch.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/controller/dependents_report.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct RolledOut {
  EVENKEEL_API Readiness operator()(const Deployment& deployment) const;
  EVENKEEL_API Readiness operator()(const StatefulSet& set) const;
  EVENKEEL_API Readiness operator()(const DaemonSet& set) const;
  /// Throws std::invalid_argument for another kind, and DecodeError.
  EVENKEEL_API Readiness operator()(const DynamicObject& object) const;
};

struct Completed {
  EVENKEEL_API Readiness operator()(const Job& job) const;
  /// Throws std::invalid_argument for another kind, and DecodeError.
  EVENKEEL_API Readiness operator()(const DynamicObject& object) const;
};

EVENKEEL_API Readiness has_condition_of(const DynamicObject& object, const std::string& type);

}  // namespace detail

/// Ready: the controller of a Deployment, StatefulSet or DaemonSet has seen its last change, and all its Pods
/// have it and are available. Source: kubectl rollout status; unlike it, a strategy OnDelete or a partition
/// is waited for like any other change.
inline constexpr detail::RolledOut rolled_out;
/// Ready: the Job has the condition Complete.
inline constexpr detail::Completed completed;

/// Returns a readiness condition for any kind whose status has conditions: ready if the condition of this
/// type is "True".
inline auto has_condition(std::string type) {
  return [type = std::move(type)]<class Object>(const Object& object) -> Readiness {
    if constexpr (std::is_same_v<Object, DynamicObject>) {
      return detail::has_condition_of(object, type);
    } else {
      if (const auto* status = detail::status_of(object)) {
        for (const auto& condition : status->conditions) {
          if (condition.type == type)
            return {condition.status == "True", type + " is " + std::string(condition.status)};
        }
      }
      return not_ready("it has no condition " + type);
    }
  };
}

}  // namespace v0
}  // namespace evenkeel
