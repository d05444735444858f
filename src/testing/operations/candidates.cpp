// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/candidates.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "testing/operations/known_values.hpp"
#include "testing/operations/text_candidates.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Counts above this are no valid candidates: an operator might create as many objects.
constexpr std::int64_t large = 20;
// Behind most names, so that the first member of a map stays the first.
constexpr const char* added_member = "zz-evenkeel";

// Collects candidates, without duplicates and without the present value.
class Collector {
 public:
  Collector(const PropertySchema& property, const Json* current) : property_(property), current_(current) {}

  std::vector<Candidate> collect();

 private:
  void add(Json value, ValueKind kind, bool breaks_schema = false);
  void valid(Json value) { add(std::move(value), ValueKind::valid); }
  void wrong(Json value) { add(std::move(value), ValueKind::wrong); }
  void broken(Json value) { add(std::move(value), ValueKind::wrong, true); }

  bool add_known();
  void add_typed(const std::string& type);
  void add_flags();
  void add_integers();
  void add_numbers();
  void add_texts();
  void add_words();
  void add_int_or_texts();
  void add_lists();
  void add_maps();
  void add_free();
  Json placed(std::string_view text, Placement placement) const;
  const Json& schema() const { return property_.schema; }

  const PropertySchema& property_;
  const Json* const current_;
  std::vector<Candidate> out_;
};

void Collector::add(Json value, ValueKind kind, bool breaks_schema) {
  if (current_ != nullptr && *current_ == value) return;
  for (const Candidate& known : out_) {
    if (known.value && *known.value == value) return;
  }
  out_.push_back({.value = std::move(value), .kind = kind, .breaks_schema = breaks_schema});
}

std::vector<Candidate> Collector::collect() {
  const std::string type = schema()["type"].string_or("");
  if (!add_known()) add_typed(type);
  if (type == "string") broken(Json(7));
  if (type == "integer" || type == "number" || type == "boolean" || type == "array" || type == "object")
    broken(Json("evenkeel"));
  if (current_ != nullptr && property_.removable) out_.push_back({});
  std::stable_partition(out_.begin(), out_.end(),
                        [](const Candidate& one) { return one.kind == ValueKind::valid; });
  return std::move(out_);
}

void Collector::add_typed(const std::string& type) {
  if (schema()["x-kubernetes-int-or-string"].bool_or(false)) return add_int_or_texts();
  if (schema()["enum"].is_array()) return add_words();
  if (type == "boolean") return add_flags();
  if (type == "integer") return add_integers();
  if (type == "number") return add_numbers();
  if (type == "string") return add_texts();
  if (type == "array") return add_lists();
  if (schema().contains("additionalProperties")) return add_maps();
  if (schema().contains("properties")) {
    if (current_ == nullptr) valid(smallest_value(schema(), property_.name));
    return;
  }
  add_free();
}

Json Collector::placed(std::string_view text, Placement placement) const {
  Json value = Json::parse(text);
  if (placement == Placement::replace || current_ == nullptr)
    return placement == Placement::append ? Json::array({std::move(value)}) : value;
  Json whole = *current_;
  if (placement == Placement::append) {
    whole.push_back(std::move(value));
  } else {
    for (const auto& [name, member] : value.as_object()) whole[name] = member;
  }
  return whole;
}

bool Collector::add_known() {
  const KnownValues* const known = known_values(schema(), property_.name, property_.parent);
  if (known == nullptr) return false;
  for (const std::string_view text : known->valid) valid(placed(text, known->placement));
  for (const std::string_view text : known->wrong) wrong(placed(text, known->placement));
  return true;
}

void Collector::add_flags() {
  valid(Json(true));
  valid(Json(false));
}

bool is_count(std::string_view name) {
  constexpr std::array<std::string_view, 12> counts{"replicas", "Replicas", "size",        "count",
                                                    "Count",    "members",  "instances",   "servers",
                                                    "nodes",    "shards",   "parallelism", "completions"};
  return std::any_of(counts.begin(), counts.end(),
                     [name](std::string_view one) { return name.ends_with(one); });
}

bool is_port(std::string_view name) {
  return name == "port" || name.ends_with("Port");
}

void Collector::add_integers() {
  const std::int64_t least = schema()["minimum"].integer_or(std::numeric_limits<std::int64_t>::min());
  const std::int64_t most = schema()["maximum"].integer_or(std::numeric_limits<std::int64_t>::max());
  const std::int64_t usual = is_port(property_.name) ? 8080 : std::max<std::int64_t>(least, 1);
  const std::int64_t now = current_ == nullptr ? usual - 1 : current_->integer_or(usual);
  const auto fits = [&](std::int64_t value) { return value >= least && value <= most; };
  const std::int64_t least_count = std::max<std::int64_t>(least, 0);
  for (const std::int64_t value : {now + 1, now - 1, now + 2, least_count, std::min(most, now + large)}) {
    const bool counts = value >= 0 || now < 0;
    if (fits(value) && counts) valid(Json(value));
  }
  if (schema().contains("minimum") && least > std::numeric_limits<std::int64_t>::min())
    broken(Json(least - 1));
  if (schema().contains("maximum") && most < std::numeric_limits<std::int64_t>::max()) broken(Json(most + 1));
  if (is_count(property_.name) && fits(-1)) wrong(Json(-1));
  if (is_port(property_.name) && fits(70000)) wrong(Json(70000));
}

void Collector::add_numbers() {
  const double now = current_ != nullptr && current_->is_number() ? current_->as_number() : 0;
  const Json& least = schema()["minimum"];
  const Json& most = schema()["maximum"];
  for (const double value : {now + 1, now / 2, now + 0.25, now - 0.25, 0.5, 1.0}) {
    const bool below = least.is_number() && value < least.as_number();
    const bool above = most.is_number() && value > most.as_number();
    if (!below && !above) valid(Json(value));
  }
  if (least.is_number()) broken(Json(least.as_number() - 1));
  if (most.is_number()) broken(Json(most.as_number() + 1));
}

void Collector::add_texts() {
  const Texts texts = texts_for(property_, current_ == nullptr ? "" : current_->string_or(""));
  for (const std::string& text : texts.valid) valid(Json(text));
  for (const std::string& text : texts.wrong) wrong(Json(text));
  for (const std::string& text : texts.breaks_schema) broken(Json(text));
}

void Collector::add_words() {
  for (const Json& word : schema()["enum"].as_array()) valid(word);
  broken(Json("evenkeel-unknown"));
}

// A quantity has a pattern; without one, it is a count or a part in percent, as of a rolling update.
void Collector::add_int_or_texts() {
  if (schema().contains("pattern")) {
    PropertySchema quantity = property_;
    quantity.schema[text_type_member] = "quantity";
    const Texts texts = texts_for(quantity, current_ == nullptr ? "" : current_->string_or(""));
    for (const std::string& text : texts.valid) valid(Json(text));
    for (const std::string& text : texts.wrong) wrong(Json(text));
    return;
  }
  valid(Json(1));
  valid(Json("25%"));
  valid(Json(2));
  wrong(Json("much"));
}

void Collector::add_lists() {
  const Json& items = schema()["items"];
  Json longer = current_ == nullptr ? Json::array() : *current_;
  if (longer.empty()) {
    longer.push_back(smallest_value(items, property_.name));
    return valid(std::move(longer));
  }
  const Json last = std::as_const(longer)[longer.size() - 1];
  const PropertySchema item{.name = property_.name, .schema = items, .parent = property_.parent};
  if (last.is_object()) {
    Json other = last;
    for (auto& [name, member] : other.as_object()) {
      if (member.is_string()) member = next_text(member.as_string());
      if (member.is_integer()) member = member.as_integer() + 1;
    }
    longer.push_back(std::move(other));
  } else {
    for (const Candidate& candidate : candidates(item, &last)) {
      if (candidate.kind != ValueKind::valid || !candidate.value) continue;
      longer.push_back(*candidate.value);
      break;
    }
  }
  valid(std::move(longer));
  Json shorter = *current_;
  shorter.as_array().pop_back();
  valid(std::move(shorter));
}

void Collector::add_maps() {
  Json more = current_ == nullptr ? Json::object() : *current_;
  more[added_member] = smallest_value(schema()["additionalProperties"], added_member);
  valid(std::move(more));
  if (current_ == nullptr || current_->empty()) return;
  Json less = *current_;
  less.erase(less.as_object().begin()->name);
  valid(std::move(less));
}

// A value of free form whose members are unknown.
void Collector::add_free() {
  if (current_ != nullptr && !current_->is_object()) return;
  Json more = current_ == nullptr ? Json::object() : *current_;
  more[added_member] = "a";
  valid(std::move(more));
}

}  // namespace

std::vector<Candidate> candidates(const PropertySchema& property, const Json* current) {
  return Collector(property, current).collect();
}

Json smallest_value(const Json& schema, const std::string& name) {
  if (const Json* const given = schema.find("default")) return *given;
  const std::string type = schema["type"].string_or("");
  if (schema.contains("properties")) {
    Json value = Json::object();
    const Json& required = schema["required"];
    for (std::size_t at = 0; at < required.size(); ++at) {
      const std::string member = required[at].string_or("");
      value[member] = smallest_value(schema["properties"][member], member);
    }
    return value;
  }
  if (type == "array") {
    Json value = Json::array();
    if (schema["minItems"].integer_or(0) > 0) value.push_back(smallest_value(schema["items"], name));
    return value;
  }
  if (type == "object" || type.empty()) {
    if (!schema["x-kubernetes-int-or-string"].bool_or(false)) return Json::object();
  }
  for (const Candidate& candidate : candidates({.name = name, .schema = schema}, nullptr)) {
    if (candidate.value && candidate.kind == ValueKind::valid) return *candidate.value;
  }
  return Json();
}

Json schema_of_value(const Json& value) {
  if (value.is_bool()) return Json::object({{"type", "boolean"}});
  if (value.is_integer()) return Json::object({{"type", "integer"}});
  if (value.is_number()) return Json::object({{"type", "number"}});
  if (value.is_string()) return Json::object({{"type", "string"}});
  if (value.is_array()) {
    Json schema = Json::object({{"type", "array"}});
    schema["items"] = value.empty() ? Json::object() : schema_of_value(value[0]);
    return schema;
  }
  Json schema = Json::object();
  if (!value.is_object()) return schema;
  schema["type"] = "object";
  schema["properties"] = Json::object();
  for (const auto& [name, member] : value.as_object()) schema["properties"][name] = schema_of_value(member);
  return schema;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
