// SPDX-License-Identifier: Apache-2.0
// Admission of a Memcached: the defaults that a schema cannot have, and the checks that CEL rules cannot
// make.
#pragma once

#include "memcached_v1.hpp"
#include "settings.hpp"

namespace cache_operator {

/// A Memcached with this annotation cannot be deleted.
inline constexpr std::string_view keep_annotation = "cache.evenkeel.dev/keep";

ek::Webhook memcached_webhook(const Settings& settings);

}  // namespace cache_operator
