// SPDX-License-Identifier: Apache-2.0
// Definitions that become C++ types. The header is made again with the same text, and nothing in it can hide
// code or make code of a text.
#include <stdexcept>

#include "fuzz.hpp"
#include "targets.hpp"

#ifdef EVENKEEL_WITH_TOOLS
#include <evenkeel/api/json.hpp>

#include "programs/evenkeel/types/types.hpp"
#endif

namespace evenkeel::fuzz {

#ifdef EVENKEEL_WITH_TOOLS
namespace {

/// Checks the lines of a header: comments end with their line, and no line has control characters.
void check_lines(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    for (const char c : line)
      check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "no control characters");
    if (line.find("//") == line.find_first_not_of(' '))
      check(!line.ends_with('\\') && !line.ends_with("?\?/"), "a comment ends with its line");
  }
}

}  // namespace
#endif

void types([[maybe_unused]] std::string_view input) {
#ifdef EVENKEEL_WITH_TOOLS
  const std::vector<program::TypesInput> inputs = {{"crd.yaml", std::string(input)}};
  try {
    const std::string header = program::types_header(inputs, {});
    check(program::types_header(inputs, {}) == header, "a header is made again with the same text");
    check_lines(header);
  } catch (const DecodeError& error) {
    check(std::string_view(error.what()).starts_with("crd.yaml"), "an error names the file");
  } catch (const std::invalid_argument&) {
    // Two kinds of one name.
  }
#endif
}

}  // namespace evenkeel::fuzz
