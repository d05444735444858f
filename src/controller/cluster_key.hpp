// SPDX-License-Identifier: Apache-2.0
// Names of objects of several clusters in places that have one for an object.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the namespace that stands for an object's cluster and namespace in a ring: objects of a namespace
/// of one cluster stay together, those of namespaces of the same name in several clusters do not.
inline std::string shard_namespace(std::string_view cluster, std::string_view object_namespace) {
  if (cluster.empty()) return std::string(object_namespace);
  return std::string(cluster).append(":").append(object_namespace);
}

/// Returns the cluster of "eu:default"; empty if there is none. A namespace has no colon.
inline std::string_view cluster_prefix(std::string_view text) {
  const auto colon = text.find(':');
  return colon == std::string_view::npos ? std::string_view() : text.substr(0, colon);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
