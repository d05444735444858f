// SPDX-License-Identifier: Apache-2.0
// Timestamps of documents, to the second as metadata has them.
#pragma once

#include <string>

#include <evenkeel/base/time.hpp>

namespace evenkeel::inline v0::testing {

/// "2026-01-02T03:04:05Z"; fractions are dropped.
std::string timestamp(WallTime time);

}  // namespace evenkeel::inline v0::testing
