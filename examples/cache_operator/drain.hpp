// SPDX-License-Identifier: Apache-2.0
// The finalizer: a Memcached goes when its servers have stopped, or after a time limit.
#pragma once

#include "memcached_v1.hpp"
#include "settings.hpp"

namespace cache_operator {

inline constexpr std::string_view drain_finalizer = "cache.evenkeel.dev/drain";

/// Stops the servers and waits for their end, so that clients of a new Memcached of the same name never reach
/// a server of the old one.
ek::Result drain(ek::Context& context, const v1::Memcached& memcached, const Settings& settings);

}  // namespace cache_operator
