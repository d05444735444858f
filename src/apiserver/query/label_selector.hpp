// SPDX-License-Identifier: Apache-2.0
// LabelSelectors in documents; selector.hpp has those of queries.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Formats a selector as in a query: a string, a map of labels, or a LabelSelector.
std::string label_selector_text(const Json& selector);

/// Returns true if a LabelSelector selects these labels. An empty one selects everything. Throws StatusError
/// (400) for an operator or value that is not valid.
bool selects(const Json& selector, const Json& labels);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
