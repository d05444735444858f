// SPDX-License-Identifier: Apache-2.0
// One change, and the assessment of its effects.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/testing/operations.hpp>

#include "testing/operations/observation.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct ObservedChange {
  ValueKind kind = ValueKind::valid;
  std::string object = {};                 ///< The changed object, as a key of end states.
  std::vector<std::string> restless = {};  ///< Writes of the operator after its start, before the change.
  Seen before = {};
  Seen after = {};
  std::optional<Seen> fresh = {};        ///< After a creation with the value, if that is possible.
  std::optional<Seen> rolled_back = {};  ///< If the server accepted the change back.
};

struct ChangeAssessment {
  std::vector<OperationProblem> problems = {};
  bool reported = false;  ///< The operator does not accept the value, and says so.
};

/// Returns true if the status of an object reports an error.
using ReportsError = std::function<bool(const Json& object)>;

ChangeAssessment assess_change(const ObservedChange& observed, const ReportsError& reports_error);

/// Returns the problems of the given object: `again` is a second creation of it.
std::vector<OperationProblem> assess_reference(const Seen& first, const Seen& again);

/// Returns the fields that differ, with their objects: "pods default/web-0 spec.hostname". Of the object
/// itself only its status.
std::vector<std::string> dependents_of(const EndState& before, const EndState& after,
                                       const std::string& object);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
