// SPDX-License-Identifier: Apache-2.0
// The Common Expression Language, as far as the validation rules of CRDs use it: parsed once, evaluated on
// documents with their schema.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "apiserver/schema/cel_type.hpp"
#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// An expression that cannot be parsed, or not evaluated with these values; what() has CEL's text: "no such
/// key: size".
class CelError : public Error {
 public:
  using Error::Error;
};

/// A value during evaluation. Values from a document share ownership of it.
struct CelValue {
  enum class Type : std::uint8_t {
    json,  ///< null, booleans, int, double, strings; lists and maps from a document
    uint,
    bytes,
    list,
    map,
    duration,
    timestamp,
    type_name,
    optional,
    special,  ///< Kubernetes' own types: IP addresses, quantities and others
  };
  using Parts = std::vector<CelValue>;

  Type type = Type::json;
  /// Data of json, bytes and type_name; for special {"type": ..., "text": ...}.
  std::shared_ptr<const Json> json = {};
  /// The items of a list; keys and values of a map, alternating; the value of an optional, if it has one.
  std::shared_ptr<const Parts> parts = {};
  std::int64_t number = 0;         ///< Nanoseconds of a duration, seconds since 1970, bits of a uint.
  std::int32_t nanoseconds = 0;    ///< For timestamp.
  std::int32_t offset = 0;         ///< For timestamp: the seconds from UTC with which it was written.
  const Schema* schema = nullptr;  ///< For json and list, if known.

  static CelValue of(Json value) { return {.json = std::make_shared<const Json>(std::move(value))}; }
  static CelValue of(Type type, Parts parts) {
    return {.type = type, .parts = std::make_shared<const Parts>(std::move(parts))};
  }
  /// Returns the data of a value that has some, null for others.
  const Json& data() const;
  /// Returns the value as JSON: times, bytes and special values are texts, an optional is its value.
  Json to_json() const;
  /// Compares as CEL does: numbers by value, lists of type set and map without their order.
  bool operator==(const CelValue& other) const;
};

struct CelNode;

/// A parsed expression of at most 100,000 code points and 250 levels, the limits of cel-go's parser.
/// Immutable.
/// Thread safety: const members may be called concurrently.
class CelExpression {
 public:
  /// Throws CelError.
  explicit CelExpression(std::string_view text);

  using Variables = std::map<std::string, CelValue, std::less<>>;
  /// Throws CelError. `budget` is the cost limit of the evaluation, in the units of cel-go's cost model; it
  /// is decremented, and negative if it was exceeded.
  CelValue evaluate(const Variables& variables, std::int64_t& budget) const;
  /// Returns true if the expression refers to this variable.
  bool uses(std::string_view variable) const;
  /// Returns the type of the result. Throws CelError with the position of the first reference that is not
  /// declared and of the first call that no function accepts.
  CelType check(const CelTypes& variables) const;

 private:
  std::shared_ptr<const CelNode> root_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
