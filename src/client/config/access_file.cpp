// SPDX-License-Identifier: Apache-2.0
#include "client/config/access_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "base/files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

AccessRecord read_accesses(const std::string& path, MissingFile missing) {
  std::string problem;
  const std::optional<std::string> text = read_file(path, problem);
  if (!text && missing == MissingFile::empty && is_missing(problem)) return {};
  if (!text) throw std::invalid_argument("--access-record: " + path + " cannot be read: " + problem);
  try {
    return AccessRecord::parse(*text, path);
  } catch (const DecodeError& error) {
    throw std::invalid_argument(std::string("--access-record: ") + error.what());
  }
}

void write_accesses(const std::string& path, const AccessRecord& accesses, const std::string& program) {
  AccessRecord all = read_accesses(path, MissingFile::empty);
  all.add(accesses);
  const std::string text = "# Requests of " + program +
                           ": verb, API group, resource, namespace and name; - is none, * are various.\n" +
                           all.str();
  const std::string temporary = path + ".new";
  std::FILE* file = std::fopen(temporary.c_str(), "we");
  bool written = file != nullptr;
  if (file != nullptr) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0)
    throw Error("--access-record: " + path + " cannot be written: " + std::strerror(errno));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
