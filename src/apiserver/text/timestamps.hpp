// SPDX-License-Identifier: Apache-2.0
// Timestamps of documents, to the second as metadata has them.
#pragma once

#include <string>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// "2026-01-02T03:04:05Z"; fractions are dropped.
std::string timestamp(WallTime time);

/// Why Go's time.ParseDuration refuses a text ("90s", "1h30m"); empty if it takes it.
std::string duration_problem(const std::string& text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
