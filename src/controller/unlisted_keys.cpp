// SPDX-License-Identifier: Apache-2.0
#include "controller/unlisted_keys.hpp"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/sharding/shards.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Time after which a parked key is looked at again in any case.
constexpr Duration longest_park = std::chrono::minutes{10};

}  // namespace

bool UnlistedKeys::may_run(std::string_view cluster, std::string_view namespace_) const {
  const bool is_divided =
      cluster.empty() && !namespace_.empty() && namespace_.find(':') == std::string_view::npos;
  return environment_.shards == nullptr || !is_divided || feed_.holds(namespace_);
}

// The caches may have come to hold the namespace just before the key was parked.
void UnlistedKeys::park(const RequestKey& key, Priority priority) {
  {
    MutexLock lock(mutex_);
    parked_.insert_or_assign(key, priority);
  }
  queue_.defer(key, longest_park, priority);
  if (may_run(key.cluster(), key.namespace_())) release();
}

// Keys that another replica has by now are forgotten: their objects are delivered again if they come back.
void UnlistedKeys::release() noexcept {
  if (environment_.shards == nullptr) return;
  std::vector<std::pair<RequestKey, Priority>> ready;
  {
    MutexLock lock(mutex_);
    std::erase_if(parked_, [&](const auto& entry) {
      const RequestKey& key = entry.first;
      if (environment_.shards->owns(key.namespace_(), key.name()) &&
          !may_run(key.cluster(), key.namespace_()))
        return false;
      ready.emplace_back(key, entry.second);
      return true;
    });
  }
  for (const auto& [key, priority] : ready) queue_.queue().add(key, priority);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
