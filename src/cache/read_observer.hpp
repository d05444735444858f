// SPDX-License-Identifier: Apache-2.0
// The receiver of the reads of a cache; see CacheOptions::reads. Shared with floors above.
#pragma once

#include <string>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Called for each read before it is answered, also if the cache leaves it to the server.
/// Thread safety: that of the reads.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;

  /// Called for a read of one object, whether or not it exists.
  virtual void on_find(const ResourceId& resource, const ObjectKey& key) = 0;
  /// Called for a read of several: of one namespace, or of all if it is empty; also by owner or by index.
  virtual void on_list(const ResourceId& resource, const std::string& namespace_) = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
