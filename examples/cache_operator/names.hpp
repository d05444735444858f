// SPDX-License-Identifier: Apache-2.0
// Names and labels of the objects of a Memcached.
#pragma once

#include <map>
#include <string>

#include "memcached_v1.hpp"

namespace cache_operator {

using Labels = std::map<std::string, std::string>;

// The StatefulSet, the Service and the PodDisruptionBudget have the name of the Memcached.
inline std::string config_name(const v1::Memcached& memcached) {
  return memcached.metadata.name + "-config";
}
inline std::string flush_name(const v1::Memcached& memcached) {
  return memcached.metadata.name + "-flush";
}

/// Labels of all objects of a Memcached.
inline Labels object_labels(const v1::Memcached& memcached) {
  return {{"app.kubernetes.io/name", "memcached"},
          {"app.kubernetes.io/instance", memcached.metadata.name},
          {"app.kubernetes.io/managed-by", "cache-operator"}};
}
/// Labels of the Pods of the servers, and of no others: Service, budget and StatefulSet select by them.
inline Labels server_labels(const v1::Memcached& memcached) {
  return {{"app.kubernetes.io/name", "memcached"},
          {"app.kubernetes.io/instance", memcached.metadata.name},
          {"app.kubernetes.io/component", "server"}};
}

}  // namespace cache_operator
