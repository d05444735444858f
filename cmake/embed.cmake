# SPDX-License-Identifier: Apache-2.0
# cmake -D INPUT=file -D OUTPUT=file.cpp -D SYMBOL=namespace::name -P embed.cmake
# Writes a .cpp that defines `extern const std::string_view SYMBOL` with the text of INPUT; a namespace of SYMBOL may be
# preceded by `inline`. The text is cut into raw string literals of at most 8 KiB, which every compiler takes; it may
# not hold `)embedded"`.
file(READ "${INPUT}" text)
string(LENGTH "${text}" left)
set(at 0)
set(literals "")
while(at LESS left)
  string(SUBSTRING "${text}" ${at} 8192 piece)
  string(LENGTH "${piece}" length)
  string(APPEND literals "R\"embedded(${piece})embedded\"\n")
  math(EXPR at "${at} + ${length}")
endwhile()
string(REGEX REPLACE "::[^:]*$" "" scope "${SYMBOL}")
string(REGEX REPLACE "^.*::" "" name "${SYMBOL}")
file(WRITE "${OUTPUT}" "// Made from ${INPUT} by cmake/embed.cmake.
#include <string_view>
#pragma GCC diagnostic ignored \"-Woverlength-strings\"
namespace ${scope} {
extern const std::string_view ${name};
constexpr char ${name}_data[] = ${literals};
const std::string_view ${name}(${name}_data, sizeof ${name}_data - 1);
}
")
