// SPDX-License-Identifier: Apache-2.0
#include "programs/curve/report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <sys/wait.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel {
inline namespace v0 {
namespace curve {
namespace {

std::string heading(std::uint32_t objects) {
  return std::to_string(objects) + (objects == 1 ? " object" : " objects");
}

std::uint64_t sum(const Column& column) {
  return std::accumulate(column.requeues.begin(), column.requeues.end(), std::uint64_t{0});
}

// Appends `cells`, right-aligned in their columns, two spaces apart.
void append_row(std::string& out, const std::vector<std::string>& cells,
                const std::vector<std::size_t>& widths) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t width = widths[i] + (i == 0 ? 0 : 2);
    if (cells[i].size() < width) out.append(width - cells[i].size(), ' ');
    out += cells[i];
  }
  out += '\n';
}

// In gnuplot's single quotes only the quote itself is special.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    out += letter;
    if (letter == '\'') out += letter;
  }
  return out + "'";
}

std::string terminal(Picture picture, std::size_t panels) {
  const std::string size = " size " + std::to_string(300 * panels + 60) + ",320";
  return picture == Picture::svg ? "svg noenhanced dynamic background rgb 'white' font 'sans-serif,12'" + size
                                 : "pngcairo noenhanced font 'sans-serif,9'" + size;
}

}  // namespace

std::string table(const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> rows(1, {"second"});
  for (const Column& column : columns) rows.front().push_back(heading(column.objects));
  for (std::size_t second = 0; second < columns.front().requeues.size(); ++second) {
    std::vector<std::string>& row = rows.emplace_back(1, std::to_string(second));
    for (const Column& column : columns) row.push_back(std::to_string(column.requeues[second]));
  }
  std::vector<std::string>& sums = rows.emplace_back(1, "sum");
  for (const Column& column : columns) sums.push_back(std::to_string(sum(column)));

  std::vector<std::size_t> widths(columns.size() + 1);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) append_row(out, row, widths);
  return out;
}

std::string comma_separated(const std::vector<Column>& columns) {
  std::string out = "second";
  for (const Column& column : columns) out += "," + std::to_string(column.objects);
  for (std::size_t second = 0; second < columns.front().requeues.size(); ++second) {
    out += "\n" + std::to_string(second);
    for (const Column& column : columns) out += "," + std::to_string(column.requeues[second]);
  }
  return out + "\n";
}

std::string gnuplot_script(const std::vector<Column>& columns, const std::string& title,
                           const std::string& file, Picture picture) {
  const std::size_t seconds = columns.front().requeues.size();
  const std::string width =
      std::to_string(std::clamp<std::size_t>(180 / seconds, 1, 8));  // width of a bar, in pixels
  std::string script = "$requeues << EOD\n";
  for (std::size_t second = 0; second < seconds; ++second) {
    script += std::to_string(second);
    for (const Column& column : columns) script += " " + std::to_string(column.requeues[second]);
    script += "\n";
  }
  script += "EOD\n";
  script += "set terminal " + terminal(picture, columns.size()) + "\n";
  script += "set output " + quoted(file) + "\n";
  script += "set multiplot layout 1," + std::to_string(columns.size()) + " title " + quoted(title) + "\n";
  script += "set grid ytics\nunset key\nset tics nomirror out\n";
  script += "set border 3\nset xlabel 'second'\nset ylabel 'requeues per second'\nset format y '%.0f'\n";
  script += "set xrange [-1:" + std::to_string(seconds) + "]\nset yrange [0:*]\n";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string requeues = std::to_string(i + 2);
    script += "set title " + quoted(heading(columns[i].objects)) + "\n";
    script += "plot $requeues using 1:" + requeues + " with impulses linewidth " + width +
              " linecolor rgb '#326ce5'\n";
  }
  return script + "unset multiplot\n";
}

void run_gnuplot(const std::string& script) {
  constexpr int not_found = 127;  // exit code of a shell if there is no such program
  std::FILE* gnuplot = ::popen("gnuplot", "w");
  if (gnuplot == nullptr) throw Error("cannot start a shell to run gnuplot");
  const bool written = std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  const int status = ::pclose(gnuplot);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_found) {
    throw Error("drawing needs gnuplot: install the package gnuplot-nox, or take --csv to another tool");
  }
  if (!written || !WIFEXITED(status) || WEXITSTATUS(status) != 0) throw Error("gnuplot failed; see above");
}

}  // namespace curve
}  // namespace v0
}  // namespace evenkeel
