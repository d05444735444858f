// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/records.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Converts unsigned 64-bit versions and epochs to Json's signed integers, keeping the bits.
std::int64_t stored(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
std::uint64_t number_of(const Json& json) {
  return static_cast<std::uint64_t>(json.as_integer());
}

Json object_of(const Entry& entry) {
  Json json = Json::parse(entry.value, entry.key);
  if (!json.is_object()) {
    throw DecodeError(entry.key, "expected an object, found " + std::string(json.kind_name()));
  }
  return json;
}

/// Calls `read`, and adds the key to the text of its error.
template <class Read>
auto decoded(const Entry& entry, Read read) {
  const Json json = object_of(entry);
  try {
    return read(json);
  } catch (const DecodeError& error) {
    throw DecodeError(entry.key, error.problem());
  }
}

/// Calls `read` with the member `name`, and adds the name to the text of its error.
template <class Read>
auto field(const Json& json, const char* name, Read read) {
  try {
    return read(json[name]);
  } catch (const DecodeError& error) {
    throw DecodeError("", std::string(name) + ": " + error.problem());
  }
}
std::string text_in(const Json& json, const char* name) {
  return field(json, name, [](const Json& value) { return value.as_string(); });
}
/// Returns an integer from 1 to `most`.
std::int64_t positive_in(const Json& json, const char* name, std::int64_t most) {
  return field(json, name, [&](const Json& value) {
    const std::int64_t number = value.as_integer();
    if (number >= 1 && number <= most) return number;
    throw DecodeError("", std::to_string(number) + " is not from 1 to " + std::to_string(most));
  });
}

/// Epochs must be able to grow, so the greatest integer is not valid.
constexpr std::int64_t greatest_epoch = std::numeric_limits<std::int64_t>::max() - 1;
constexpr std::int64_t greatest_timeout =
    std::chrono::duration_cast<std::chrono::milliseconds>(Duration::max()).count();

std::optional<ClaimState> state_of(std::string_view text) {
  for (const ClaimState state : {ClaimState::executing, ClaimState::settled, ClaimState::failed}) {
    if (text_of(state) == text) return state;
  }
  return std::nullopt;
}

std::uint64_t epoch_of(const std::string& text, const std::string& key) {
  std::uint64_t epoch = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    throw DecodeError(key, "\"" + text + "\" is not an epoch");
  }
  return epoch;
}

}  // namespace

std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string encode(const MemberRecord& record) {
  Json json = Json::object({{"at", record.at}});
  if (!record.kind.empty()) json["kind"] = record.kind;
  if (record.since != 0) json["since"] = stored(record.since);
  return json.dump();
}

MemberRecord decode_member(const Entry& entry) {
  if (entry.value.empty()) return {};
  return decoded(entry, [](const Json& json) {
    MemberRecord record;
    record.kind = json["kind"].string_or("");
    record.at = json["at"].integer_or(0);
    if (json.contains("since")) record.since = field(json, "since", number_of);
    return record;
  });
}

std::string encode_facts(const std::vector<std::string>& facts) {
  Json json = Json::array();
  for (const std::string& fact : facts) json.push_back(fact);
  return json.dump();
}

std::vector<std::string> decode_facts(const Entry& entry) {
  const Json json = Json::parse(entry.value, entry.key);
  std::vector<std::string> facts;
  try {
    for (const Json& fact : json.as_array()) facts.push_back(fact.as_string());
  } catch (const DecodeError& error) {
    throw DecodeError(entry.key, error.problem());
  }
  return facts;
}

std::string_view text_of(ClaimState state) {
  switch (state) {
    case ClaimState::executing:
      return "executing";
    case ClaimState::settled:
      return "settled";
    case ClaimState::failed:
      return "failed";
  }
  return "";
}

std::string encode(const ClaimRecord& record) {
  const auto timeout =
      std::min(std::chrono::ceil<std::chrono::milliseconds>(record.timeout).count(), greatest_timeout);
  Json json = Json::object({{"epoch", stored(record.epoch)},
                            {"scope", record.owner.scope},
                            {"instance", record.owner.instance},
                            {"incarnation", record.owner.incarnation},
                            {"state", text_of(record.state)},
                            {"timeoutMs", static_cast<std::int64_t>(timeout)},
                            {"targets", record.targets},
                            {"at", record.at}});
  if (!record.note.empty()) json["note"] = record.note;
  return json.dump();
}

ClaimRecord decode_claim(const Entry& entry) {
  return decoded(entry, [](const Json& json) {
    ClaimRecord record;
    record.epoch = static_cast<std::uint64_t>(positive_in(json, "epoch", greatest_epoch));
    record.owner = {text_in(json, "scope"), text_in(json, "instance"), text_in(json, "incarnation")};
    const std::string state = text_in(json, "state");
    const auto known = state_of(state);
    if (!known) throw DecodeError("", "state: \"" + state + "\" is not a claim state");
    record.state = *known;
    record.timeout = std::chrono::milliseconds{positive_in(json, "timeoutMs", greatest_timeout)};
    record.targets = json["targets"].integer_or(0);
    record.at = json["at"].integer_or(0);
    record.note = json["note"].string_or("");
    return record;
  });
}

std::string encode(const TargetsRecord& record) {
  Json json = Json::object();
  for (const auto& [epoch, units] : record.epochs) {
    Json taken = Json::object();
    for (const auto& [unit, since] : units) taken[key_element(unit)] = stored(since);
    json[std::to_string(epoch)] = std::move(taken);
  }
  return json.dump();
}

TargetsRecord decode_targets(const Entry& entry) {
  return decoded(entry, [&](const Json& json) {
    TargetsRecord record;
    for (const auto& [epoch, units] : json.as_object()) {
      auto& taken = record.epochs[epoch_of(epoch, entry.key)];
      for (const auto& [unit, since] : units.as_object()) {
        if (unit.empty()) throw DecodeError("", epoch + ": a unit without a name");
        taken[key_text(unit)] = number_of(since);
      }
    }
    return record;
  });
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
