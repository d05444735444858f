// SPDX-License-Identifier: Apache-2.0
#include "transaction.hpp"

#include <utility>

namespace fdb_double {
namespace {

constexpr std::size_t most_key_bytes = 10'000;
constexpr std::size_t most_value_bytes = 100'000;
// Size of one response if a client wants everything.
constexpr std::size_t page_bytes = 80'000;

constexpr std::size_t stamp_bytes = 10;
constexpr std::size_t offset_bytes = 4;

Range single(const std::string& key) {
  return {key, key + '\0'};
}

bool has_room_for_its_stamp(const std::string& value) {
  if (value.size() < stamp_bytes + offset_bytes) return false;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < offset_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(value[value.size() - offset_bytes + i]);
    offset |= static_cast<std::size_t>(byte) << (8U * i);
  }
  return offset <= value.size() - stamp_bytes - offset_bytes;
}

}  // namespace

void Transaction::set_read_version(std::int64_t version) {
  if (submission_.read_version != 0) return defer(read_version_already_set);
  if (version <= 0) return defer(version_invalid);
  submission_.read_version = version;
}

void Transaction::defer(int error) {
  if (deferred_ == 0) deferred_ = error;
}

bool Transaction::legal(const Range& range) {
  if (range.begin > range.end) {
    defer(inverted_range);
  } else if (range.begin > last_key_ || range.end > last_key_) {
    defer(key_outside_legal_range);
  } else {
    return true;
  }
  return false;
}

void Transaction::mutate(const Mutation& mutation) {
  if (committing_) return defer(used_during_commit);
  const bool clear = mutation.kind == Mutation::Kind::clear;
  const Range written = clear ? Range{mutation.begin, mutation.end} : single(mutation.begin);
  if (!clear && mutation.begin >= last_key_) return defer(key_outside_legal_range);
  if (clear && !legal(written)) return;
  if (mutation.begin.size() > most_key_bytes) return defer(key_too_large);
  if (mutation.value.size() > most_value_bytes) return defer(value_too_large);
  if (mutation.kind == Mutation::Kind::set_stamped && !has_room_for_its_stamp(mutation.value)) {
    return defer(client_invalid_operation);
  }
  submission_.mutations.push_back(mutation);
  submission_.writes.push_back(written);
}

void Transaction::add_conflict(const Range& range, bool write) {
  if (!legal(range)) return;
  (write ? submission_.writes : submission_.reads).push_back(range);
}

void Transaction::break_off(int error) {
  if (broken_ == 0) broken_ = error;
  for (const FuturePtr& future : std::exchange(waiting_, {})) future->fail(broken_);
  for (const Watch& watch : std::exchange(watches_, {})) watch.future->fail(broken_);
}

/// Returns true if the transaction may query the cluster. Otherwise sets the error of `future`, or lets it
/// wait for an answer that never comes.
bool Transaction::begun(const FuturePtr& future, bool commits) {
  if (broken_ != 0 || deferred_ != 0) {
    future->fail(broken_ != 0 ? broken_ : deferred_);
    return false;
  }
  if (committing_) {
    future->fail(used_during_commit);
    return false;
  }
  if (!cluster_->reachable()) {
    waiting_.push_back(future);
    return false;
  }
  if (submission_.read_version == 0) submission_.read_version = cluster_->read_version();
  const int error = cluster_->readable(submission_.read_version, submission_.lock_aware);
  // FoundationDB compares the read version of a commit with later ones only.
  if (error == 0 || (commits && error == future_version)) return true;
  future->fail(error);
  return false;
}

void Transaction::get_read_version(const FuturePtr& future) {
  if (begun(future)) future->set({.number = submission_.read_version});
}

/// Returns what the transaction sees: the cluster at its read version, and its own writes. Returns nullopt if
/// one of them is a value that only the commit will determine.
std::optional<std::map<std::string, std::string>> Transaction::merged(const Range& range) const {
  auto rows = cluster_->read(range, submission_.read_version);
  std::map<std::string, bool> stamped;
  for (const Mutation& mutation : submission_.mutations) {
    if (mutation.kind == Mutation::Kind::clear) {
      const auto in = [&](const auto& row) {
        return row.first >= mutation.begin && row.first < mutation.end;
      };
      std::erase_if(rows, in);
      std::erase_if(stamped, in);
    } else if (mutation.begin >= range.begin && mutation.begin < range.end) {
      rows[mutation.begin] = mutation.value;
      stamped[mutation.begin] = mutation.kind == Mutation::Kind::set_stamped;
    }
  }
  for (const auto& [key, unreadable] : stamped) {
    if (unreadable) return std::nullopt;
  }
  return rows;
}

void Transaction::get(const std::string& key, bool snapshot, const FuturePtr& future) {
  if (!begun(future)) return;
  if (key >= last_key_) return future->fail(key_outside_legal_range);
  const auto rows = merged(single(key));
  if (!rows) return future->fail(accessed_unreadable);
  if (!snapshot) submission_.reads.push_back(single(key));
  if (rows->empty()) return future->set({});
  future->set({.present = true, .value = rows->begin()->second});
}

void Transaction::get_range(const RangeRead& read, const FuturePtr& future) {
  if (!begun(future)) return;
  if (read.range.begin > last_key_ || read.range.end > last_key_)
    return future->fail(key_outside_legal_range);
  const auto rows = merged(read.range);
  if (!rows) return future->fail(accessed_unreadable);
  Answer answer;
  Range seen = read.range;
  std::size_t bytes = 0;
  for (const auto& [key, value] : *rows) {
    if (bytes >= page_bytes || (read.limit != 0 && answer.rows.size() == read.limit)) {
      answer.more = true;
      seen.end = answer.rows.back().first + '\0';
      break;
    }
    answer.rows.emplace_back(key, value);
    bytes += key.size() + value.size();
  }
  if (!read.snapshot) submission_.reads.push_back(seen);
  future->set(std::move(answer));
}

std::size_t Transaction::size() const {
  std::size_t bytes = 0;
  for (const Mutation& one : submission_.mutations)
    bytes += one.begin.size() + one.end.size() + one.value.size();
  for (const Range& one : submission_.reads) bytes += one.begin.size() + one.end.size();
  for (const Range& one : submission_.writes) bytes += one.begin.size() + one.end.size();
  return bytes;
}

void Transaction::watch(const std::string& key, const FuturePtr& future) {
  if (key >= last_key_) return future->fail(key_outside_legal_range);
  if (begun(future)) watches_.push_back({key, future});
}

void Transaction::start_watches() {
  for (const Watch& watch : std::exchange(watches_, {})) {
    cluster_->watch(watch.key, submission_.read_version, [future = watch.future] { future->set({}); });
  }
}

void Transaction::commit(const FuturePtr& future) {
  if (!begun(future, true)) return;
  committing_ = true;
  // A read-only transaction has nothing to compare: its reads are consistent.
  if (submission_.mutations.empty() && submission_.writes.empty()) {
    start_watches();
    return future->set({});
  }
  if (size() > cluster_->size_limit()) return future->fail(transaction_too_large);
  const auto outcome = cluster_->commit(submission_);
  if (!outcome) {
    waiting_.push_back(future);
    return;
  }
  committed_ = outcome->version;
  if (outcome->error == 0) start_watches();
  future->set({.error = outcome->error});
}

}  // namespace fdb_double
