// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace fdb_double {
namespace {

// Versions per second, and the time for which a version stays readable and committable.
constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t life = 5 * second;
constexpr std::int64_t step = 137;

bool overlap(const Range& a, const Range& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// The ten bytes of a versionstamp: the version, then the number in its batch, which is always the first.
std::string stamp_of(std::int64_t version) {
  std::string stamp(10, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    stamp[i] = static_cast<char>(static_cast<std::uint64_t>(version) >> (8U * (7 - i)));
  }
  return stamp;
}

std::string stamped(const std::string& parameter, std::int64_t version) {
  std::size_t offset = 0;
  std::string value = parameter.substr(0, parameter.size() - 4);
  for (std::size_t i = 0; i < 4; ++i) {
    offset |= static_cast<std::size_t>(static_cast<unsigned char>(parameter[value.size() + i])) << (8U * i);
  }
  const std::string stamp = stamp_of(version);
  return value.replace(offset, stamp.size(), stamp);
}

}  // namespace

std::int64_t Cluster::read_version() {
  const std::scoped_lock lock(mutex_);
  return version_ += step;
}

int Cluster::readable(std::int64_t version, bool lock_aware) const {
  const std::scoped_lock lock(mutex_);
  if (error_ != 0) return error_;
  if (locked_ && !lock_aware) return database_locked;
  if (version > version_) return future_version;
  return version_ - version > life ? transaction_too_old : 0;
}

std::map<std::string, std::string> Cluster::read(const Range& range, std::int64_t version) const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, std::string> found;
  for (auto key = history_.lower_bound(range.begin); key != history_.end() && key->first < range.end; ++key) {
    const auto later = key->second.upper_bound(version);
    if (later == key->second.begin()) continue;
    if (const auto& value = std::prev(later)->second) found[key->first] = *value;
  }
  return found;
}

std::optional<Outcome> Cluster::commit(const Submission& submission) {
  const std::scoped_lock lock(mutex_);
  CommitFault fault = CommitFault::none;
  if (!faults_.empty()) {
    fault = faults_.front();
    faults_.pop_front();
  }
  switch (fault) {
    case CommitFault::none:
      return apply(submission);
    case CommitFault::conflict:
      return Outcome{not_committed};
    case CommitFault::unknown_applied:
      apply(submission);
      return Outcome{commit_unknown_result};
    case CommitFault::unknown_lost:
      return Outcome{commit_unknown_result};
    case CommitFault::held:
      break;
  }
  held_.push_back(submission);
  return std::nullopt;
}

std::size_t Cluster::size_limit() const {
  const std::scoped_lock lock(mutex_);
  return size_limit_;
}

void Cluster::script(std::vector<CommitFault> faults) {
  const std::scoped_lock lock(mutex_);
  faults_.assign(faults.begin(), faults.end());
}

std::size_t Cluster::deliver() {
  const std::scoped_lock lock(mutex_);
  std::size_t applied = 0;
  for (const Submission& submission : std::exchange(held_, {})) {
    if (apply(submission).error == 0) ++applied;
  }
  return applied;
}

std::size_t Cluster::held() const {
  const std::scoped_lock lock(mutex_);
  return held_.size();
}

void Cluster::advance(std::int64_t versions) {
  const std::scoped_lock lock(mutex_);
  version_ += versions;
}

void Cluster::set_locked(bool locked) {
  const std::scoped_lock lock(mutex_);
  locked_ = locked;
}

void Cluster::set_size_limit(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  size_limit_ = bytes;
}

int Cluster::refusal(const Submission& submission) const {
  if (locked_ && !submission.lock_aware) return database_locked;
  if (version_ - submission.read_version > life) return transaction_too_old;
  for (const Written& written : written_) {
    if (written.version <= submission.read_version) continue;
    const auto hit = [&](const Range& read) { return overlap(read, written.range); };
    if (std::ranges::any_of(submission.reads, hit)) return not_committed;
  }
  return 0;
}

void Cluster::watch(const std::string& key, std::int64_t version, std::function<void()> fire) {
  const std::scoped_lock lock(mutex_);
  const auto known = history_.find(key);
  if (known != history_.end() && known->second.rbegin()->first > version) return fire();
  watchers_.push_back({key, std::move(fire)});
}

void Cluster::fire_watchers(const Range& changed) {
  std::erase_if(watchers_, [&changed](const Watcher& watcher) {
    const bool hit = watcher.key >= changed.begin && watcher.key < changed.end;
    if (hit) watcher.fire();
    return hit;
  });
}

Outcome Cluster::apply(const Submission& submission) {
  if (const int error = refusal(submission)) return {error};
  version_ += step;
  for (const Mutation& mutation : submission.mutations) {
    if (mutation.kind == Mutation::Kind::clear) {
      for (auto key = history_.lower_bound(mutation.begin);
           key != history_.end() && key->first < mutation.end; ++key) {
        key->second[version_] = std::nullopt;
      }
    } else {
      const bool stamp = mutation.kind == Mutation::Kind::set_stamped;
      history_[mutation.begin][version_] = stamp ? stamped(mutation.value, version_) : mutation.value;
    }
  }
  for (const Range& range : submission.writes) written_.push_back({version_, range});
  for (const Mutation& mutation : submission.mutations) {
    const bool clear = mutation.kind == Mutation::Kind::clear;
    fire_watchers({mutation.begin, clear ? mutation.end : mutation.begin + '\0'});
  }
  std::erase_if(written_, [this](const Written& one) { return version_ - one.version > life; });
  return {0, version_};
}

std::shared_ptr<Cluster> cluster_of(const std::string& cluster_file) {
  std::ifstream file(cluster_file);
  std::string content;
  std::getline(file, content);
  if (content.find('@') == std::string::npos) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Cluster>> clusters;
  const std::scoped_lock lock(mutex);
  auto& cluster = clusters[content];
  if (!cluster) cluster = std::make_shared<Cluster>(!content.ends_with(":1"));
  return cluster;
}

}  // namespace fdb_double
