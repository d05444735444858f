// SPDX-License-Identifier: Apache-2.0
// The one way to read and replace whole files, with the system's error message on failure.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Files that may be opened. Opening never waits for another process.
enum class FileRule : std::uint8_t {
  named,    ///< Named by the user: links are followed, and a pipe is read until its writers have closed it.
  regular,  ///< A regular file. Links are followed, as mounted Secrets consist of them.
  own,      ///< A regular file of this user, no link, and not writable by everybody.
};

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

/// Opens a file for reading. Returns null with `problem` set: "No such file or directory", "it is not a
/// regular file", "a symbolic link", "it belongs to another user", "everybody can write it".
EVENKEEL_API OpenFile open_file(const std::string& path, FileRule rule, std::string& problem);

/// Returns the contents, or nullopt with `problem` set, as by open_file(). A file of more than
/// limits::file_bytes (base/limits.hpp) is not read: "longer than 8388608 bytes".
EVENKEEL_API std::optional<std::string> read_file(const std::string& path, std::string& problem,
                                                  FileRule rule = FileRule::named);
/// Returns the contents. Throws Error: "PATH cannot be read: No such file or directory".
EVENKEEL_API std::string read_file(const std::string& path, FileRule rule = FileRule::named);
/// Returns true if `problem` means that the file does not exist.
EVENKEEL_API bool is_missing(const std::string& problem);

/// A new private file (mode 0600) beside `path`, "PATH.new", that takes its place with commit(), and is
/// removed without it. What was at either place before is neither followed nor written.
class EVENKEEL_API FileReplacement {
 public:
  /// Throws Error with the system's reason alone, like the others.
  explicit FileReplacement(std::string path);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  std::FILE* file() const noexcept { return file_.get(); }
  void commit();

 private:
  const std::string path_;
  const std::string draft_;
  OpenFile file_;
};

/// Replaces the file by a private one. Throws Error with the system's reason.
EVENKEEL_API void replace_file(const std::string& path, const std::string& text);

/// Resolves `path` relative to the directory of `file`; absolute paths are unchanged.
std::string relative_to(const std::string& path, const std::string& file);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
