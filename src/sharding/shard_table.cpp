// SPDX-License-Identifier: Apache-2.0
#include "sharding/shard_table.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/codec.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t most_slots = 4096;

std::string place(const Json& lease) {
  return "Lease " + lease.at({"metadata", "namespace"}).string_or("") + "/" +
         lease.at({"metadata", "name"}).string_or("") + ": annotation " + ShardTable::annotation;
}

// Returns the member with this number in the list; empty for -1.
std::string member_at(const Json& members, std::int64_t index, const std::string& where) {
  if (index == -1) return {};
  if (index < 0 || static_cast<std::size_t>(index) >= members.size())
    throw DecodeError(where, "there is no member " + std::to_string(index));
  return members[static_cast<std::size_t>(index)].as_string();
}

/// The target of each slot, and the slots of each member.
class Distribution {
 public:
  Distribution(const std::vector<SlotEntry>& slots, const std::set<std::string>& eligible)
      : targets_(slots.size()) {
    for (const std::string& member : eligible) of_[member];
    for (Slot slot = 0; slot < slots.size(); ++slot) {
      const SlotEntry& entry = slots[slot];
      const std::string& wanted = eligible.contains(entry.next) ? entry.next : entry.holder;
      if (eligible.contains(wanted)) assign(slot, wanted);
    }
    for (Slot slot = 0; slot < slots.size(); ++slot) {
      if (targets_[slot].empty()) assign(slot, least()->first);
    }
    while (most()->second.size() > least()->second.size() + 1) move(slots);
  }
  const std::vector<std::string>& targets() const { return targets_; }

 private:
  using Members = std::map<std::string, std::set<Slot>>;

  static bool fewer(const Members::value_type& a, const Members::value_type& b) {
    return a.second.size() < b.second.size();
  }
  Members::iterator least() { return std::min_element(of_.begin(), of_.end(), fewer); }
  Members::iterator most() { return std::max_element(of_.begin(), of_.end(), fewer); }
  void assign(Slot slot, const std::string& member) {
    targets_[slot] = member;
    of_[member].insert(slot);
  }
  // Prefers a slot that is on its way already, or free: it costs no further hand-over.
  void move(const std::vector<SlotEntry>& slots) {
    const auto from = most();
    const auto on_its_way = std::find_if(from->second.begin(), from->second.end(),
                                         [&](Slot slot) { return slots[slot].holder != from->first; });
    const Slot slot = on_its_way != from->second.end() ? *on_its_way : *from->second.rbegin();
    from->second.erase(slot);
    assign(slot, least()->first);
  }

  std::vector<std::string> targets_;
  Members of_;
};

// Returns the ranges of a table that has some.
SlotRanges read_ranges(const Json& starts, std::size_t slots, const std::string& where) {
  if (starts.size() != slots) throw DecodeError(where, "expected an item for each slot");
  std::vector<std::uint64_t> numbers;
  for (const Json& start : starts.as_array()) {
    const std::string text = start.string_or("");
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    if (text.size() != 16 || std::from_chars(text.data(), end, number, 16).ptr != end)
      throw DecodeError(where, "expected texts of 16 hexadecimal digits");
    numbers.push_back(number);
  }
  try {
    return SlotRanges(std::move(numbers));
  } catch (const std::invalid_argument& error) {
    throw DecodeError(where, error.what());
  }
}

}  // namespace

std::string division_name(ShardBy by, bool by_label) {
  switch (by) {
    case ShardBy::object:
      return "object";
    case ShardBy::namespace_range:
      return by_label ? "namespace-cell" : "namespace-range";
    case ShardBy::namespace_:
      break;
  }
  return "namespace";
}

ShardTable ShardTable::read(const Json& lease) {
  const std::string where = place(lease);
  const Json& text = lease.at({"metadata", "annotations", annotation});
  if (!text.is_string()) throw DecodeError(where, "it is missing");
  const Json json = Json::parse(text.as_string(), where);
  const Json& members = json["members"];
  const Json& slots = json["slots"];
  if (!members.is_array()) throw DecodeError(where + ": members", "expected array");
  if (!slots.is_array() || slots.empty() || slots.size() > most_slots)
    throw DecodeError(where + ": slots", "expected array of 1 to 4096 items");
  ShardTable table;
  table.division = lease.at({"metadata", "labels", division_label}).string_or("object");
  for (const Json& member : members.as_array()) {
    if (!member.is_string()) throw DecodeError(where + ": members", "expected strings");
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Json& slot = slots[i];
    const std::string path = where + ": slots[" + std::to_string(i) + "]";
    if (slot.size() != 3 || !slot[0].is_integer() || !slot[1].is_integer() || !slot[2].is_integer() ||
        slot[2].as_integer() < 0)
      throw DecodeError(path, "expected holder, next and generation");
    table.slots.push_back({.holder = member_at(members, slot[0].as_integer(), path),
                           .next = member_at(members, slot[1].as_integer(), path),
                           .generation = static_cast<std::uint64_t>(slot[2].as_integer())});
  }
  if (json["starts"].is_array() || table.division == division_name(ShardBy::namespace_range) ||
      table.division == division_name(ShardBy::namespace_range, true)) {
    if (!json["starts"].is_array()) throw DecodeError(where + ": starts", "expected array");
    table.ranges = read_ranges(json["starts"], table.slots.size(), where + ": starts");
  }
  const Json& leaving = json["leaving"];
  for (std::size_t i = 0; i < leaving.size(); ++i) table.leaving.insert(leaving[i].string_or(""));
  return table;
}

std::string ShardTable::text() const {
  std::map<std::string, std::int64_t> numbers{{"", -1}};
  Json members = Json::array();
  const auto number = [&](const std::string& member) {
    const auto [found, fresh] = numbers.try_emplace(member, static_cast<std::int64_t>(members.size()));
    if (fresh) members.push_back(member);
    return found->second;
  };
  Json entries = Json::array();
  for (const SlotEntry& entry : slots) {
    const std::int64_t holder = number(entry.holder);
    entries.push_back(Json::array({holder, number(entry.next), entry.generation}));
  }
  Json gone = Json::array();
  for (const std::string& member : leaving) gone.push_back(member);
  Json document =
      Json::object({{"members", std::move(members)}, {"slots", std::move(entries)}, {"leaving", gone}});
  if (ranges.empty()) return document.dump();
  Json starts = Json::array();
  for (const std::uint64_t start : ranges.starts()) starts.push_back(hash_text(start).substr(2));
  document["starts"] = std::move(starts);
  return document.dump();
}

bool ShardTable::names(const std::string& member) const {
  return std::any_of(slots.begin(), slots.end(),
                     [&](const SlotEntry& entry) { return entry.holder == member || entry.next == member; });
}

void ShardTable::give(Slot slot, const std::string& member) {
  SlotEntry& entry = slots[slot];
  if (!member.empty()) ++entry.generation;
  entry.holder = member;
  entry.next.clear();
}

void ShardTable::divide(const std::string& by, SlotRanges by_ranges) {
  std::uint64_t latest = 0;
  for (const SlotEntry& entry : slots) latest = std::max(latest, entry.generation);
  std::fill(slots.begin(), slots.end(), SlotEntry{.generation = latest});
  leaving.clear();
  division = by;
  ranges = std::move(by_ranges);
}

void ShardTable::plan(const std::set<std::string>& eligible,
                      const std::function<bool(const std::string&)>& has_ended) {
  std::optional<Distribution> wanted;
  if (!eligible.empty()) wanted.emplace(slots, eligible);
  for (Slot slot = 0; slot < slots.size(); ++slot) {
    SlotEntry& entry = slots[slot];
    const std::string target = wanted ? wanted->targets()[slot] : std::string();
    if (entry.holder.empty() || has_ended(entry.holder)) {
      if (!target.empty() || !entry.holder.empty()) give(slot, target);
    } else {
      entry.next = target == entry.holder ? std::string() : target;
    }
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
