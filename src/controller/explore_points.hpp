// SPDX-License-Identifier: Apache-2.0
// The receiver of the marks of Context::explore_point(). Shared with floors above.
#pragma once

#include <cstddef>
#include <string_view>

#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The functions may throw, as a crash at the mark: the exception leaves the reconciler's call.
/// Thread safety: that of the context.
class ExplorePoints {
 public:
  virtual ~ExplorePoints() = default;

  /// Called before a call outside whose end is not known; `object`: the one that is being reconciled.
  virtual void mark(const ObjectKey& object, std::string_view name) = 0;
  /// Called before a call outside. Returns the argument of end_effect(), which is called after it, unless it
  /// throws.
  virtual std::size_t begin_effect(const ObjectKey& object, std::string_view name) = 0;
  virtual void end_effect(std::size_t point) = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
