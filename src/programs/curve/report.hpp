// SPDX-License-Identifier: Apache-2.0
// Requeue curves as text: a table, comma-separated values, or a gnuplot script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace curve {

/// The requeues per second for a number of objects.
struct Column {
  std::uint32_t objects = 1;
  std::vector<std::uint64_t> requeues = {};
};

/// Formats one row per second, one column per number of objects, and the sums. Columns have equal length.
std::string table(const std::vector<Column>& columns);

/// Formats comma-separated values without sums: second,1,100,10000.
std::string comma_separated(const std::vector<Column>& columns);

enum class Picture : std::uint8_t { svg, png };

/// Returns a gnuplot script that draws one panel per column into `file`, with `title` above.
std::string gnuplot_script(const std::vector<Column>& columns, const std::string& title,
                           const std::string& file, Picture picture);

/// Runs `script` in gnuplot. Throws evenkeel::Error if gnuplot is not installed (naming the package) or
/// fails.
void run_gnuplot(const std::string& script);

}  // namespace curve
}  // namespace v0
}  // namespace evenkeel
