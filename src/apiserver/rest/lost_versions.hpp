// SPDX-License-Identifier: Apache-2.0
// The versions of custom kinds that cannot be watched because an object could not be converted for too long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The versions whose watches have ended for that reason. A version is found again when all its objects can
/// be converted; its watches then begin at that state. Source: apiserver pkg/storage/cacher ready.go, where
/// it is the watch cache of the version that is not ready. Thread safety: one thread at a time.
class LostVersions {
 public:
  void add(const ResourceType& type, WallTime now) { lost_.emplace(key(type), now); }
  /// Returns the time since when the version is lost; unset if it is not.
  std::optional<WallTime> since(const ResourceType& type) const {
    const auto at = lost_.find(key(type));
    return at == lost_.end() ? std::nullopt : std::optional(at->second);
  }
  /// Ends the loss: `version` is the state in which all objects were converted.
  void recover(const ResourceType& type, std::uint64_t version) {
    lost_.erase(key(type));
    first_[key(type)] = version;
  }
  /// Returns the state after which its watches can begin.
  std::uint64_t first(const ResourceType& type) const {
    const auto at = first_.find(key(type));
    return at == first_.end() ? 0 : at->second;
  }

 private:
  using Key = std::pair<CollectionId, std::string>;
  static Key key(const ResourceType& type) { return {type.collection, type.version}; }

  std::map<Key, WallTime> lost_;
  std::map<Key, std::uint64_t> first_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
