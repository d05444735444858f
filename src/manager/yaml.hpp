// SPDX-License-Identifier: Apache-2.0
// Formats JSON documents as YAML for people: the output of --print-crds.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns block style, members in the order of the document, strings quoted unless they are unambiguous. Any
/// YAML parser restores the document.
std::string to_yaml(const Json& document);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
