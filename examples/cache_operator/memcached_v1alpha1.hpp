// SPDX-License-Identifier: Apache-2.0
// The kind Memcached in its first version, v1alpha1: still served, deprecated, and converted to v1.
#pragma once

#include <optional>
#include <string>

#include "memcached_v1.hpp"

namespace cache_operator::v1alpha1 {

struct MemcachedSpec {
  int size = 1;
  std::optional<std::string> image = {};
  std::int64_t memory_megabytes = 64;
  int connections = 1024;
  int threads = 4;
  std::string secret_name = {};
};
EVENKEEL_FIELDS(MemcachedSpec, (size, ek::minimum(0), ek::maximum(64)), image,
                (memory_megabytes, ek::minimum(8), ek::maximum(1048576)),
                (connections, ek::minimum(1), ek::maximum(65535)), (threads, ek::minimum(1), ek::maximum(64)),
                (secret_name, ek::omit_empty))

struct Memcached {
  static constexpr ek::ResourceInfo resource{.group = "cache.evenkeel.dev",
                                             .version = "v1alpha1",
                                             .kind = "Memcached",
                                             .plural = "memcacheds",
                                             .short_name = "mc",
                                             .installs_crd = true};
  static constexpr std::string_view categories[] = {"all"};
  static constexpr ek::CrdVersion crd_version{
      .storage = false, .deprecation_warning = "cache.evenkeel.dev/v1alpha1 Memcached is deprecated; use v1"};
  static constexpr ek::ScaleSubresource scale{.spec_replicas_path = ".spec.size",
                                              .label_selector_path = ".status.selector"};
  ek::ObjectMeta metadata = {};
  MemcachedSpec spec = {};
  v1::MemcachedStatus status = {};
};
EVENKEEL_FIELDS(Memcached, metadata, spec, status)

}  // namespace cache_operator::v1alpha1
