// SPDX-License-Identifier: Apache-2.0
// The objects that a Memcached consists of, as functions of it: nothing is read, nothing is written. Each is
// in a source of its own.
#pragma once

#include <string>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/batch.hpp>
#include <evenkeel/api/kinds/policy.hpp>

#include "auth.hpp"
#include "memcached_v1.hpp"
#include "settings.hpp"

namespace cache_operator {

/// Settings of the servers, as variables of their environment.
ek::ConfigMap config_map_of(const v1::Memcached& memcached);
/// Gives each server a name, and all of them one.
ek::Service service_of(const v1::Memcached& memcached);
/// The servers. A change of the configuration or of the users restarts them, because their hashes are
/// annotations of the Pods.
ek::StatefulSet stateful_set_of(const v1::Memcached& memcached, const Users& users, const Settings& settings);
ek::policy_v1::PodDisruptionBudget disruption_budget_of(const v1::Memcached& memcached);
/// The job that empties the servers; only for a Memcached with spec.flush.
ek::CronJob flush_job_of(const v1::Memcached& memcached, const Settings& settings);

}  // namespace cache_operator
