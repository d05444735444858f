// SPDX-License-Identifier: Apache-2.0
// Times in Kubernetes' notation: RFC 3339 in UTC, to the second (Time) or the microsecond (MicroTime).
// Durations in fields are std::chrono::nanoseconds, written in Go's notation: "1h30m0s".
#pragma once

#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// A point in time with a resolution of seconds: "2026-01-31T08:00:00Z". Fractions are truncated, so that a
/// value survives a round trip unchanged.
class EVENKEEL_API Time {
 public:
  Time() = default;  ///< The epoch.
  Time(WallTime time) : value_(std::chrono::floor<std::chrono::seconds>(time)) {}

  WallTime value() const { return value_; }
  operator WallTime() const { return value_; }
  std::string str() const;
  /// Accepts any offset and fraction; returns nullopt if `text` is not an RFC 3339 time.
  static std::optional<Time> parse(std::string_view text);
  auto operator<=>(const Time&) const = default;

 private:
  WallTime value_{};
};

/// A point in time with a resolution of microseconds: "2026-01-31T08:00:00.000000Z". Used in Leases and
/// Events.
class EVENKEEL_API MicroTime {
 public:
  MicroTime() = default;  ///< The epoch.
  MicroTime(WallTime time) : value_(time) {}

  WallTime value() const { return value_; }
  operator WallTime() const { return value_; }
  std::string str() const;
  /// Accepts any offset and an optional fraction; returns nullopt if `text` is not an RFC 3339 time.
  static std::optional<MicroTime> parse(std::string_view text);
  auto operator<=>(const MicroTime&) const = default;

 private:
  WallTime value_{};
};

EVENKEEL_API const TypeInfo& evenkeel_leaf_info(Time**, FieldLookup);
EVENKEEL_API const TypeInfo& evenkeel_leaf_info(MicroTime**, FieldLookup);
EVENKEEL_API const TypeInfo& evenkeel_leaf_info(Duration**, FieldLookup);
constexpr TypeKind evenkeel_leaf_kind(Time**, FieldLookup) {
  return TypeKind::text;
}
constexpr TypeKind evenkeel_leaf_kind(MicroTime**, FieldLookup) {
  return TypeKind::text;
}
constexpr TypeKind evenkeel_leaf_kind(Duration**, FieldLookup) {
  return TypeKind::text;
}

}  // namespace v0
}  // namespace evenkeel
