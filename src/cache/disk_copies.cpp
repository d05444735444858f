// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_copies.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

namespace fs = std::filesystem;

bool is_confidential(const ResourceId& resource) {
  return resource.group.empty() && resource.plural == "secrets";
}

bool is_copy(const fs::directory_entry& file) {
  return file.path().filename().string().ends_with(collection_file_suffix);
}

}  // namespace

DiskCopies::DiskCopies(DiskCopyOptions options, std::shared_ptr<const Clock> clock, Log log)
    : options_(std::move(options)), clock_(std::move(clock)), log_(std::move(log)) {}

DiskCopies::~DiskCopies() {
  end_thread();
}

std::shared_ptr<const CollectionFile> DiskCopies::file_of(const std::string& server,
                                                          const ResourceId& resource,
                                                          const InformerOptions& options) const {
  if (options_.directory.empty() || is_confidential(resource)) return {};
  return std::make_shared<CollectionFile>(fs::path(options_.directory),
                                          CollectionIdentity{.server = server,
                                                             .resource = resource,
                                                             .namespace_ = options.namespace_,
                                                             .label_selector = options.label_selector,
                                                             .field_selector = options.field_selector});
}

void DiskCopies::add(std::shared_ptr<const CollectionFile> file,
                     const std::shared_ptr<const Informer>& informer) {
  auto entry = std::make_unique<Entry>();
  entry->file = std::move(file);
  entry->informer = informer;
  MutexLock lock(mutex_);
  added_.push_back(std::move(entry));
}

void DiskCopies::start() {
  if (options_.directory.empty() || options_.period <= Duration::zero()) return;
  MutexLock lock(mutex_);
  if (!ending_ && !thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void DiskCopies::end_thread() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    thread = std::move(thread_);
    changed_.notify_all();
  }
  if (thread.joinable()) thread.join();
}

void DiskCopies::stop() {
  end_thread();
  write_all();
}

void DiskCopies::run() {
  MutexLock lock(mutex_);
  TimePoint due = deadline_after(clock_->now(), options_.period);
  while (!ending_) {
    if (clock_->now() < due) {
      clock_->wait_until(changed_, lock, due);
      continue;
    }
    lock.unlock();
    write_all();
    lock.lock();
    due = deadline_after(clock_->now(), options_.period);
  }
}

/// Writes the collections that have changed since their last copies.
void DiskCopies::write_all() {
  MutexLock writing(writing_);
  {
    MutexLock lock(mutex_);
    std::move(added_.begin(), added_.end(), std::back_inserter(entries_));
    added_.clear();
  }
  std::erase_if(entries_, [](const auto& entry) { return entry->informer.expired(); });
  for (const auto& entry : entries_) {
    const auto informer = entry->informer.lock();
    if (!informer || !informer->synced() || !informer->holds({})) continue;
    try {
      write(*entry, *informer);
    } catch (const std::exception& error) {
      log_.warn("cannot write a copy of the cache to disk", {{"error", std::string_view(error.what())}});
    }
  }
}

void DiskCopies::write(Entry& entry, const Informer& informer) {
  const auto [objects, version] = informer.store().resume_point();
  if (version.empty() || version == entry.version) return;
  if (!informer.holds({})) return;  // its share was narrowed meanwhile
  if (fs::create_directories(options_.directory)) fs::permissions(options_.directory, fs::perms::owner_all);
  auto written = entry.file->write(version, objects, room_for(entry));
  if (!written) {
    remove_unknown_files();
    written = entry.file->write(version, objects, room_for(entry));
  }
  entry.version = version;
  if (written || std::exchange(entry.too_large, true)) return;
  log_.warn("a copy does not fit on disk beside the others; the next start lists the objects",
            {{"kind", informer.resource().kind},
             {"file", entry.file->path().string()},
             {"limit", static_cast<std::uint64_t>(options_.max_bytes)}});
}

/// Removes copies of collections that the cache does not have.
void DiskCopies::remove_unknown_files() {
  std::set<fs::path> own;
  for (const auto& entry : entries_) own.insert(entry->file->path());
  for (const auto& file : fs::directory_iterator(options_.directory)) {
    if (is_copy(file) && !own.contains(file.path())) fs::remove(file.path());
  }
}

/// Returns what the other files leave of the limit.
std::size_t DiskCopies::room_for(const Entry& entry) const {
  std::size_t used = 0;
  for (const auto& file : fs::directory_iterator(options_.directory)) {
    if (is_copy(file) && file.path() != entry.file->path())
      used += static_cast<std::size_t>(file.file_size());
  }
  return options_.max_bytes - std::min(used, options_.max_bytes);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
