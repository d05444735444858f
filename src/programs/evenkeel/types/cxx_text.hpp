// SPDX-License-Identifier: Apache-2.0
// Texts of others as C++: string literals and comments that cannot change the code around them.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel::program {

constexpr std::size_t line_width = 110;

/// Returns a string literal of `text`, without trigraphs.
std::string literal(std::string_view text);

/// Returns the first paragraph of `text` as lines of a documentation comment behind `indent`, each ended by a
/// line break; "" for a text without words. Control characters and marks of text direction are left out, and
/// no line ends in a backslash, which would continue it.
std::string comment(std::string_view text, std::string_view indent);

}  // namespace evenkeel::program
