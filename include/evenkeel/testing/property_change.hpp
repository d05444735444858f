// SPDX-License-Identifier: Apache-2.0
// Changes of one property of an object, as operations() makes them.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Expectation about a value.
enum class ValueKind : std::uint8_t {
  valid,  ///< The operator puts it into effect, or reports that it does not.
  wrong,  ///< It is refused at admission, or the operator reports it and leaves the world as it is.
};

/// A new value of one property.
struct PropertyChange {
  std::string path = {};   ///< Syntax of differences(): `spec.ports[0].port`, `spec.settings["a.b/c"]`.
  std::string value = {};  ///< JSON text; empty: the property is removed.
  ValueKind kind = ValueKind::valid;

  bool operator==(const PropertyChange&) const = default;
  /// Returns the C++ expression that makes it, with `ek` for the namespace evenkeel.
  EVENKEEL_API std::string code() const;
};

/// Sets a property to a value, given as JSON text: `set_property("spec.image", R"("web:2")")`. An index one
/// beyond the last item appends to the list.
EVENKEEL_API PropertyChange set_property(std::string path, std::string json);
/// Sets a property to a wrong value, see ValueKind::wrong.
EVENKEEL_API PropertyChange set_wrong(std::string path, std::string json);
/// Removes a property.
EVENKEEL_API PropertyChange remove_property(std::string path);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
