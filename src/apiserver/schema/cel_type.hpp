// SPDX-License-Identifier: Apache-2.0
// The types of CEL expressions, before evaluation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct CelType {
  enum class Kind : std::uint8_t {
    dyn,
    null,
    boolean,
    integer,
    uint,
    number,
    string,
    bytes,
    list,
    map,
    object,
    duration,
    timestamp,
    type,
    optional,
    special,    ///< A type of Kubernetes, by name.
    parameter,  ///< Parameter of a signature. C stands for types with an order, S for those with a sum, N and
                ///< M for numbers, other letters for any type.
    open,       ///< Not known: the items of [].
  };
  Kind kind = Kind::dyn;
  std::string name = {};            ///< special and parameter.
  std::vector<CelType> parts = {};  ///< The item of a list, key and value of a map, the value of an optional.
  const Schema* schema = nullptr;   ///< object.
  bool root = false;                ///< object: it has apiVersion, kind and metadata.

  static CelType of(Kind kind, std::vector<CelType> parts = {}) {
    return {.kind = kind, .parts = std::move(parts)};
  }
  /// Returns true if a value of any type may be one of this: it has to be checked by the evaluation.
  bool is_open() const { return kind == Kind::dyn || kind == Kind::open; }
  /// Returns the type as in errors: "list(string)".
  std::string str() const;
};

using CelTypes = std::map<std::string, CelType, std::less<>>;

/// Reads a type: "map(string, list(A))".
CelType parse_cel_type(std::string_view text);

/// Returns the type of values with this schema; std::nullopt if expressions cannot refer to them. `root` is
/// true for a whole resource. Source: apiserver pkg/cel/common/schemas.go SchemaDeclType.
std::optional<CelType> cel_type_of(const Schema& schema, bool root);

/// Returns the type of a field of an object, by the identifier that expressions use.
std::optional<CelType> cel_field_type(const CelType& object, std::string_view identifier);

/// The types that the parameters of a signature stand for.
using CelBindings = std::map<std::string, CelType, std::less<>>;
/// Returns true if a value of type `given` may be passed for `wanted`, adding to `bindings`.
bool accepts(const CelType& wanted, const CelType& given, CelBindings& bindings);
/// Returns the type that covers both.
CelType joined(const CelType& one, const CelType& other);
/// Returns `type` without parameters.
CelType substituted(const CelType& type, const CelBindings& bindings);
/// Returns true if values of both types may stand in one list literal.
bool equivalent(const CelType& one, const CelType& other);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
