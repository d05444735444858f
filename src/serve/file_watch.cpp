// SPDX-License-Identifier: Apache-2.0
#include "serve/file_watch.hpp"

#include <sys/stat.h>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

FileWatch::Stamp FileWatch::stamp_of(const std::string& path) {
  struct ::stat found {};
  Stamp stamp;
  stamp.size = -1;
  if (::stat(path.c_str(), &found) != 0) return stamp;
  stamp.device = static_cast<std::uint64_t>(found.st_dev);
  stamp.inode = static_cast<std::uint64_t>(found.st_ino);
  stamp.size = static_cast<std::int64_t>(found.st_size);
  stamp.seconds = static_cast<std::int64_t>(found.st_mtim.tv_sec);
  stamp.nanoseconds = static_cast<std::int64_t>(found.st_mtim.tv_nsec);
  return stamp;
}

bool FileWatch::changed() {
  bool changed = false;
  for (std::size_t at = 0; at < paths_.size(); ++at) {
    const Stamp now = stamp_of(paths_[at]);
    if (now != std::exchange(seen_[at], now)) changed = true;
  }
  return changed;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
