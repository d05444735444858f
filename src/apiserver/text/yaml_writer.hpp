// SPDX-License-Identifier: Apache-2.0
// Documents as YAML, for clients that ask for it.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Block style with members by name, lists not indented, and the quotes that Go's encoder would set; ends
/// with a line break. Source: sigs.k8s.io/yaml JSONToYAML.
std::string to_yaml(const Json& document);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
