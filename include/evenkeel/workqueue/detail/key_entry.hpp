// SPDX-License-Identifier: Apache-2.0
// Entries of a KeyTable and their reference counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include <evenkeel/base/hash_table.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/text_hash.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

class KeyTableState;

/// Data that an owner attaches to an entry; it is destroyed with the entry. The owner is identified by an
/// address.
class KeyAttachment {
 public:
  explicit KeyAttachment(const void* owner) : owner_(owner) {}
  KeyAttachment(const KeyAttachment&) = delete;
  KeyAttachment& operator=(const KeyAttachment&) = delete;
  virtual ~KeyAttachment() = default;

 private:
  friend class KeyEntry;
  const void* const owner_;
  KeyAttachment* next_ = nullptr;
};

/// One interned name: a handle count, followed by the characters in the same memory block.
class KeyEntry : public TableLink<KeyEntry> {
 public:
  KeyEntry(const KeyEntry&) = delete;
  KeyEntry& operator=(const KeyEntry&) = delete;
  ~KeyEntry() {
    for (KeyAttachment* at = attachments_.load(std::memory_order_acquire); at != nullptr;) {
      KeyAttachment* next = at->next_;
      delete at;
      at = next;
    }
  }

  /// Returns the attachment of `owner`, or null. The caller must hold a handle.
  KeyAttachment* attachment_of(const void* owner) const noexcept {
    KeyAttachment* at = attachments_.load(std::memory_order_acquire);
    while (at != nullptr && at->owner_ != owner) at = at->next_;
    return at;
  }

  /// Attaches `attachment` permanently. The caller must hold a handle, and its owner must have no attachment
  /// yet.
  void attach(KeyAttachment& attachment) noexcept {
    attachment.next_ = attachments_.load(std::memory_order_relaxed);
    while (!attachments_.compare_exchange_weak(attachment.next_, &attachment, std::memory_order_release,
                                               std::memory_order_relaxed)) {
    }
  }

  std::string_view cluster() const { return {text(), cluster_size_}; }
  std::string_view namespace_() const { return {text() + cluster_size_, namespace_size_}; }
  std::string_view name() const { return {text() + cluster_size_ + namespace_size_, name_size_}; }
  KeyTableState* table() const { return table_; }

 private:
  friend class KeyTableState;
  KeyEntry(KeyTableState* table, std::string_view cluster, std::string_view object_namespace,
           std::string_view object_name)
      : table_(table),
        cluster_size_(static_cast<std::uint32_t>(cluster.size())),
        namespace_size_(static_cast<std::uint32_t>(object_namespace.size())),
        name_size_(static_cast<std::uint32_t>(object_name.size())) {
    char* to = reinterpret_cast<char*>(this + 1);
    to += cluster.copy(to, cluster.size());
    to += object_namespace.copy(to, object_namespace.size());
    object_name.copy(to, object_name.size());
  }

  const char* text() const { return reinterpret_cast<const char*>(this + 1); }

  KeyTableState* const table_;
  std::atomic<std::size_t> handles_ = 1;
  std::atomic<KeyAttachment*> attachments_ = nullptr;
  const std::uint32_t cluster_size_;
  const std::uint32_t namespace_size_;
  const std::uint32_t name_size_;
};

/// State shared by the table and its handles; it lives until the table and the last handle are gone.
///
/// A handle count goes from one to zero only under the lock, and never from zero to one: an entry whose count
/// is zero is removed from the table before the lock is released. So a lookup, which runs under the lock, can
/// never revive an entry that is about to be destroyed.
class KeyTableState {
 public:
  static std::size_t hash(std::string_view cluster, std::string_view object_namespace,
                          std::string_view object_name) {
    const std::uint64_t of_names = text_hash(object_namespace, text_hash(object_name));
    return static_cast<std::size_t>(cluster.empty() ? of_names : text_hash(cluster, of_names));
  }

  /// Returns the entry with one more handle.
  KeyEntry* acquire(std::string_view cluster, std::string_view object_namespace, std::string_view object_name)
      EVENKEEL_EXCLUDES(mutex_) {
    const std::size_t at = hash(cluster, object_namespace, object_name);
    MutexLock lock(mutex_);
    KeyEntry* entry = entries_.find(at, [&](const KeyEntry& candidate) {
      return candidate.name() == object_name && candidate.namespace_() == object_namespace &&
             candidate.cluster() == cluster;
    });
    if (entry != nullptr) {
      entry->handles_.fetch_add(1, std::memory_order_relaxed);
      return entry;
    }
    entry = make(cluster, object_namespace, object_name);
    try {
      entries_.insert(*entry, at);
    } catch (...) {
      destroy(entry);
      throw;
    }
    return entry;
  }

  static void add_handle(KeyEntry& entry) noexcept {
    entry.handles_.fetch_add(1, std::memory_order_relaxed);  // the caller already has a handle
  }

  static void drop_handle(KeyEntry& entry) noexcept {
    std::size_t handles = entry.handles_.load(std::memory_order_relaxed);
    while (handles > 1) {
      if (entry.handles_.compare_exchange_weak(handles, handles - 1, std::memory_order_release,
                                               std::memory_order_relaxed)) {
        return;
      }
    }
    entry.table_->drop_last_handle(entry);
  }

  std::size_t size() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return entries_.size();
  }

  /// Visits the entries in parts, under the lock; see HashTable::scan.
  template <class Visit>
  std::optional<std::uint64_t> scan(std::uint64_t position, std::size_t steps, const Visit& visit) const
      EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return entries_.scan(position, steps, visit);
  }

  /// Called when the table itself is destroyed.
  void abandon() noexcept EVENKEEL_EXCLUDES(mutex_) {
    bool unused = false;
    {
      MutexLock lock(mutex_);
      abandoned_ = true;
      unused = entries_.size() == 0;
    }
    if (unused) delete this;
  }

 private:
  ~KeyTableState() = default;

  KeyEntry* make(std::string_view cluster, std::string_view object_namespace, std::string_view object_name) {
    const std::size_t size = cluster.size() + object_namespace.size() + object_name.size();
    return new (::operator new(sizeof(KeyEntry) + size))
        KeyEntry(this, cluster, object_namespace, object_name);
  }

  static void destroy(KeyEntry* entry) noexcept {
    std::destroy_at(entry);
    ::operator delete(entry);
  }

  void drop_last_handle(KeyEntry& entry) noexcept EVENKEEL_EXCLUDES(mutex_) {
    bool unused = false;
    {
      MutexLock lock(mutex_);
      // Pairs with the release of every other drop: what their threads did happens before the destruction.
      if (entry.handles_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // looked up concurrently
      entries_.erase(entry);
      unused = abandoned_ && entries_.size() == 0;
    }
    destroy(&entry);
    if (unused) delete this;
  }

  mutable Mutex mutex_;
  HashTable<KeyEntry> entries_ EVENKEEL_GUARDED_BY(mutex_);
  bool abandoned_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
