// SPDX-License-Identifier: Apache-2.0
// Settings of the operator, which its own flags change.
#pragma once

#include <chrono>
#include <string>

#include <evenkeel/base/time.hpp>

namespace cache_operator {

struct Settings {
  std::string image = "memcached:1.6.39";    // of caches that name none
  std::string flush_image = "busybox:1.37";  // of the job that empties caches
  evenkeel::Duration rollout_limit = std::chrono::minutes{10};
  evenkeel::Duration drain_limit = std::chrono::minutes{2};
};

}  // namespace cache_operator
