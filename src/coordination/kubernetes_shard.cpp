// SPDX-License-Identifier: Apache-2.0
#include "coordination/kubernetes_shard.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

constexpr std::string_view hex = "0123456789ABCDEF";

/// Percent-encodes characters that are special in the lines or not printable. Blanks are encoded only where
/// they would be lost: in keys, and at the end of a value.
std::string escaped(std::string_view text, bool blanks) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool blank = c == ' ' && !blanks && at + 1 < text.size();
    if (blank || (c > ' ' && c < '\x7f' && c != '%')) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', hex[byte >> 4U], hex[byte & 15U]};
  }
  return out;
}

/// Splits a line into words, of which the last one contains the rest.
class Line {
 public:
  Line(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view one = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (one.empty()) broken("a field is missing");
    return one;
  }
  Version version() {
    const std::string_view one = word();
    Version value = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (error != std::errc() || end != one.data() + one.size())
      broken("invalid version: " + std::string(one));
    return value;
  }
  std::string text(std::string_view escaped_text) const { return http::percent_decode(escaped_text); }
  std::string_view rest() const { return rest_; }
  [[noreturn]] void broken(const std::string& why) const { throw StoreUnavailable(where_ + ": " + why); }

 private:
  std::string_view rest_;
  const std::string where_;
};

using Data = std::map<std::string, std::string>;

void for_each_line(const Data& data, const std::string& key, std::string_view object,
                   const std::function<void(Line&)>& read) {
  const auto found = data.find(key);
  if (found == data.end()) return;
  std::string_view rest = found->second;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    Line line(rest.substr(0, end),
              std::string(object) + ": data." + key + ", line " + std::to_string(number));
    read(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

template <class T>
void keep_last(std::vector<T>& all, std::size_t count) {
  if (all.size() > count) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(count));
}

void erase(KubernetesShard& shard, Entries::iterator entry, Version version) {
  shard.erasures.push_back({version, entry->first});
  shard.entries.erase(entry);
}

void erase(KubernetesShard& shard, const KeyRange& range, Version version) {
  auto entry = shard.entries.lower_bound(range.begin);
  while (entry != shard.entries.end() && range.contains(entry->first)) {
    erase(shard, entry++, version);
  }
}

bool changed_since(const KubernetesShard& shard, const KeyRange& range, Version since) {
  for (auto entry = shard.entries.lower_bound(range.begin);
       entry != shard.entries.end() && range.contains(entry->first); ++entry) {
    if (entry->second.version > since) return true;
  }
  return std::ranges::any_of(shard.erasures, [&](const KubernetesShard::Erasure& erasure) {
    return erasure.version > since && range.contains(erasure.key);
  });
}

}  // namespace

KubernetesShard decode_shard(const Data& data, std::string_view object) {
  KubernetesShard shard;
  if (data.empty()) return shard;
  for_each_line(data, "version", object, [&](Line& line) { shard.version = line.version(); });
  if (shard.version == 0) throw StoreUnavailable(std::string(object) + ": data.version is missing");
  for_each_line(data, "commits", object, [&](Line& line) {
    const Version version = line.version();
    shard.marks.push_back({version, std::string(line.word())});
  });
  for_each_line(data, "entries", object, [&](Line& line) {
    std::string key = line.text(line.word());
    const Version version = line.version();
    std::string value = line.text(line.rest());
    if (version > shard.version)
      line.broken("version " + std::to_string(version) + " is later than data.version");
    if (!shard.entries.try_emplace(key, Entry{key, std::move(value), version}).second) {
      line.broken(key + " is listed twice");
    }
  });
  for_each_line(data, "erased", object, [&](Line& line) {
    const Version version = line.version();
    if (line.rest().empty()) {
      shard.erasures_from = version;
    } else {
      shard.erasures.push_back({version, line.text(line.word())});
    }
  });
  return shard;
}

Data encode_shard(const KubernetesShard& shard) {
  Data data;
  data["version"] = std::to_string(shard.version);
  std::string& entries = data["entries"];
  for (const auto& [key, entry] : shard.entries) {
    entries += escaped(key, true) + " " + std::to_string(entry.version);
    entries += (entry.value.empty() ? "" : " ") + escaped(entry.value, false) + "\n";
  }
  std::string& commits = data["commits"];
  for (const auto& [version, mark] : shard.marks) commits += std::to_string(version) + " " + mark + "\n";
  std::string& erased = data["erased"];
  erased = std::to_string(shard.erasures_from) + "\n";
  for (const auto& [version, key] : shard.erasures) {
    erased += std::to_string(version) + " " + escaped(key, true) + "\n";
  }
  return data;
}

std::size_t data_bytes(const Data& data) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : data) bytes += key.size() + value.size();
  return bytes;
}

std::optional<std::string> read_conflict(const Entries& entries, const std::vector<Commit::ReadKey>& reads) {
  for (const Commit::ReadKey& read : reads) {
    const auto found = entries.find(read.key);
    if ((found == entries.end() ? 0 : found->second.version) != read.version) return read.key;
  }
  return std::nullopt;
}

std::optional<std::string> range_conflict(const KubernetesShard& shard, const std::vector<KeyRange>& ranges,
                                          Version since) {
  if (shard.version == since) return std::nullopt;
  const bool forgotten = since < shard.erasures_from || since > shard.version;
  for (const KeyRange& range : ranges) {
    if (forgotten || changed_since(shard, range, since)) return range.begin;
  }
  return std::nullopt;
}

KubernetesShard applied(KubernetesShard shard, const Commit& commit, std::string mark, Version least) {
  const Version version = std::max(shard.version + 1, least);
  for (const KeyRange& range : commit.range_erases) erase(shard, range, version);
  for (const std::string& key : commit.erases) {
    if (const auto entry = shard.entries.find(key); entry != shard.entries.end())
      erase(shard, entry, version);
  }
  for (const Commit::Put& put : commit.puts) shard.entries[put.key] = {put.key, put.value, version};
  if (shard.erasures.size() > kept_erasures) {
    shard.erasures_from = shard.erasures[shard.erasures.size() - kept_erasures - 1].version;
    keep_last(shard.erasures, kept_erasures);
  }
  shard.marks.push_back({version, std::move(mark)});
  keep_last(shard.marks, kept_marks);
  shard.version = version;
  return shard;
}

CommitFate fate_of(const KubernetesShard& shard, Version base, std::string_view mark, Version& version) {
  for (const KubernetesShard::Mark& one : shard.marks) {
    if (one.mark != mark) continue;
    version = one.version;
    return CommitFate::applied;
  }
  if (shard.version == base) return CommitFate::open;
  // The commit would have created the object, and so would be the first of the marks, which are all still
  // listed.
  if (base == 0 && shard.marks.size() < kept_marks) return CommitFate::refused;
  const auto after = std::ranges::find_if(
      shard.marks, [base](const KubernetesShard::Mark& one) { return one.version == base + 1; });
  return after == shard.marks.end() ? CommitFate::unknown : CommitFate::refused;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
