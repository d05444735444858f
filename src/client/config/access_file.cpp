// SPDX-License-Identifier: Apache-2.0
#include "client/config/access_file.hpp"

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
  // A record that is added to is replaced by an own file; one that is only read may be anybody's.
  const FileRule rule = missing == MissingFile::empty ? FileRule::own : FileRule::named;
  const std::optional<std::string> text = read_file(path, problem, rule);
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
  try {
    replace_file(path, text);
  } catch (const Error& error) {
    throw Error("--access-record: " + path + " cannot be written: " + error.what());
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
