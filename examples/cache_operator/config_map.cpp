// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "names.hpp"
#include "objects.hpp"

namespace cache_operator {

ek::ConfigMap config_map_of(const v1::Memcached& memcached) {
  const v1::MemcachedSpec& spec = memcached.spec;
  return {.metadata = {.name = config_name(memcached), .labels = object_labels(memcached)},
          .data = {{"MEMORY_MEGABYTES", std::to_string(spec.memory.value() / mebibyte)},
                   {"CONNECTIONS", std::to_string(spec.connections)},
                   {"THREADS", std::to_string(spec.threads)}}};
}

}  // namespace cache_operator
