// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

constexpr std::array<std::string_view, 4> taken_kinds{"none", "earlier", "newest", "mixed"};

TakenKind taken_kind_of(const Json& json) {
  const std::string& text = json.as_string();
  const auto found = std::ranges::find(taken_kinds, text);
  if (found == taken_kinds.end()) throw DecodeError("", "\"" + text + "\" is not known");
  return static_cast<TakenKind>(found - taken_kinds.begin());
}

TakenRecord::Scope taken_scope_of(const Json& json) {
  TakenRecord::Scope scope{.as_of = field(json, "asOf", number_of)};
  for (const auto& [kind, taken] : json["kinds"].as_object()) {
    scope.kinds[key_text(kind)] = taken_kind_of(taken);
  }
  return scope;
}

/// The members of a KindSummary that are versions, with their names in the store.
constexpr std::array<std::pair<const char*, Version KindSummary::*>, 4> kind_versions{
    {{"added", &KindSummary::added},
     {"readied", &KindSummary::readied},
     {"oldest", &KindSummary::oldest},
     {"first", &KindSummary::first_pending}}};

std::size_t count_in(const Json& json, const char* name) {
  return field(json, name, [](const Json& value) {
    const std::int64_t number = value.as_integer();
    if (number < 0) throw DecodeError("", std::to_string(number) + " is negative");
    return static_cast<std::size_t>(number);
  });
}

KindSummary kind_of(const Json& json, Version own) {
  KindSummary one{.kind = json["kind"].string_or(""),
                  .pending = count_in(json, "pending"),
                  .ready = count_in(json, "ready")};
  if (one.ready > one.pending) throw DecodeError("", "ready: more units than are pending");
  if (json.contains("missing")) {
    for (const Json& unit : json["missing"].as_array()) one.missing.push_back(key_text(unit.as_string()));
  }
  for (const auto& [name, version] : kind_versions) {
    one.*version = json.contains(name) ? field(json, name, number_of) : own;
  }
  return one;
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

std::string encode(const SummaryRecord& record) {
  Json kinds = Json::array();
  for (const KindSummary& one : record.kinds) {
    Json missing = Json::array();
    for (const std::string& unit : one.missing) missing.push_back(key_element(unit));
    Json kind = Json::object({{"pending", static_cast<std::int64_t>(one.pending)},
                              {"ready", static_cast<std::int64_t>(one.ready)}});
    if (!one.kind.empty()) kind["kind"] = one.kind;
    if (!one.missing.empty()) kind["missing"] = std::move(missing);
    for (const auto& [name, version] : kind_versions) {
      if (one.*version != 0) kind[name] = stored(one.*version);
    }
    kinds.push_back(std::move(kind));
  }
  return Json::object({{"at", record.at}, {"kinds", std::move(kinds)}}).dump();
}

SummaryRecord decode_summary(const Entry& entry) {
  return decoded(entry, [&](const Json& json) {
    SummaryRecord record{.at = json["at"].integer_or(0)};
    for (const Json& kind : json["kinds"].as_array()) record.kinds.push_back(kind_of(kind, entry.version));
    return record;
  });
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

std::string encode(const TakenRecord& record) {
  Json scopes = Json::object();
  for (const auto& [scope, taken] : record.scopes) {
    Json kinds = Json::object();
    for (const auto& [kind, state] : taken.kinds) {
      kinds[kind.empty() ? "" : key_element(kind)] = taken_kinds.at(static_cast<std::size_t>(state));
    }
    scopes[key_element(scope)] = Json::object({{"asOf", stored(taken.as_of)}, {"kinds", std::move(kinds)}});
  }
  return Json::object({{"epoch", stored(record.epoch)}, {"scopes", std::move(scopes)}}).dump();
}

TakenRecord decode_taken(const Entry& entry) {
  return decoded(entry, [](const Json& json) {
    TakenRecord record;
    record.epoch = static_cast<std::uint64_t>(positive_in(json, "epoch", greatest_epoch));
    for (const auto& [scope, taken] : json["scopes"].as_object()) {
      record.scopes[key_text(scope)] = taken_scope_of(taken);
    }
    return record;
  });
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
