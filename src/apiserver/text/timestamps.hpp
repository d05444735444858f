// SPDX-License-Identifier: Apache-2.0
// Timestamps of documents, with a resolution of one second as in metadata.
#pragma once

#include <string>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns "2026-01-02T03:04:05Z"; fractions are dropped.
std::string timestamp(WallTime time);

/// Returns the error of Go's time.ParseDuration for a text ("90s", "1h30m"); empty if it is valid.
std::string duration_problem(const std::string& text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
