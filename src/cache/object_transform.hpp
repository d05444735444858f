// SPDX-License-Identifier: Apache-2.0
// The transform of a kind: a function of the program that changes objects before they are kept.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/log.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Applies a function of the program to the JSON of objects of one kind.
/// Thread safety: may be called concurrently, if the function may be.
class ObjectTransform {
 public:
  ObjectTransform(ResourceId resource, std::function<void(Json&)> change, Log log)
      : resource_(std::move(resource)), change_(std::move(change)), log_(std::move(log)) {}

  /// Returns the changed object; the object as it is if the function throws, or changes what identifies the
  /// object, or if it is not JSON.
  std::string operator()(std::string_view text) const;

 private:
  void report(std::string_view object, std::string_view error) const;

  ResourceId resource_;
  std::function<void(Json&)> change_;
  Log log_;
  std::shared_ptr<std::atomic<bool>> reported_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
