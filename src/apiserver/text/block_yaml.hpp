// SPDX-License-Identifier: Apache-2.0
// A parser of YAML as kubectl and API servers write it, on libyaml's events. It is many times faster than
// yaml-cpp, which parses the rest and finds the errors.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct BlockYaml {
  Json document = {};
  bool duplicates = false;  ///< A mapping has a key twice; the last value counts.
};

/// Called with each item of the list `items` of the document, in order.
using YamlItem = std::function<void(Json)>;

/// Parses one document of ASCII text in block style: mappings, sequences, literals, scalars on one line,
/// comments, {} and []. Returns nothing for a document with anything else, malformed ones included: those are
/// for yaml-cpp, with which it agrees about all others. With `on_item`, its items are passed to the function,
/// also those before text that cannot be parsed, and the document has none. Scalars are typed as in YAML 1.1
/// and by Go's decoder.
std::optional<BlockYaml> parse_block_yaml(std::string_view text, const YamlItem& on_item = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
