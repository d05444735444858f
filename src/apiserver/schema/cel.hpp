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

/// An expression that cannot be read, or cannot be evaluated on these values; what() is in CEL's words:
/// "no such key: size".
class CelError : public Error {
 public:
  using Error::Error;
};

/// A value while evaluating. JSON values are shared with the document they are part of.
struct CelValue {
  enum class Type : std::uint8_t { json, duration, timestamp, type_name, optional, special };

  Type type = Type::json;
  /// `special` are Kubernetes' own types (cel_kubernetes.hpp).
  std::shared_ptr<const Json> json = {};  ///< type json; the name for type_name; null for an empty optional.
  std::int64_t nanoseconds = 0;           ///< duration, and timestamp since 1970.
  const Schema* schema = nullptr;         ///< Of json, if known.

  static CelValue of(Json value) { return {.json = std::make_shared<const Json>(std::move(value))}; }
  const Json& data() const;
  bool operator==(const CelValue& other) const;
};

struct CelNode;

/// A parsed expression: at most 100,000 code points, nested at most 250 levels, as cel-go's parser takes
/// them. Immutable. Thread safety: const members may be called concurrently.
class CelExpression {
 public:
  /// Throws CelError.
  explicit CelExpression(std::string_view text);

  using Variables = std::map<std::string, CelValue, std::less<>>;
  /// Throws CelError. `budget` is the cost that evaluating may have, in the units of cel-go's cost model; it
  /// is counted down and negative if it did not suffice.
  CelValue evaluate(const Variables& variables, std::int64_t& budget) const;
  /// Whether the expression speaks of this variable.
  bool uses(std::string_view variable) const;

 private:
  std::shared_ptr<const CelNode> root_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
