// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/cache/detail/decoded_objects.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::size_t DecodedObjects::bytes() const {
  MutexLock lock(mutex_);
  return newer_.bytes + older_.bytes;
}

std::shared_ptr<const void> DecodedObjects::find(const Key& key) {
  Generation forgotten;  // freed without the lock
  MutexLock lock(mutex_);
  if (const auto found = newer_.entries.find(key); found != newer_.entries.end())
    return found->second.snapshot;
  auto node = older_.entries.extract(key);
  if (node.empty()) return nullptr;
  older_.bytes -= node.mapped().bytes;
  std::shared_ptr<const void> snapshot = node.mapped().snapshot;
  forgotten = add(key, std::move(node.mapped()));
  lock.unlock();
  return snapshot;
}

void DecodedObjects::put(const Key& key, Entry entry) {
  MutexLock lock(mutex_);
  const Generation forgotten = add(key, std::move(entry));
  lock.unlock();
}

/// Adds an entry to the newer generation, unless another thread has done so. Returns what is forgotten.
DecodedObjects::Generation DecodedObjects::add(const Key& key, Entry entry) {
  Generation forgotten;
  if (newer_.bytes + entry.bytes > max_bytes_ / 2) {
    forgotten = std::exchange(older_, std::exchange(newer_, {}));
  }
  const std::size_t bytes = entry.bytes;
  if (newer_.entries.emplace(key, std::move(entry)).second) newer_.bytes += bytes;
  return forgotten;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
