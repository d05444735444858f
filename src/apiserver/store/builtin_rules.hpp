// SPDX-License-Identifier: Apache-2.0
// Deviations of built-in resources from the common rules, which Kubernetes implements in Go for each kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Source: the strategies under kubernetes pkg/registry/*/*/strategy.go.
ResourceRules builtin_rules(std::string_view group, std::string_view plural);

/// Returns the field selectors other than metadata.name and metadata.namespace.
std::vector<std::string> builtin_selectable_fields(std::string_view group, std::string_view plural);

/// Returns the key prefix in etcd: "/registry/services/specs".
std::string builtin_registry_key(std::string_view group, std::string_view plural);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
