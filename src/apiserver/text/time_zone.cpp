// SPDX-License-Identifier: Apache-2.0
// Source: RFC 9636 (TZif), version 2 and later; the rule behind the last transition is not used, since the
// files of Debian list transitions until 2037.
#include "apiserver/text/time_zone.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// From when on which offset is valid; the first one is valid before the second as well.
using Zone = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Reads big-endian numbers from a file; those behind its end are 0.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  std::int64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + size; ++i)
      value = value << 8U | (i < bytes_.size() ? static_cast<unsigned char>(bytes_[i]) : 0U);
    return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }
  bool is_header(std::size_t at) const { return bytes_.compare(std::min(at, bytes_.size()), 4, "TZif") == 0; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

/// The counts in a header, in the order of the file.
struct Header {
  std::size_t universal, standard, leaps, times, types, letters;
};

Header header_at(const Reader& file, std::size_t at) {
  const auto count = [&](std::size_t index) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(file.number(at + 20 + 4 * index, 4), 0, 100'000));
  };
  return {count(0), count(1), count(2), count(3), count(4), count(5)};
}

std::optional<Zone> read_zone(const std::string& name) {
  if (name.find("..") != std::string::npos || name.starts_with('/') || name.find('\\') != std::string::npos)
    return std::nullopt;
  std::ifstream stream("/usr/share/zoneinfo/" + name, std::ios::binary);
  if (!stream) return std::nullopt;
  const Reader file(std::string(std::istreambuf_iterator<char>(stream), {}));
  if (!file.is_header(0)) return std::nullopt;
  // The first block has times of 32 bits; the second, of 64 bits, follows.
  constexpr std::size_t header_size = 44;
  const Header old = header_at(file, 0);
  const std::size_t second = header_size + old.times * 5 + old.types * 6 + old.letters + old.leaps * 8 +
                             old.standard + old.universal;
  if (!file.is_header(second)) return std::nullopt;
  const Header header = header_at(file, second);
  const std::size_t times = second + header_size;
  const std::size_t types = times + header.times * 9;
  const auto offset = [&](std::size_t type) { return file.number(types + type * 6, 4); };
  Zone zone{{0, offset(0)}};
  for (std::size_t i = 0; i < header.times; ++i)
    zone.emplace_back(file.number(times + i * 8, 8),
                      offset(static_cast<std::size_t>(file.number(times + header.times * 8 + i, 1))));
  return zone;
}

}  // namespace

std::optional<std::int64_t> zone_offset(std::string_view zone, std::int64_t seconds) {
  if (zone.empty() || zone == "UTC" || zone == "Local") return 0;
  // Zones of a name that exists: at most some hundreds.
  thread_local std::map<std::string, Zone, std::less<>> known;
  auto found = known.find(zone);
  if (found == known.end()) {
    auto read = read_zone(std::string(zone));
    if (!read) return std::nullopt;
    found = known.emplace(zone, *std::move(read)).first;
  }
  const Zone& offsets = found->second;
  const auto next =
      std::upper_bound(offsets.begin() + 1, offsets.end(), seconds,
                       [](std::int64_t time, const auto& transition) { return time < transition.first; });
  return std::prev(next)->second;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
