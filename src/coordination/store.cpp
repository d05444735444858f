// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

void check_key(std::string_view key) {
  if (key.empty()) throw std::invalid_argument("a key of a commit must not be empty");
}

void check_range(const KeyRange& range) {
  if (!range.end.empty() && range.end < range.begin) {
    throw std::invalid_argument("a range of a commit ends before it begins: \"" + range.begin + "\"");
  }
}

bool before(const KeyRange& a, const KeyRange& b) {
  return a.begin < b.begin;
}

/// Merges ranges into the smallest number of ranges with the same keys, in order.
std::vector<KeyRange> merged(std::vector<KeyRange> ranges) {
  std::ranges::for_each(ranges, check_range);
  std::erase_if(ranges, [](const KeyRange& one) { return !one.end.empty() && one.begin == one.end; });
  std::ranges::sort(ranges, before);
  std::vector<KeyRange> out;
  for (KeyRange& one : ranges) {
    if (out.empty() || (!out.back().end.empty() && out.back().end < one.begin)) {
      out.push_back(std::move(one));
    } else if (!out.back().end.empty() && (one.end.empty() || out.back().end < one.end)) {
      out.back().end = std::move(one.end);
    }
  }
  return out;
}

/// Returns the parts of `range` around the keys of `holes`.
void split(KeyRange range, const std::map<std::string, std::string>& holes, std::vector<KeyRange>& into) {
  for (auto hole = holes.lower_bound(range.begin); hole != holes.end() && range.contains(hole->first);
       ++hole) {
    if (range.begin < hole->first) into.push_back({range.begin, hole->first});
    range.begin = hole->first + '\0';
  }
  if (range.end.empty() || range.begin < range.end) into.push_back(std::move(range));
}

std::vector<Commit::ReadKey> distinct(std::vector<Commit::ReadKey> reads) {
  for (const Commit::ReadKey& read : reads) check_key(read.key);
  std::ranges::stable_sort(reads, {}, &Commit::ReadKey::key);
  const auto same = [](const Commit::ReadKey& a, const Commit::ReadKey& b) { return a.key == b.key; };
  reads.erase(std::unique(reads.begin(), reads.end(), same), reads.end());
  return reads;
}

std::string printable(std::string_view key) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text;
  for (const char c : key) {
    if (c >= ' ' && c < '\x7f') {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += {'\\', 'x', hex[byte >> 4U], hex[byte & 15U]};
  }
  return text;
}

}  // namespace

KeyRange prefix_range(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {std::string(prefix), std::move(end)};
}

std::vector<Entry> StoreSnapshot::scan_all(const KeyRange& range) {
  std::vector<Entry> all;
  KeyRange rest = range;
  while (true) {
    ScanPage page = scan(rest);
    std::ranges::move(page.entries, std::back_inserter(all));
    if (page.next.empty()) return all;
    rest.begin = std::move(page.next);
  }
}

std::optional<TooLarge> broken_limit(const Limits& limits, const Commit& commit) {
  std::optional<TooLarge> broken;
  std::size_t bytes = 0;
  const auto check = [&broken](const char* name, std::size_t allowed, std::size_t actual) {
    if (!broken && allowed != 0 && actual > allowed) broken = TooLarge{name, allowed, actual};
  };
  const auto key = [&](const std::string& one) {
    check("key_bytes", limits.key_bytes, one.size());
    bytes += one.size();
  };
  for (const Commit::Put& put : commit.puts) {
    check("value_bytes", limits.value_bytes, put.value.size());
    key(put.key);
    bytes += put.value.size();
  }
  for (const std::string& one : commit.erases) key(one);
  for (const Commit::ReadKey& read : commit.reads) key(read.key);
  check("commit_bytes", limits.commit_bytes, bytes);
  check("conditions", limits.conditions, commit.reads.size() + commit.read_ranges.size());
  check("operations", limits.operations,
        commit.puts.size() + commit.erases.size() + commit.range_erases.size());
  return broken;
}

std::string describe(const CommitResult& result) {
  if (const auto* committed = std::get_if<Committed>(&result)) {
    return "committed at " + std::to_string(committed->version);
  }
  if (const auto* conflict = std::get_if<Conflict>(&result)) return "conflict at " + printable(conflict->key);
  if (const auto* unknown = std::get_if<Unknown>(&result)) return "unknown: " + unknown->why;
  if (const auto* large = std::get_if<TooLarge>(&result)) {
    return "too large: " + std::to_string(large->actual) + " " + large->limit + ", allowed are " +
           std::to_string(large->allowed);
  }
  return "unavailable: " + std::get<Unavailable>(result).why;
}

std::unique_ptr<StoreWatch> Store::watch(const KeyRange&, std::function<void()>) {
  return nullptr;
}

Commit normalise(Commit commit) {
  std::map<std::string, std::string> puts;
  for (Commit::Put& put : commit.puts) {
    check_key(put.key);
    puts[std::move(put.key)] = std::move(put.value);
  }
  const std::vector<KeyRange> removed = merged(std::move(commit.range_erases));
  std::set<std::string> erases;
  for (std::string& key : commit.erases) {
    check_key(key);
    const bool covered =
        std::ranges::any_of(removed, [&](const KeyRange& range) { return range.contains(key); });
    if (!covered && !puts.contains(key)) erases.insert(std::move(key));
  }
  commit.range_erases.clear();
  for (const KeyRange& range : removed) split(range, puts, commit.range_erases);
  commit.erases.assign(erases.begin(), erases.end());
  commit.puts.clear();
  for (auto& [key, value] : puts) commit.puts.push_back({key, std::move(value)});
  commit.read_ranges = merged(std::move(commit.read_ranges));
  commit.reads = distinct(std::move(commit.reads));
  return commit;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
