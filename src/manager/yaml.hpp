// SPDX-License-Identifier: Apache-2.0
// JSON documents as YAML for people's eyes: what --print-crds prints.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Block style, members in the order of the document, strings quoted unless they can be read as nothing
/// but strings. Any YAML reader gives the same document back.
std::string to_yaml(const Json& document);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
