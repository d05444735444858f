// SPDX-License-Identifier: Apache-2.0
// Writes copies of a cache's collections to disk.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>

#include "cache/collection_file.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The files of a cache, and the thread that writes them. Failures are logged: a cache works without them.
/// Thread safety: all members may be called concurrently.
class DiskCopies {
 public:
  DiskCopies(DiskCopyOptions options, std::shared_ptr<const Clock> clock, Log log);
  /// Ends the thread; writes nothing.
  ~DiskCopies();
  DiskCopies(const DiskCopies&) = delete;
  DiskCopies& operator=(const DiskCopies&) = delete;

  /// Returns the file of a collection; null if it is not copied.
  std::shared_ptr<const CollectionFile> file_of(const std::string& server, const ResourceId& resource,
                                                const InformerOptions& options) const;
  /// Copies the informer to its file from now on, as long as it exists. The file stays when it does not.
  void add(std::shared_ptr<const CollectionFile> file, const std::shared_ptr<const Informer>& informer)
      EVENKEEL_EXCLUDES(mutex_);
  /// Starts the thread, if copies are made at intervals.
  void start() EVENKEEL_EXCLUDES(mutex_);
  /// Ends the thread and writes the collections that have changed.
  void stop() EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::shared_ptr<const CollectionFile> file;
    std::weak_ptr<const Informer> informer;
    std::string version;     // of the last copy
    bool too_large = false;  // which was logged
  };

  void run() EVENKEEL_EXCLUDES(mutex_);
  void end_thread() EVENKEEL_EXCLUDES(mutex_);
  void write_all() EVENKEEL_EXCLUDES(mutex_, writing_);
  void write(Entry& entry, const Informer& informer) EVENKEEL_REQUIRES(writing_);
  void remove_unknown_files() EVENKEEL_REQUIRES(writing_);
  std::size_t room_for(const Entry& entry) const EVENKEEL_REQUIRES(writing_);

  const DiskCopyOptions options_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  Mutex writing_;  // held while files are written; acquired before mutex_
  std::vector<std::unique_ptr<Entry>> entries_ EVENKEEL_GUARDED_BY(writing_);
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<Entry>> added_ EVENKEEL_GUARDED_BY(mutex_);
  bool ending_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::thread thread_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
