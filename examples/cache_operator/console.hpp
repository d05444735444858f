// SPDX-License-Identifier: Apache-2.0
// A section of the console (--console): all caches in a table.
#pragma once

#include "memcached_v1.hpp"

namespace cache_operator {

void add_console_section(ek::Manager& manager);

}  // namespace cache_operator
