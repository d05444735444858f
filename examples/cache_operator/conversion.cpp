// SPDX-License-Identifier: Apache-2.0
#include "conversion.hpp"

#include <string>

namespace cache_operator {
namespace {

v1alpha1::MemcachedSpec lowered(const v1::MemcachedSpec& spec) {
  return {.size = spec.replicas,
          .image = spec.image,
          .memory_megabytes = spec.memory.value() / mebibyte,
          .connections = spec.connections,
          .threads = spec.threads,
          .secret_name = spec.auth ? spec.auth->secret_name : ""};
}

}  // namespace

// Begins with the spec that was lowered, and takes over what differs from it, which a user changed since.
void to_v1(const v1alpha1::Memcached& from, v1::Memcached& to) {
  const std::string annotation(v1_spec_annotation);
  if (const auto kept = to.metadata.annotations.find(annotation); kept != to.metadata.annotations.end()) {
    to.spec = ek::from_json<v1::MemcachedSpec>(kept->second, "annotation " + annotation);
    to.metadata.annotations.erase(kept);
  }
  const v1alpha1::MemcachedSpec before = lowered(to.spec);
  to.spec.replicas = from.spec.size;
  to.spec.image = from.spec.image;
  if (from.spec.memory_megabytes != before.memory_megabytes)
    to.spec.memory = ek::Quantity(from.spec.memory_megabytes * mebibyte, ek::Quantity::Format::binary);
  to.spec.connections = from.spec.connections;
  to.spec.threads = from.spec.threads;
  if (from.spec.secret_name.empty())
    to.spec.auth.reset();
  else
    to.spec.auth = v1::Auth{.secret_name = from.spec.secret_name};
  to.status = from.status;
}

void to_v1alpha1(const v1::Memcached& from, v1alpha1::Memcached& to) {
  to.spec = lowered(from.spec);
  to.metadata.annotations[std::string(v1_spec_annotation)] = ek::to_json(from.spec);
  to.status = from.status;
}

ek::Conversion memcached_conversion() {
  return ek::conversion_through<v1::Memcached>().converts<v1alpha1::Memcached>(to_v1, to_v1alpha1);
}

}  // namespace cache_operator
