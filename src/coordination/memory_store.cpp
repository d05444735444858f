// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/coordination/memory_store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// The value of a key from `version` on; nullopt: erased.
struct Revision {
  Version version;
  std::optional<std::string> value;
};
using History = std::map<std::string, std::vector<Revision>, std::less<>>;

std::optional<Entry> entry_at(const History::value_type& key, Version version) {
  const auto& [name, revisions] = key;
  const auto later = std::ranges::upper_bound(revisions, version, {}, &Revision::version);
  if (later == revisions.begin() || !std::prev(later)->value) return std::nullopt;
  return Entry{name, *std::prev(later)->value, std::prev(later)->version};
}

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled("stopped");
}

/// A hint that can be cancelled.
class Watcher {
 public:
  Watcher(KeyRange range, std::function<void()> hint) : range_(std::move(range)), hint_(std::move(hint)) {}

  bool wants(const std::vector<std::string>& keys) const {
    return std::ranges::any_of(keys, [this](const std::string& key) { return range_.contains(key); });
  }
  void wake() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (hint_) hint_();
  }
  /// Cancels the hint: it does not run after this returns.
  void end() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    hint_ = nullptr;
  }

 private:
  const KeyRange range_;
  Mutex mutex_;
  std::function<void()> hint_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace

class MemoryStore::State {
 public:
  explicit State(MemoryStoreOptions options) : options_(std::move(options)) {
    if (!options_.capabilities.multi_key_atomic && !options_.shard_of) {
      throw std::invalid_argument(
          "MemoryStore: shard_of is needed where commits are not atomic over all keys");
    }
  }

  const MemoryStoreOptions& options() const { return options_; }

  Version version() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return version_;
  }

  std::optional<Entry> get(std::string_view key, Version at) const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const Version version = readable(at);
    const auto found = history_.find(key);
    return found == history_.end() ? std::nullopt : entry_at(*found, version);
  }

  ScanPage scan(const KeyRange& range, std::size_t limit, Version at) const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const Version version = readable(at);
    const std::size_t most = fewer(limit, options_.page_entries);
    ScanPage page;
    for (auto key = history_.lower_bound(range.begin); key != history_.end() && range.contains(key->first);
         ++key) {
      auto entry = entry_at(*key, version);
      if (!entry) continue;
      if (most != 0 && page.entries.size() == most) {
        page.next = key->first;
        break;
      }
      page.entries.push_back(*std::move(entry));
    }
    return page;
  }

  CommitResult commit(const Commit& wanted) EVENKEEL_EXCLUDES(mutex_) {
    const Commit commit = normalise(wanted);
    check_shards(commit);
    if (auto broken = broken_limit(options_.limits, commit)) return *std::move(broken);
    std::vector<std::shared_ptr<Watcher>> woken;
    Version version = 0;
    {
      MutexLock lock(mutex_);
      if (auto key = conflict(commit)) return Conflict{*std::move(key)};
      const std::vector<std::string> changed = apply(commit);
      version = version_;
      std::ranges::copy_if(watchers_, std::back_inserter(woken),
                           [&changed](const auto& watcher) { return watcher->wants(changed); });
    }
    for (const auto& watcher : woken) watcher->wake();
    return Committed{version};
  }

  void compact(Version version) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    oldest_ = std::max(oldest_, std::min(version, version_));
    for (auto key = history_.begin(); key != history_.end();) {
      auto& revisions = key->second;
      const auto later = std::ranges::upper_bound(revisions, oldest_, {}, &Revision::version);
      if (later != revisions.begin()) revisions.erase(revisions.begin(), std::prev(later));
      const bool gone = revisions.size() == 1 && !revisions[0].value && revisions[0].version <= oldest_;
      key = gone ? history_.erase(key) : std::next(key);
    }
  }

  void add(std::shared_ptr<Watcher> watcher) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    watchers_.insert(std::move(watcher));
  }
  void remove(const std::shared_ptr<Watcher>& watcher) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    watchers_.erase(watcher);
  }

 private:
  static std::size_t fewer(std::size_t a, std::size_t b) {
    if (a == 0 || b == 0) return std::max(a, b);
    return std::min(a, b);
  }

  Version readable(Version at) const EVENKEEL_REQUIRES(mutex_) {
    if (!options_.capabilities.snapshot_scan) return version_;
    if (at < oldest_) throw SnapshotExpired("version " + std::to_string(at) + " has been compacted");
    return at;
  }

  void check_shards(const Commit& commit) const {
    if (options_.capabilities.multi_key_atomic) return;
    std::set<std::string> shards;
    for (const Commit::Put& put : commit.puts) shards.insert(options_.shard_of(put.key));
    for (const std::string& key : commit.erases) shards.insert(options_.shard_of(key));
    for (const KeyRange& range : commit.range_erases) shards.insert(options_.shard_of(range.begin));
    if (shards.size() <= 1) return;
    throw std::invalid_argument("a commit writes the shards " + *shards.begin() + " and " + *shards.rbegin());
  }

  Version last_change(const History::value_type& key) const { return key.second.back().version; }

  std::optional<std::string> conflict(const Commit& commit) const EVENKEEL_REQUIRES(mutex_) {
    for (const Commit::ReadKey& read : commit.reads) {
      const auto found = history_.find(read.key);
      const auto now = found == history_.end() ? std::nullopt : entry_at(*found, version_);
      if ((now ? now->version : 0) != read.version) return read.key;
    }
    if (!options_.capabilities.range_conflict) return std::nullopt;
    for (const KeyRange& range : commit.read_ranges) {
      if (commit.read_version < oldest_ || changed_since(range, commit.read_version)) return range.begin;
    }
    return std::nullopt;
  }

  bool changed_since(const KeyRange& range, Version version) const EVENKEEL_REQUIRES(mutex_) {
    for (auto key = history_.lower_bound(range.begin); key != history_.end() && range.contains(key->first);
         ++key) {
      if (last_change(*key) > version) return true;
    }
    return false;
  }

  void erase(History::value_type& key, std::vector<std::string>& changed) EVENKEEL_REQUIRES(mutex_) {
    if (!key.second.back().value) return;
    key.second.push_back({version_, std::nullopt});
    changed.push_back(key.first);
  }

  /// The changed keys.
  std::vector<std::string> apply(const Commit& commit) EVENKEEL_REQUIRES(mutex_) {
    std::vector<std::string> changed;
    if (!commit.writes()) return changed;
    ++version_;
    for (const KeyRange& range : commit.range_erases) {
      for (auto key = history_.lower_bound(range.begin); key != history_.end() && range.contains(key->first);
           ++key) {
        erase(*key, changed);
      }
    }
    for (const std::string& name : commit.erases) {
      if (const auto key = history_.find(name); key != history_.end()) erase(*key, changed);
    }
    for (const Commit::Put& put : commit.puts) {
      history_[put.key].push_back({version_, put.value});
      changed.push_back(put.key);
    }
    return changed;
  }

  const MemoryStoreOptions options_;
  mutable Mutex mutex_;
  History history_ EVENKEEL_GUARDED_BY(mutex_);
  Version version_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  Version oldest_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // reads before this are refused
  std::set<std::shared_ptr<Watcher>> watchers_ EVENKEEL_GUARDED_BY(mutex_);

  class Snapshot;
  class Watch;
  friend class MemoryStore;
};

class MemoryStore::State::Snapshot final : public StoreSnapshot {
 public:
  Snapshot(std::shared_ptr<const State> state, Version version, std::stop_token stop)
      : state_(std::move(state)), version_(version), stop_(std::move(stop)) {}

  Version version() const override { return version_; }
  std::optional<Entry> get(std::string_view key) override {
    check_stop(stop_);
    return state_->get(key, version_);
  }
  ScanPage scan(const KeyRange& range, std::size_t limit) override {
    check_stop(stop_);
    return state_->scan(range, limit, version_);
  }

 private:
  const std::shared_ptr<const State> state_;
  const Version version_;
  const std::stop_token stop_;
};

class MemoryStore::State::Watch final : public StoreWatch {
 public:
  Watch(std::shared_ptr<State> state, std::shared_ptr<Watcher> watcher)
      : state_(std::move(state)), watcher_(std::move(watcher)) {
    state_->add(watcher_);
  }
  ~Watch() override {
    state_->remove(watcher_);
    watcher_->end();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  const std::shared_ptr<State> state_;
  const std::shared_ptr<Watcher> watcher_;
};

MemoryStore::MemoryStore(MemoryStoreOptions options) : state_(std::make_shared<State>(std::move(options))) {}

MemoryStore::~MemoryStore() = default;

Capabilities MemoryStore::capabilities() const {
  return state_->options().capabilities;
}

Limits MemoryStore::limits() const {
  return state_->options().limits;
}

std::unique_ptr<StoreSnapshot> MemoryStore::snapshot(std::stop_token stop) {
  check_stop(stop);
  return std::make_unique<State::Snapshot>(state_, state_->version(), std::move(stop));
}

CommitResult MemoryStore::commit(const Commit& commit, std::stop_token stop) {
  if (stop.stop_requested()) return Unavailable{"stopped"};
  return state_->commit(commit);
}

std::unique_ptr<StoreWatch> MemoryStore::watch(const KeyRange& range, std::function<void()> hint) {
  if (!capabilities().watch) return nullptr;
  return std::make_unique<State::Watch>(state_, std::make_shared<Watcher>(range, std::move(hint)));
}

Version MemoryStore::version() const {
  return state_->version();
}

std::unique_ptr<StoreSnapshot> MemoryStore::snapshot_at(Version version) const {
  if (version > state_->version()) throw std::invalid_argument("MemoryStore: the version is in the future");
  return std::make_unique<State::Snapshot>(state_, version, std::stop_token());
}

void MemoryStore::compact(Version version) {
  state_->compact(version);
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
