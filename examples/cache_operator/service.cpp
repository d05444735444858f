// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"
#include "objects.hpp"

namespace cache_operator {

// Without an address of its own: clients of memcached distribute their keys over the servers themselves, so
// they need the address of each.
ek::Service service_of(const v1::Memcached& memcached) {
  ek::Service service{.metadata = {.name = memcached.metadata.name, .labels = object_labels(memcached)}};
  service.spec.cluster_ip = "None";
  service.spec.selector = server_labels(memcached);
  service.spec.ports = {{.name = "memcached", .port = memcached.spec.port, .target_port = "memcached"}};
  return service;
}

}  // namespace cache_operator
