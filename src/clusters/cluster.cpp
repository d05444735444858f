// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/clusters/cluster.hpp>
#include <evenkeel/events/event_recorder.hpp>

namespace evenkeel {
inline namespace v0 {

void check_cluster_name(std::string_view name) {
  constexpr std::size_t longest = 253;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool good = !name.empty() && name.size() <= longest && plain(name.front()) && plain(name.back()) &&
                    std::all_of(name.begin(), name.end(),
                                [&](char c) { return plain(c) || c == '-' || c == '_' || c == '.'; });
  if (!good)
    throw std::invalid_argument("the name of a cluster, " + Json(name).dump() +
                                ", must be up to 253 letters, digits, '-', '_' and '.', the first and the "
                                "last a letter or digit");
}

Cluster::Cluster(Parts parts)
    : name_(std::move(parts.name)),
      client_(std::move(parts.client)),
      cache_(std::move(parts.cache)),
      events_(std::move(parts.events)),
      stop_(std::move(parts.stop)) {}

Cluster::~Cluster() = default;

}  // namespace v0
}  // namespace evenkeel
