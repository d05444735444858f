// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <evenkeel/api/json.hpp>

#include "api/bounded_json.hpp"
#include "api/member_collector.hpp"
#include "base/json_scan.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

const Json null_json;

auto lower_bound_of(auto begin, auto end, std::string_view name) {
  return std::lower_bound(begin, end, name, [](const Json::Member& member, std::string_view wanted) {
    return member.name.compare(wanted) < 0;
  });
}

/// Builds a Json from nlohmann's events. Keeps the stack of open containers; rejects deep nesting.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view name) : name_(name) {}

  bool null() override { return put(Json()); }
  bool boolean(bool value) override { return put(Json(value)); }
  bool number_integer(number_integer_t value) override { return put(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return put(Json(static_cast<double>(value)));
    return put(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return put(Json(value)); }
  bool string(string_t& value) override { return put(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json(Json::Object())); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json(Json::Array())); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    std::string text = error.what();
    // nlohmann prefixes "[json.exception.parse_error.101] "; line, column and reason follow.
    if (const auto end = text.find("] "); end != std::string::npos) text.erase(0, end + 2);
    // It also quotes what it read last, which may be a part of a Secret.
    for (const std::string_view quote : {"; last read: '", " parsing '"})
      text.erase(std::min(text.find(quote), text.size()));
    throw DecodeError(name_, text);
  }

  Json take() { return std::move(root_); }

 private:
  Json& slot(Json value) {
    if (stack_.empty()) return root_ = std::move(value);
    Open& parent = stack_.back();
    if (parent.container->is_array()) {
      parent.container->push_back(std::move(value));
      return parent.container->as_array().back();
    }
    return parent.members.add(key_) = std::move(value);
  }
  bool put(Json value) {
    slot(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (stack_.size() >= max_json_depth)
      throw DecodeError(name_, "nested deeper than " + std::to_string(max_json_depth) + " levels");
    stack_.push_back(Open{&slot(std::move(container)), detail::MemberCollector()});
    return true;
  }
  bool close() {
    Open& last = stack_.back();
    if (last.container->is_object()) last.container->as_object() = last.members.finish();
    stack_.pop_back();
    return true;
  }

  struct Open {
    Json* container;
    detail::MemberCollector members;  ///< if it is an object
  };

  std::string name_;
  Json root_;
  // Pointers stay valid: a container grows only while it is the innermost open one.
  std::vector<Open> stack_;
  std::string key_;
};

/// Converts the scanner's document; returns false if it is nested too deep.
bool take_scanned(const simdjson::dom::element& from, Json& out, std::size_t depth) {
  using Type = simdjson::dom::element_type;
  switch (from.type()) {
    case Type::NULL_VALUE:
      break;
    case Type::BOOL:
      out = Json(from.get_bool().value_unsafe());
      break;
    case Type::INT64:
      out = Json(from.get_int64().value_unsafe());
      break;
    case Type::UINT64:
      out = Json(static_cast<double>(from.get_uint64().value_unsafe()));
      break;
    case Type::DOUBLE:
      out = Json(from.get_double().value_unsafe());
      break;
    case Type::STRING:
      out = Json(from.get_string().value_unsafe());
      break;
    case Type::ARRAY: {
      const simdjson::dom::array items = from.get_array().value_unsafe();
      Json::Array values;
      values.reserve(items.size());
      for (const simdjson::dom::element item : items) {
        if (depth == 0 || !take_scanned(item, values.emplace_back(), depth - 1)) return false;
      }
      out = Json(std::move(values));
      return depth > 0;
    }
    case Type::OBJECT: {
      const simdjson::dom::object members = from.get_object().value_unsafe();
      detail::MemberCollector values(members.size());
      for (const auto& [name, member] : members) {
        Json value;
        if (depth == 0 || !take_scanned(member, value, depth - 1)) return false;
        values.add(name) = std::move(value);
      }
      out = Json(values.finish());
      return depth > 0;
    }
  }
  return true;
}

/// Fast path, which does not report what is wrong with a document: the other parser does. The scanner's
/// buffers are cached per thread for documents of ordinary size: they take ten times its bytes.
std::optional<Json> scan(std::string_view text) {
  static thread_local std::unique_ptr<simdjson::dom::parser> kept;
  if (!kept) kept = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::element root;
  Json out;
  const bool read = kept->parse(text.data(), text.size()).get(root) == simdjson::SUCCESS &&
                    take_scanned(root, out, max_json_depth);
  if (text.size() > limits::uncounted_body) kept.reset();
  return read ? std::optional<Json>(std::move(out)) : std::nullopt;
}

/// Returns the number of values in a document, and no less than a parser finds in a broken one.
std::size_t count_values(std::string_view text) {
  std::size_t count = 1;
  char last = '\0';  // outside strings
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (detail::is_json_space(c)) continue;
    if (c == '"') {
      while (++at < text.size() && text[at] != '"') at += text[at] == '\\' ? 1 : 0;
    }
    if (c == ',' || c == '{' || c == '[') ++count;  // one value follows, unless the container is empty
    if ((c == '}' && last == '{') || (c == ']' && last == '[')) --count;
    last = c;
  }
  return count;
}

void new_line(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void dump_value(std::string& out, const Json& value, int indent, int depth) {
  switch (value.kind()) {
    case Json::Kind::null:
      out += "null";
      return;
    case Json::Kind::boolean:
      out += value.as_bool() ? "true" : "false";
      return;
    case Json::Kind::integer:
      append_json_integer(out, value.as_integer());
      return;
    case Json::Kind::number:
      append_json_number(out, value.as_number());
      return;
    case Json::Kind::string:
      append_json_string(out, value.as_string());
      return;
    case Json::Kind::array: {
      out += '[';
      bool first = true;
      for (const Json& item : value.as_array()) {
        if (!first) out += ',';
        first = false;
        new_line(out, indent, depth + 1);
        dump_value(out, item, indent, depth + 1);
      }
      if (!first) new_line(out, indent, depth);
      out += ']';
      return;
    }
    case Json::Kind::object: {
      out += '{';
      bool first = true;
      for (const auto& [name, member] : value.as_object()) {
        if (!first) out += ',';
        first = false;
        new_line(out, indent, depth + 1);
        append_json_string(out, name);
        out += indent < 0 ? ":" : ": ";
        dump_value(out, member, indent, depth + 1);
      }
      if (!first) new_line(out, indent, depth);
      out += '}';
      return;
    }
  }
}

[[noreturn]] void wrong_kind(std::string_view wanted, const Json& found) {
  throw DecodeError("", "expected " + std::string(wanted) + ", found " + std::string(found.kind_name()));
}

}  // namespace

Json::Object::iterator Json::Object::begin() noexcept {
  return members_.data();
}
Json::Object::iterator Json::Object::end() noexcept {
  return members_.data() + members_.size();
}
Json::Object::const_iterator Json::Object::begin() const noexcept {
  return members_.data();
}
Json::Object::const_iterator Json::Object::end() const noexcept {
  return members_.data() + members_.size();
}
std::size_t Json::Object::size() const noexcept {
  return members_.size();
}
void Json::Object::reserve(std::size_t count) {
  members_.reserve(count);
}

const Json* Json::Object::find(std::string_view name) const noexcept {
  const auto place = lower_bound_of(begin(), end(), name);
  return place != end() && place->name == name ? &place->value : nullptr;
}
Json* Json::Object::find(std::string_view name) noexcept {
  return const_cast<Json*>(static_cast<const Object*>(this)->find(name));
}
Json& Json::Object::operator[](std::string_view name) {
  // Documents are usually sorted, so the end is tried first.
  if (members_.empty() || members_.back().name < name)
    return members_.emplace_back(Member{std::string(name), Json()}).value;
  const auto place = lower_bound_of(members_.begin(), members_.end(), name);
  if (place->name == name) return place->value;
  return members_.insert(place, Member{std::string(name), Json()})->value;
}
bool Json::Object::erase(std::string_view name) {
  const auto place = lower_bound_of(members_.begin(), members_.end(), name);
  if (place == members_.end() || place->name != name) return false;
  members_.erase(place);
  return true;
}
bool Json::Object::operator==(const Object& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end(),
                    [](const Member& a, const Member& b) { return a.name == b.name && a.value == b.value; });
}

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(bool value) noexcept : value_(value) {}
Json::Json(Integer value) noexcept : value_(value.value) {}
Json::Json(Unsigned value) noexcept {
  if (value.value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    value_ = static_cast<std::int64_t>(value.value);
  else
    value_ = static_cast<double>(value.value);
}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(std::string value) noexcept : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(Array value) noexcept : value_(std::move(value)) {}
Json::Json(Object value) noexcept : value_(std::move(value)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json& other) {
  Json copy(other);  // `other` may be a part of *this
  return *this = std::move(copy);
}
Json& Json::operator=(Json&& other) noexcept {
  Json taken(std::move(other));
  value_.swap(taken.value_);
  return *this;
}
Json::~Json() = default;

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Object object;
  object.reserve(members.size());
  for (const auto& [name, value] : members) object[name] = value;
  return Json(std::move(object));
}
Json Json::array(std::initializer_list<Json> items) {
  return Json(Array(items));
}

Json Json::parse(std::string_view text, std::string_view name) {
  if (auto scanned = text.empty() ? std::nullopt : scan(text)) return std::move(*scanned);
  Builder builder(name);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    throw DecodeError(std::string(name), "not a JSON document");
  return builder.take();
}
Json detail::parse_bounded(std::string_view text, std::string_view name, std::size_t max_values) {
  constexpr std::size_t shortest_value = 2;  // with the comma behind it
  if (text.size() / shortest_value >= max_values && count_values(text) > max_values)
    throw DecodeError(std::string(name), "more than " + std::to_string(max_values) + " values");
  return Json::parse(text, name);
}
std::string Json::dump(int indent) const {
  std::string out;
  dump_value(out, *this, indent, 0);
  return out;
}
void Json::dump_to(std::string& out) const {
  dump_value(out, *this, -1, 0);
}

Json::Kind Json::kind() const noexcept {
  return static_cast<Kind>(value_.index());
}
std::string_view Json::kind_name() const noexcept {
  static constexpr std::string_view names[] = {"null",   "boolean", "integer", "number",
                                               "string", "array",   "object"};
  return names[value_.index()];
}

bool Json::as_bool() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  wrong_kind("boolean", *this);
}
std::int64_t Json::as_integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  wrong_kind("integer", *this);
}
double Json::as_number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  wrong_kind("number", *this);
}
const std::string& Json::as_string() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  wrong_kind("string", *this);
}
std::string& Json::as_string() {
  return const_cast<std::string&>(static_cast<const Json*>(this)->as_string());
}
const Json::Array& Json::as_array() const {
  if (const auto* value = std::get_if<Array>(&value_)) return *value;
  wrong_kind("array", *this);
}
Json::Array& Json::as_array() {
  return const_cast<Array&>(static_cast<const Json*>(this)->as_array());
}
const Json::Object& Json::as_object() const {
  if (const auto* value = std::get_if<Object>(&value_)) return *value;
  wrong_kind("object", *this);
}
Json::Object& Json::as_object() {
  return const_cast<Object&>(static_cast<const Json*>(this)->as_object());
}

bool Json::bool_or(bool otherwise) const noexcept {
  const auto* value = std::get_if<bool>(&value_);
  return value ? *value : otherwise;
}
std::int64_t Json::integer_or(std::int64_t otherwise) const noexcept {
  const auto* value = std::get_if<std::int64_t>(&value_);
  return value ? *value : otherwise;
}
std::string Json::string_or(std::string_view otherwise) const {
  const auto* value = std::get_if<std::string>(&value_);
  return value ? *value : std::string(otherwise);
}

const Json* Json::find(std::string_view name) const noexcept {
  const auto* object = std::get_if<Object>(&value_);
  return object ? object->find(name) : nullptr;
}
Json* Json::find(std::string_view name) noexcept {
  auto* object = std::get_if<Object>(&value_);
  return object ? object->find(name) : nullptr;
}
const Json& Json::operator[](std::string_view member) const noexcept {
  const Json* found = find(member);
  return found ? *found : null_json;
}
const Json& Json::item(std::size_t index) const noexcept {
  const auto* items = std::get_if<Array>(&value_);
  return items && index < items->size() ? (*items)[index] : null_json;
}
Json& Json::operator[](std::string_view member) {
  if (is_null()) value_ = Object();
  return as_object()[member];
}
Json& Json::item(std::size_t index) {
  Array& items = as_array();
  if (index >= items.size()) throw DecodeError("", "no item " + std::to_string(index));
  return items[index];
}
const Json& Json::at(std::initializer_list<std::string_view> path) const noexcept {
  const Json* place = this;
  for (const std::string_view step : path) {
    if (place->is_array()) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      if (error != std::errc() || end != step.data() + step.size()) return null_json;
      place = &(*place)[index];
    } else {
      place = &(*place)[step];
    }
  }
  return *place;
}
bool Json::erase(std::string_view name) {
  auto* object = std::get_if<Object>(&value_);
  return object && object->erase(name);
}
void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  as_array().push_back(std::move(item));
}
std::size_t Json::size() const noexcept {
  if (const auto* items = std::get_if<Array>(&value_)) return items->size();
  if (const auto* object = std::get_if<Object>(&value_)) return object->size();
  return 0;
}

bool Json::operator==(const Json& other) const noexcept {
  if (is_number() && other.is_number() && kind() != other.kind()) return as_number() == other.as_number();
  return value_ == other.value_;
}

}  // namespace v0
}  // namespace evenkeel
