// SPDX-License-Identifier: Apache-2.0
// A manifest of the embedded API server. The parser of YAML in block style agrees with yaml-cpp.
#include "apiserver/shell/manifest.hpp"

#include <optional>

#include <evenkeel/api/json.hpp>

#include "apiserver/text/block_yaml.hpp"
#include "client/config/yaml_text.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {

void manifest(std::string_view input) {
  if (const auto block = apiserver::parse_block_yaml(input)) {
    std::optional<Json> other;
    try {
      other = v0::detail::yaml_to_json(v0::detail::load_yaml(std::string(input)),
                                       v0::detail::yaml_allowance(input.size()));
    } catch (const YAML::Exception&) {
      check(false, "a document in block style is YAML");
    }
    check(block->document.dump() == other->dump(), "both parsers read the same");
  }
  try {
    for (const apiserver::ManifestObject& object : apiserver::read_manifest(input))
      check(Json::parse(object.text).dump() == object.text, "the text of an object is compact JSON");
  } catch (const DecodeError&) {
  }
}

}  // namespace evenkeel::fuzz
