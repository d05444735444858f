// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

namespace cache_operator {
namespace {

ek::Json row_of(const v1::Memcached& memcached) {
  const ek::Condition* const degraded = ek::find_condition(memcached.status.conditions, "Degraded");
  const bool bad = degraded != nullptr && degraded->status == "True";
  return ek::Json::object({{"cache", ek::key_of(memcached).str()},
                           {"servers", memcached.spec.replicas},
                           {"ready", memcached.status.ready_replicas},
                           {"problem", bad ? degraded->reason : ""}});
}

}  // namespace

void add_console_section(ek::Manager& manager) {
  manager.add_console_section("Caches", [&manager] {
    ek::Json rows = ek::Json::array();
    for (const auto& memcached : manager.cache().list<v1::Memcached>()) rows.push_back(row_of(*memcached));
    return rows;
  });
}

}  // namespace cache_operator
