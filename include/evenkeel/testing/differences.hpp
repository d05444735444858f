// SPDX-License-Identifier: Apache-2.0
// How two documents differ, in words: what reports of tests are made of.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// What changed from one document to another, a line for each place, in order of their paths:
/// `status.readyReplicas: 1 -> 3`, `metadata.finalizers[0]: added "a/b"`, `spec.image: removed "web:1"`.
EVENKEEL_API std::vector<std::string> differences(const Json& before, const Json& after);

/// Why `document` does not contain `part`, a line for each place: `status.readyReplicas: expected 3, found
/// 1`; empty if it does. Of objects, the members that `part` names are compared; lists and plain values must
/// be equal, but for members that objects inside a list have beyond those named. Null in `part` means absent.
EVENKEEL_API std::vector<std::string> missing(const Json& part, const Json& document);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
