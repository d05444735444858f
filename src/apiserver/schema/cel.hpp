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

/// A value during evaluation. JSON values share ownership of the document that they are part of.
struct CelValue {
  enum class Type : std::uint8_t { json, duration, timestamp, type_name, optional, special };

  Type type = Type::json;
  /// `special` are Kubernetes' own types (cel_kubernetes.hpp).
  std::shared_ptr<const Json> json = {};  ///< For json; the name for type_name; null for an empty optional.
  std::int64_t nanoseconds = 0;           ///< For duration, and for timestamp since 1970.
  const Schema* schema = nullptr;         ///< For json, if known.

  static CelValue of(Json value) { return {.json = std::make_shared<const Json>(std::move(value))}; }
  const Json& data() const;
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

 private:
  std::shared_ptr<const CelNode> root_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
