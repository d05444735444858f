// SPDX-License-Identifier: Apache-2.0
// Reading of whole files, with the system's error message on failure.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the contents, or nullopt with `problem` set: "No such file or directory". A file of more than
/// limits::file_bytes (base/limits.hpp) is not read: "longer than 8388608 bytes".
EVENKEEL_API std::optional<std::string> read_file(const std::string& path, std::string& problem);
/// Returns the contents. Throws Error: "PATH cannot be read: No such file or directory".
EVENKEEL_API std::string read_file(const std::string& path);
/// Returns true if `problem` means that the file does not exist.
bool is_missing(const std::string& problem);

/// Resolves `path` relative to the directory of `file`; absolute paths are unchanged.
std::string relative_to(const std::string& path, const std::string& file);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
