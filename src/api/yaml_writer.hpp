// SPDX-License-Identifier: Apache-2.0
// The YAML emitter: of answers to clients that ask for YAML, and of --print-crds. Shared with floors above.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns `document` in block style, ended by a line break: members in natural order of their names, lists
/// not indented, and the quotes of Go's encoder, so that the bytes are those that a real API server and
/// `kubectl -o yaml` write. Source: sigs.k8s.io/yaml JSONToYAML.
EVENKEEL_API std::string to_yaml(const Json& document);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
