// SPDX-License-Identifier: Apache-2.0
// Reading whole files, with the system's reason where that fails.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The content, or nothing with `problem` set: "No such file or directory". A file of more than
/// limits::file_bytes (http/limits.hpp) is not read: "longer than 8388608 bytes".
EVENKEEL_API std::optional<std::string> read_file(const std::string& path, std::string& problem);
/// The content. Throws Error: "PATH cannot be read: No such file or directory".
EVENKEEL_API std::string read_file(const std::string& path);
/// Whether `problem` says that there is no such file.
bool is_missing(const std::string& problem);

/// `path` as seen from the directory of `file`; absolute paths stay.
std::string relative_to(const std::string& path, const std::string& file);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
