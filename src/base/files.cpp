// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <evenkeel/base/error.hpp>

#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string reason() {
  return std::generic_category().message(errno);
}

// Returns what speaks against a file, or "".
std::string problem_of(const struct stat& file, FileRule rule) {
  if (S_ISDIR(file.st_mode)) return std::generic_category().message(EISDIR);
  if (rule != FileRule::named && !S_ISREG(file.st_mode)) return "it is not a regular file";
  if (rule != FileRule::own) return {};
  if (file.st_uid != ::geteuid()) return "it belongs to another user";
  // Its group may: volumes with an fsGroup allow that.
  return (file.st_mode & S_IWOTH) != 0 ? "everybody can write it" : "";
}

std::string too_long() {
  return "longer than " + std::to_string(limits::file_bytes) + " bytes";
}

}  // namespace

OpenFile open_file(const std::string& path, FileRule rule, std::string& problem) {
  // Opening a pipe would wait for a writer without O_NONBLOCK.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int number = ::open(path.c_str(), rule == FileRule::own ? flags | O_NOFOLLOW : flags);
  if (number < 0) {
    problem = errno == ELOOP && rule == FileRule::own ? "it is a symbolic link" : reason();
    return nullptr;
  }
  struct stat file {};
  problem = ::fstat(number, &file) != 0 ? reason() : problem_of(file, rule);
  if (problem.empty() && ::fcntl(number, F_SETFL, flags & ~O_NONBLOCK) != 0) problem = reason();
  OpenFile opened(problem.empty() ? ::fdopen(number, "rb") : nullptr);
  if (problem.empty() && !opened) problem = reason();
  if (!opened) ::close(number);
  return opened;
}

std::optional<std::string> read_file(const std::string& path, std::string& problem, FileRule rule) {
  const OpenFile file = open_file(path, rule, problem);
  if (!file) return std::nullopt;
  struct stat found {};
  const bool is_known = ::fstat(::fileno(file.get()), &found) == 0 && S_ISREG(found.st_mode);
  if (is_known && found.st_size > static_cast<off_t>(limits::file_bytes)) {
    problem = too_long();
    return std::nullopt;
  }
  std::string content;
  char piece[4096];
  for (;;) {
    const std::size_t got = std::fread(piece, 1, sizeof(piece), file.get());
    content.append(piece, got);
    if (content.size() > limits::file_bytes) {
      problem = too_long();
      return std::nullopt;
    }
    if (got == sizeof(piece)) continue;
    if (std::ferror(file.get()) == 0) return content;
    problem = reason();
    return std::nullopt;
  }
}

std::string read_file(const std::string& path, FileRule rule) {
  std::string problem;
  std::optional<std::string> content = read_file(path, problem, rule);
  if (!content) throw Error(path + " cannot be read: " + problem);
  return std::move(*content);
}

bool is_missing(const std::string& problem) {
  return problem == std::generic_category().message(ENOENT);
}

FileReplacement::FileReplacement(std::string path) : path_(std::move(path)), draft_(path_ + ".new") {
  if (::unlink(draft_.c_str()) != 0 && errno != ENOENT) throw Error(draft_ + ": " + reason());
  const int number =
      ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (number < 0) throw Error(reason());
  file_.reset(::fdopen(number, "wb"));
  if (file_) return;
  const std::string problem = reason();
  ::close(number);
  ::unlink(draft_.c_str());
  throw Error(problem);
}

FileReplacement::~FileReplacement() {
  if (file_) ::unlink(draft_.c_str());
}

void FileReplacement::commit() {
  const bool is_complete = std::ferror(file_.get()) == 0;
  if (std::fclose(file_.release()) == 0 && is_complete && ::rename(draft_.c_str(), path_.c_str()) == 0)
    return;
  const std::string problem = reason();
  ::unlink(draft_.c_str());
  throw Error(problem);
}

void replace_file(const std::string& path, const std::string& text) {
  FileReplacement replacement(path);
  if (std::fwrite(text.data(), 1, text.size(), replacement.file()) != text.size()) throw Error(reason());
  replacement.commit();
}

std::string relative_to(const std::string& path, const std::string& file) {
  if (path.empty() || path.front() == '/') return path;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
