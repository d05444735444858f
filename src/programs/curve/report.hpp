// SPDX-License-Identifier: Apache-2.0
// Requeue curves as text: a table, comma-separated values, or a script that has gnuplot draw them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace curve {

/// The requeues per second of so many objects.
struct Column {
  std::uint32_t objects = 1;
  std::vector<std::uint64_t> requeues = {};
};

/// One row for each second, one column for each number of objects, sums below. Columns are equally long.
std::string table(const std::vector<Column>& columns);

/// The same without sums: second,1,100,10000.
std::string comma_separated(const std::vector<Column>& columns);

enum class Picture : std::uint8_t { svg, png };

/// A gnuplot script that draws one panel for each column into `file`, with `title` above.
std::string gnuplot_script(const std::vector<Column>& columns, const std::string& title,
                           const std::string& file, Picture picture);

/// Has gnuplot run `script`. Throws evenkeel::Error that says what to install if there is no gnuplot, or
/// that it failed.
void run_gnuplot(const std::string& script);

}  // namespace curve
}  // namespace v0
}  // namespace evenkeel
