// SPDX-License-Identifier: Apache-2.0
// JSON texts, and objects of several kinds decoded from them.
#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

/// Checks that decoded data can be encoded, and decodes to the same again.
template <class Kind>
void decode(std::string_view text) {
  std::string written;
  try {
    written = to_json(from_json<Kind>(text, "object"));
  } catch (const DecodeError&) {
    return;
  }
  check(to_json(from_json<Kind>(written, "object")) == written, "a written object reads as the same");
}

}  // namespace

void json(std::string_view input) {
  Json document;
  try {
    document = Json::parse(input);
  } catch (const DecodeError&) {
    return;
  }
  const std::string text = document.dump();
  const Json again = Json::parse(text);
  check(again == document, "a written document reads as the same");
  check(again.dump() == text, "equal documents have equal text");
  check(Json::parse(document.dump(2)) == document, "an indented document reads as the same");
  decode<Pod>(text);
  decode<Secret>(text);
  decode<Lease>(text);
  decode<Deployment>(text);
}

}  // namespace evenkeel::fuzz
