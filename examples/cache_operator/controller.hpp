// SPDX-License-Identifier: Apache-2.0
// The controller: what it watches, and what it does for a Memcached.
#pragma once

#include <vector>

#include "memcached_v1.hpp"
#include "settings.hpp"

namespace cache_operator {

/// `registry` gets the metrics, and must outlive this call only.
ek::ControllerSpec memcached_controller(const Settings& settings, ek::MetricRegistry& registry);

/// Rights of the reconciler besides those of its watches; tests/rights_test.cpp holds them.
std::vector<ek::PolicyRule> memcached_rules();

}  // namespace cache_operator
