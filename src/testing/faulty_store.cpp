// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

using coordination::Commit;
using coordination::CommitResult;
using coordination::Entry;

std::size_t bytes_of(const Entry& entry) {
  return entry.key.size() + entry.value.size();
}

void check(const StoreFaultRates& rates) {
  const double commits =
      rates.conflict + rates.unknown_applied + rates.unknown_lost + rates.unknown_late + rates.unavailable;
  for (const double rate :
       {rates.conflict, rates.unknown_applied, rates.unknown_lost, rates.unknown_late, rates.unavailable,
        commits, rates.snapshot_unavailable, rates.snapshot_expired, rates.delivery}) {
    if (!(rate >= 0 && rate <= 1)) throw std::invalid_argument("FaultyStore: a rate is not between 0 and 1");
  }
}

}  // namespace

class FaultyStore::State {
 public:
  explicit State(std::shared_ptr<coordination::Store> inner) : inner_(std::move(inner)) {
    if (!inner_) throw std::invalid_argument("FaultyStore: the store must not be null");
  }

  coordination::Store& inner() const { return *inner_; }

  void script(std::vector<StoreFault> faults) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    script_.assign(faults.begin(), faults.end());
  }
  void set_rates(const StoreFaultRates& rates, std::uint64_t seed) EVENKEEL_EXCLUDES(mutex_) {
    check(rates);
    MutexLock lock(mutex_);
    rates_ = rates;
    random_ = seed;
  }
  void set_cut(bool cut) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    cut_ = cut;
  }
  std::size_t undelivered() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return late_.size();
  }
  StoreCounts counts() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return counts_;
  }

  std::size_t deliver() EVENKEEL_EXCLUDES(mutex_) {
    std::size_t applied = 0;
    while (const auto commit = next_late()) applied += arrive(*commit) ? 1 : 0;
    return applied;
  }

  void before_snapshot() EVENKEEL_EXCLUDES(mutex_) {
    deliver_by_chance();
    MutexLock lock(mutex_);
    ++counts_.snapshots;
    fail_read(false);
  }
  void before_read() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++counts_.reads;
    fail_read(true);
  }
  void has_read(std::size_t bytes) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    counts_.read_bytes += bytes;
  }

  CommitResult commit(const Commit& commit, std::stop_token stop) EVENKEEL_EXCLUDES(mutex_) {
    deliver_by_chance();
    CommitResult result = commit_with(fault_of(commit), commit, std::move(stop));
    MutexLock lock(mutex_);
    if (std::holds_alternative<coordination::Committed>(result)) ++counts_.committed;
    if (std::holds_alternative<coordination::Conflict>(result)) ++counts_.conflicts;
    if (std::holds_alternative<coordination::Unknown>(result)) ++counts_.unknowns;
    if (std::holds_alternative<coordination::Unavailable>(result)) ++counts_.unavailable;
    return result;
  }

 private:
  CommitResult commit_with(StoreFault fault, const Commit& commit, std::stop_token stop) {
    switch (fault) {
      case StoreFault::none:
        break;
      case StoreFault::conflict:
        return coordination::Conflict{commit.reads.empty() ? "" : commit.reads.front().key};
      case StoreFault::unknown_applied:
        inner_->commit(commit, std::move(stop));
        return coordination::Unknown{"injected: the answer was lost"};
      case StoreFault::unknown_lost:
        return coordination::Unknown{"injected: the request was lost"};
      case StoreFault::unknown_late: {
        MutexLock lock(mutex_);
        late_.push_back(commit);
        return coordination::Unknown{"injected: the request is late"};
      }
      case StoreFault::unavailable:
        return coordination::Unavailable{"injected"};
    }
    return inner_->commit(commit, std::move(stop));
  }

  StoreFault fault_of(const Commit& commit) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++counts_.commits;
    for (const Commit::Put& put : commit.puts) counts_.written_bytes += put.key.size() + put.value.size();
    if (cut_) return StoreFault::unavailable;
    if (!script_.empty()) {
      const StoreFault fault = script_.front();
      script_.pop_front();
      return fault;
    }
    return drawn();
  }

  StoreFault drawn() EVENKEEL_REQUIRES(mutex_) {
    double at = draw();
    for (const auto& [rate, fault] : {std::pair(rates_.conflict, StoreFault::conflict),
                                      {rates_.unknown_applied, StoreFault::unknown_applied},
                                      {rates_.unknown_lost, StoreFault::unknown_lost},
                                      {rates_.unknown_late, StoreFault::unknown_late},
                                      {rates_.unavailable, StoreFault::unavailable}}) {
      if (at < rate) return fault;
      at -= rate;
    }
    return StoreFault::none;
  }

  void fail_read(bool of_a_snapshot) EVENKEEL_REQUIRES(mutex_) {
    if (cut_ || draw() < rates_.snapshot_unavailable) {
      ++counts_.unavailable;
      throw coordination::StoreUnavailable(cut_ ? "injected: cut off" : "injected");
    }
    if (of_a_snapshot && draw() < rates_.snapshot_expired) throw coordination::SnapshotExpired("injected");
  }

  void deliver_by_chance() EVENKEEL_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (late_.empty() || draw() >= rates_.delivery) return;
    }
    if (const auto commit = next_late()) arrive(*commit);
  }

  std::optional<Commit> next_late() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (late_.empty()) return std::nullopt;
    Commit commit = std::move(late_.front());
    late_.pop_front();
    return commit;
  }

  bool arrive(const Commit& commit) EVENKEEL_EXCLUDES(mutex_) {
    const bool applied = std::holds_alternative<coordination::Committed>(inner_->commit(commit));
    MutexLock lock(mutex_);
    counts_.late_applied += applied ? 1 : 0;
    return applied;
  }

  /// Returns a random number in [0, 1), by splitmix64.
  double draw() EVENKEEL_REQUIRES(mutex_) {
    random_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = random_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    z ^= z >> 31U;
    return static_cast<double>(z >> 11U) * 0x1.0p-53;
  }

  const std::shared_ptr<coordination::Store> inner_;
  mutable Mutex mutex_;
  std::deque<StoreFault> script_ EVENKEEL_GUARDED_BY(mutex_);
  std::deque<Commit> late_ EVENKEEL_GUARDED_BY(mutex_);
  StoreFaultRates rates_ EVENKEEL_GUARDED_BY(mutex_) = {.delivery = 0};
  StoreCounts counts_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t random_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool cut_ EVENKEEL_GUARDED_BY(mutex_) = false;

  class Snapshot;
  friend class FaultyStore;
};

class FaultyStore::State::Snapshot final : public coordination::StoreSnapshot {
 public:
  Snapshot(std::shared_ptr<State> state, std::unique_ptr<coordination::StoreSnapshot> inner)
      : state_(std::move(state)), inner_(std::move(inner)) {}

  coordination::Version version() const override { return inner_->version(); }
  std::optional<Entry> get(std::string_view key) override {
    state_->before_read();
    auto entry = inner_->get(key);
    state_->has_read(entry ? bytes_of(*entry) : 0);
    return entry;
  }
  coordination::ScanPage scan(const coordination::KeyRange& range, std::size_t limit) override {
    state_->before_read();
    auto page = inner_->scan(range, limit);
    std::size_t bytes = 0;
    for (const Entry& entry : page.entries) bytes += bytes_of(entry);
    state_->has_read(bytes);
    return page;
  }

 private:
  const std::shared_ptr<State> state_;
  const std::unique_ptr<coordination::StoreSnapshot> inner_;
};

FaultyStore::FaultyStore(std::shared_ptr<coordination::Store> inner)
    : state_(std::make_shared<State>(std::move(inner))) {}

FaultyStore::~FaultyStore() = default;

std::string FaultyStore::name() const {
  return "faulty " + state_->inner().name();
}

coordination::Capabilities FaultyStore::capabilities() const {
  return state_->inner().capabilities();
}

coordination::Limits FaultyStore::limits() const {
  return state_->inner().limits();
}

std::unique_ptr<coordination::StoreSnapshot> FaultyStore::snapshot(std::stop_token stop) {
  state_->before_snapshot();
  return std::make_unique<State::Snapshot>(state_, state_->inner().snapshot(std::move(stop)));
}

CommitResult FaultyStore::commit(const Commit& commit, std::stop_token stop) {
  return state_->commit(commit, std::move(stop));
}

std::unique_ptr<coordination::StoreWatch> FaultyStore::watch(const coordination::KeyRange& range,
                                                             std::function<void()> hint) {
  return state_->inner().watch(range, std::move(hint));
}

void FaultyStore::script(std::vector<StoreFault> faults) {
  state_->script(std::move(faults));
}

void FaultyStore::set_rates(const StoreFaultRates& rates, std::uint64_t seed) {
  state_->set_rates(rates, seed);
}

void FaultyStore::set_cut(bool cut) {
  state_->set_cut(cut);
}

std::size_t FaultyStore::deliver() {
  return state_->deliver();
}

std::size_t FaultyStore::undelivered() const {
  return state_->undelivered();
}

StoreCounts FaultyStore::counts() const {
  return state_->counts();
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
