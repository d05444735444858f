// SPDX-License-Identifier: Apache-2.0
#include "testing/etcd/etcd_data.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// Returns the value that was valid at `revision`, or null if the key was absent.
const EtcdValue* at(const std::vector<EtcdValue>& values, std::uint64_t revision) {
  const auto after =
      std::upper_bound(values.begin(), values.end(), revision,
                       [](std::uint64_t wanted, const EtcdValue& value) { return wanted < value.modified; });
  if (after == values.begin()) return nullptr;
  const EtcdValue& last = *std::prev(after);
  return last.created == 0 ? nullptr : &last;
}

}  // namespace

std::vector<EtcdData::Found> EtcdData::find(const EtcdKeys& keys, std::uint64_t revision) const {
  std::vector<Found> found;
  for (auto one = keys_.lower_bound(keys.begin); one != keys_.end() && keys.contains(one->first); ++one)
    if (const EtcdValue* value = at(one->second, revision)) found.push_back({one->first, value});
  return found;
}

void EtcdData::write(const std::string& key, EtcdValue value) {
  log_.push_back({key, value});
  keys_[key].push_back(std::move(value));
}

void EtcdData::put(const std::string& key, std::string bytes) {
  const std::uint64_t now = revision_ + 1;
  const std::vector<Found> old = find({key, {}}, now);
  EtcdValue value{.modified = now, .created = now, .version = 1, .bytes = std::move(bytes)};
  if (!old.empty()) {
    value.created = old.front().value->created;
    value.version = old.front().value->version + 1;
  }
  write(key, std::move(value));
}

std::size_t EtcdData::erase(const EtcdKeys& keys) {
  const std::uint64_t now = revision_ + 1;
  const std::vector<Found> found = find(keys, now);
  for (const Found& one : found) write(std::string(one.key), {.modified = now});
  return found.size();
}

std::vector<EtcdChange> EtcdData::commit() {
  std::vector<EtcdChange> changes(log_.begin() + static_cast<std::ptrdiff_t>(committed_), log_.end());
  committed_ = log_.size();
  if (!changes.empty()) ++revision_;
  return changes;
}

std::vector<EtcdChange> EtcdData::changes_since(std::uint64_t revision) const {
  const auto first = std::lower_bound(
      log_.begin(), log_.end(), revision,
      [](const EtcdChange& change, std::uint64_t wanted) { return change.value.modified < wanted; });
  return {first, log_.end()};
}

void EtcdData::compact(std::uint64_t revision) {
  compacted_ = revision;
  for (auto one = keys_.begin(); one != keys_.end();) {
    std::vector<EtcdValue>& values = one->second;
    while (values.size() > 1 && values[1].modified <= revision) values.erase(values.begin());
    const bool gone = values.front().created == 0 && values.front().modified <= revision;
    if (gone) values.erase(values.begin());
    one = values.empty() ? keys_.erase(one) : std::next(one);
  }
  std::erase_if(log_, [revision](const EtcdChange& change) { return change.value.modified <= revision; });
  committed_ = log_.size();
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
