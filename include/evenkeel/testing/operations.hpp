// SPDX-License-Identifier: Apache-2.0
// Changes of an object, one property at a time, generated from its type. After each change, and after it was
// rolled back, the objects in the cluster are compared with those of an object that was created with these
// values.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/property_change.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Values of a property, as JSON texts.
struct PropertyValues {
  std::vector<std::string> valid = {};
  std::vector<std::string> wrong = {};
};

/// Settings of operations(). The defaults suit a type whose fields are described.
struct OperationsOptions {
  /// Options of each harness. `world` is the state before the object is created. If `reconcile_timeout` is
  /// not set, it is `limit`. `expect_failures` is always set.
  HarnessOptions harness = {};
  /// Simulates other controllers and the kubelet: it is called when the operator has settled, and repeatedly
  /// (at most ten times) until it changes nothing; before that, each minute of virtual time.
  std::function<void(Harness&)> environment = {};
  /// Changes to make, one after another, instead of the generated ones.
  std::vector<PropertyChange> changes = {};
  /// Values to use instead of generated ones, by path. The index of a list item is 0.
  std::map<std::string, PropertyValues> values = {};
  std::vector<std::string> untouched = {};  ///< Paths that are not changed, nor paths below them.
  std::size_t values_per_property = 2;      ///< Valid values that take effect; wrong ones are not limited.
  std::size_t max_changes = 10'000;         ///< Further ones are left out, and counted.
  /// Order of the properties: 0 is that of the schema; each other number is a shuffled order.
  std::uint64_t seed = 0;
  Duration limit = std::chrono::minutes{10};  ///< Virtual time in which the operator must settle.
  /// Resources that are not compared, in addition to Events and Leases: "pods", "demos.demo.evenkeel.dev".
  std::vector<std::string> ignored = {};
  /// Changes each object before it is compared, to remove what may differ, such as a counter of attempts.
  std::function<void(Json& object)> normalize = {};
  /// Returns true if the status of the object reports an error; see docs/operations-testing.md for the
  /// default.
  std::function<bool(const Json& object)> reports_error = {};
  std::size_t max_findings = 10;  ///< Findings with a timeline.
};

/// Kind of a problem; docs/operations-testing.md has the rules.
enum class OperationProblemKind : std::uint8_t {
  not_as_fresh,     ///< The world differs from that of an object created with the new value.
  not_rolled_back,  ///< The world differs from the one before the change, after the value was changed back.
  destroyed,        ///< Because of a wrong value, an object was deleted or scaled down.
  unreported,       ///< A wrong value, or a failure, is reported neither at admission nor by the operator.
  unsettled,        ///< It does not settle, although it did before; or a reconcile waits without end.
  unstable,         ///< A restart of the operator alone changes the world.
  not_reached,      ///< A given change changes nothing.
  not_repeatable,   ///< Creating the same object twice gives different worlds.
};

/// A rule that was broken, with the objects and fields in `text`.
struct OperationProblem {
  OperationProblemKind kind = OperationProblemKind::not_as_fresh;
  std::string text = {};
};

/// A change that has problems.
struct OperationFinding {
  PropertyChange change = {};
  std::string from = {};                    ///< JSON text of the former value; empty if there was none.
  std::vector<PropertyChange> before = {};  ///< Changes that are necessary before it.
  std::vector<OperationProblem> problems = {};
  /// Writes of the run beside what the controllers saw, a line each.
  std::string timeline = {};
  /// Number of other changes of the same property whose first problem is of the same kind.
  std::size_t alike = 0;
};

/// A property that was changed.
struct TouchedProperty {
  std::string path = {};
  std::size_t effective = 0;  ///< Valid values that the server accepted.
  std::size_t refused = 0;    ///< Values that it refused.
  /// Fields that changed with it: "pods default/web-0 spec.containers[0].image". Without those of the spec of
  /// the object itself.
  std::vector<std::string> dependents = {};
};

/// The result of operations().
struct Operations {
  std::string type = {};
  std::vector<OperationProblem> reference = {};  ///< Problems of the given object before any change.
  std::vector<OperationFinding> findings = {};   ///< At most `max_findings`.
  std::vector<TouchedProperty> properties = {};
  std::size_t changes = 0;         ///< Valid and wrong ones.
  std::size_t changes_failed = 0;  ///< Those with problems.
  std::size_t refused = 0;         ///< By the server: at admission.
  std::size_t reported = 0;        ///< By the operator: accepted, and reported as an error.
  std::size_t left_out = 0;        ///< Not made, because of `max_changes`.
  /// Path of the property since whose change no other one had an effect: it may stop the operator. Empty if
  /// there is none.
  std::string silent_since = {};
  std::size_t silent = 0;  ///< Number of properties that were changed since then.
  /// Properties of known types that have no values of their own, such as most of a Pod's.
  std::size_t properties_left_out = 0;
  Duration took = {};  ///< Real time.

  bool ok() const { return reference.empty() && changes_failed == 0; }
  /// Returns the counts, for each finding its problems, the changes as C++ and its timeline, and for each
  /// property the fields that depended on it.
  EVENKEEL_API std::string describe() const;
};

namespace detail {
/// Description of the object that is changed.
struct OperationSubject {
  const TypeInfo* type = nullptr;
  ResourceId resource = {};
  Json object = {};
  std::function<Json()> crd = {};
};
EVENKEEL_API Operations operations(const std::function<std::vector<ControllerSpec>()>& make,
                                   const OperationSubject& subject, const OperationsOptions& options);
}  // namespace detail

/// Changes `object` one property at a time, to valid and wrong values derived from its schema, and checks the
/// effect of each. `make` is the same as for explore(): it returns the ControllerSpec of the operator, or a
/// vector of several. `object` is a typical object that the operator can reconcile; its status is ignored.
/// After a valid change the objects in the cluster must be the same as if the object had been created with
/// the new value; after the change back, the same as before. A wrong value must be rejected at admission, or
/// be reported by the operator without destroying anything. Equal arguments give equal results, except for
/// `took`. Blocks until all changes were made; keeps nothing of its arguments.
/// Thread safety: may be called concurrently.
/// Source: Acto (SOSP'23), whose oracles these are: one property at a time, rollback, error states.
/// Throws std::invalid_argument for options out of range, malformed paths and values, and values for a path
/// that does not exist; ApiError if the server refuses `object`, and what Harness(), Harness::add() and
/// `environment` throw.
template <ObjectType T, class Make>
requires std::invocable<Make&> Operations operations(Make make, const T& object,
                                                     const OperationsOptions& options = {}) {
  const detail::OperationSubject subject{
      .type = &type_info<T>(), .resource = T::resource, .object = to_tree(object), .crd = [] {
        return crd_for<T>();
      }};
  if constexpr (std::convertible_to<std::invoke_result_t<Make&>, ControllerSpec>) {
    const auto one = [make]() mutable { return std::vector<ControllerSpec>{ControllerSpec(make())}; };
    return detail::operations(one, subject, options);
  } else {
    return detail::operations(std::move(make), subject, options);
  }
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
