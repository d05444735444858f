// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include <evenkeel/base/error.hpp>

#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
std::optional<std::string> read_file(const std::string& path, std::string& problem) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  std::string content;
  char piece[4096];
  while (file) {
    const std::size_t got = std::fread(piece, 1, sizeof(piece), file.get());
    content.append(piece, got);
    if (content.size() > limits::file_bytes) {
      problem = "longer than " + std::to_string(limits::file_bytes) + " bytes";
      return std::nullopt;
    }
    if (got == sizeof(piece)) continue;
    if (std::ferror(file.get()) == 0) return content;
    break;
  }
  problem = std::generic_category().message(errno);
  return std::nullopt;
}

std::string read_file(const std::string& path) {
  std::string problem;
  std::optional<std::string> content = read_file(path, problem);
  if (!content) throw Error(path + " cannot be read: " + problem);
  return std::move(*content);
}

bool is_missing(const std::string& problem) {
  return problem == std::generic_category().message(ENOENT);
}

std::string relative_to(const std::string& path, const std::string& file) {
  if (path.empty() || path.front() == '/') return path;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
