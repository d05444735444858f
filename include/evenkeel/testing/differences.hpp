// SPDX-License-Identifier: Apache-2.0
// Differences between two documents, as text for reports of tests.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Returns the changes from one document to another, a line for each path, in the order of paths:
/// `status.readyReplicas: 1 -> 3`, `metadata.finalizers[0]: added "a/b"`, `spec.image: removed "web:1"`.
EVENKEEL_API std::vector<std::string> differences(const Json& before, const Json& after);

/// Returns the reasons why `document` does not contain `part`, a line for each path: `status.readyReplicas:
/// expected 3, found 1`; empty if it does. For objects, only the members of `part` are compared; lists and
/// scalars must be equal, except for additional members of objects inside lists. Null in `part` means absent.
EVENKEEL_API std::vector<std::string> missing(const Json& part, const Json& document);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
