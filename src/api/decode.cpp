// SPDX-License-Identifier: Apache-2.0
// Decoder: one walk over the field tables, from text (simdjson, on demand) or from a tree.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include <simdjson.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/int_or_string.hpp>

#include "api/scalar.hpp"
#include "base/json_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

namespace od = simdjson::ondemand;

/// simdjson found malformed JSON. Converted to a DecodeError with line and column.
struct Malformed {
  simdjson::error_code code;
};

template <class T>
T checked(simdjson::simdjson_result<T>&& result) {
  T value;
  if (const auto code = std::move(result).get(value)) throw Malformed{code};
  return value;
}

/// A number in the document's own precision.
struct Number {
  Json::Kind kind = Json::Kind::integer;
  std::int64_t integer = 0;
  double number = 0;
  std::optional<std::uint64_t> large = {};  // integers above the signed range
};

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  append_json_string(out, text.substr(0, longest));
  if (text.size() > longest) out += "...";
  return out;
}

/// A value in text that is being scanned. Each value is read at most once, in document order.
class TextValue {
 public:
  explicit TextValue(od::value value) : value_(value) {}

  Json::Kind kind() {
    switch (checked(value_.type())) {
      case od::json_type::null:
        return Json::Kind::null;
      case od::json_type::boolean:
        return Json::Kind::boolean;
      case od::json_type::number:
        return Json::Kind::number;
      case od::json_type::string:
        return Json::Kind::string;
      case od::json_type::array:
        return Json::Kind::array;
      case od::json_type::object:
        return Json::Kind::object;
    }
    return Json::Kind::null;
  }
  bool is_null() {
    if (kind() != Json::Kind::null) return false;
    if (!checked(value_.is_null())) throw Malformed{simdjson::N_ATOM_ERROR};
    return true;
  }
  bool boolean() { return checked(value_.get_bool()); }
  std::string_view string() { return checked(value_.get_string()); }
  Number number() {
    Number out;
    if (value_.get_int64().get(out.integer) == simdjson::SUCCESS) return out;
    std::uint64_t large = 0;
    if (value_.get_uint64().get(large) == simdjson::SUCCESS) {
      out.kind = Json::Kind::number;
      out.large = large;
      out.number = static_cast<double>(large);
      return out;
    }
    out.kind = Json::Kind::number;
    out.number = checked(value_.get_double());
    return out;
  }
  /// Returns the number's characters without parsing it.
  std::string_view token() {
    std::string_view text = value_.raw_json_token();
    while (!text.empty() &&
           (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
      text.remove_suffix(1);
    return text;
  }

  template <class F>
  void each_item(F&& visit) {
    for (auto item : checked(value_.get_array())) visit(TextValue(checked(simdjson::simdjson_result(item))));
  }
  template <class F>
  void each_member(F&& visit) {
    for (auto member : checked(value_.get_object())) {
      od::field field = checked(std::move(member));
      const std::string_view name = key_of(field);
      visit(name, TextValue(field.value()));
    }
  }

 private:
  static std::string_view key_of(od::field& field) {
    // Ends at the closing quote, which simdjson has already found.
    const char* begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\') ++end;
    if (*end == '"') return {begin, static_cast<std::size_t>(end - begin)};
    return checked(field.unescaped_key());
  }

  od::value value_;
};

/// Like TextValue, for a tree.
class TreeValue {
 public:
  explicit TreeValue(const Json& value) : value_(&value) {}

  Json::Kind kind() const { return value_->is_number() ? Json::Kind::number : value_->kind(); }
  bool is_null() const { return value_->is_null(); }
  bool boolean() const { return value_->as_bool(); }
  std::string_view string() const { return value_->as_string(); }
  Number number() const {
    Number out;
    out.kind = value_->kind();
    if (value_->is_integer()) {
      out.integer = value_->as_integer();
    } else {
      out.number = value_->as_number();
      // Recovers integers that were above the signed range when the tree was made.
      if (out.number >= 0x1p63 && out.number < 0x1p64) out.large = static_cast<std::uint64_t>(out.number);
    }
    return out;
  }
  std::string token() const { return value_->dump(); }
  const Json& tree() const { return *value_; }

  template <class F>
  void each_item(F&& visit) const {
    for (const Json& item : value_->as_array()) visit(TreeValue(item));
  }
  template <class F>
  void each_member(F&& visit) const {
    for (const auto& [name, member] : value_->as_object()) visit(std::string_view(name), TreeValue(member));
  }

 private:
  const Json* value_;
};

/// The path from the document's root to a value, kept on the stack and used only for errors.
struct Path {
  const Path* parent = nullptr;
  std::string_view name = {};
  std::size_t index = 0;
  bool is_index = false;
  int depth = 0;

  Path member(std::string_view child) const { return {this, child, 0, false, depth + 1}; }
  Path item(std::size_t child) const { return {this, {}, child, true, depth + 1}; }

  std::string str() const {
    if (parent == nullptr) return {};
    std::string out = parent->str();
    if (is_index) return out + "[" + std::to_string(index) + "]";
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '-';
    });
    if (!plain || name.empty()) return out + "[" + quoted(name) + "]";
    return out.empty() ? std::string(name) : out + "." + std::string(name);
  }
};

/// A value that does not fit. Becomes a DecodeError once it is known whether its bytes may be shown.
struct Misfit {
  std::string where;
  std::string expected;
  std::string kind;   ///< Type of the value that was found.
  std::string value;  ///< Type and bytes of it.
};

/// Returns true if an object described by `type`, `what` and `text` may be a Secret, or hold one, like a list
/// or a review. Errors then name the field and the type that was found, and quote nothing.
bool may_hold_secret(const TypeInfo& type, std::string_view what, std::string_view text) {
  const bool is_secret = type.kind == TypeKind::record && type.resource != nullptr &&
                         std::string_view(type.resource->kind) == "Secret";
  return is_secret || what.find("Secret") != std::string_view::npos ||
         text.find("\"Secret") != std::string_view::npos;
}

DecodeError error_of(const Misfit& misfit, bool hides_value) {
  return {misfit.where,
          "expected " + misfit.expected + ", found " + (hides_value ? misfit.kind : misfit.value)};
}

template <class Value>
class Decoder {
 public:
  explicit Decoder(std::string_view what) : what_(what) {}

  void value(const TypeInfo& type, void* target, Value value, const Path& path) {
    switch (type.kind) {
      case TypeKind::boolean:
        expect(Json::Kind::boolean, "boolean", value, path);
        *static_cast<bool*>(target) = value.boolean();
        return;
      case TypeKind::integer:
        return integer(type, target, value, path);
      case TypeKind::number:
        return number(type, target, value, path);
      case TypeKind::string:
        expect(Json::Kind::string, "string", value, path);
        *static_cast<std::string*>(target) = value.string();
        return;
      case TypeKind::enumeration:
        return enumeration(type, target, value, path);
      case TypeKind::text:
        return text(type, target, value, path);
      case TypeKind::int_or_string:
        return int_or_string(*static_cast<IntOrString*>(target), value, path);
      case TypeKind::json:
        *static_cast<Json*>(target) = tree(value, path);
        return;
      case TypeKind::optional:
        return this->value(type.item(), type.optional->emplace(target), value, path);
      case TypeKind::list:
        return list(type, target, value, path);
      case TypeKind::map:
        return map(type, target, value, path);
      case TypeKind::record:
        return record(type, target, value, path);
    }
  }

  /// Decodes the root: like any record, but apiVersion and kind, if present, must match the type.
  void top(const TypeInfo& type, void* target, Value value) {
    resource_ = type.kind == TypeKind::record ? type.resource : nullptr;
    this->value(type, target, value, Path{});
  }

 private:
  [[noreturn]] void fail(const Path& path, std::string_view expected, std::string kind,
                         std::string value) const {
    std::string where = what_;
    const std::string field = path.str();
    if (!where.empty() && !field.empty()) where += ": ";
    throw Misfit{where + field, std::string(expected), std::move(kind), std::move(value)};
  }

  [[noreturn]] void wrong_kind(const Path& path, std::string_view expected, Value& value, bool secret) const {
    std::string kind;
    std::string shown;
    switch (value.kind()) {
      case Json::Kind::null:
        kind = "null";
        break;
      case Json::Kind::boolean:
        kind = "boolean";
        shown = value.boolean() ? "true" : "false";
        break;
      case Json::Kind::string:
        kind = "string";
        shown = quoted(value.string());
        break;
      case Json::Kind::array:
        kind = "array";
        break;
      case Json::Kind::object:
        kind = "object";
        break;
      default:
        shown = value.token();
        kind = secret || shown.find_first_of(".eE") != std::string::npos ? "number" : "integer";
        break;
    }
    fail(path, expected, kind, secret || shown.empty() ? kind : kind + " " + shown);
  }

  void expect(Json::Kind kind, std::string_view wanted, Value& value, const Path& path,
              bool secret = false) const {
    if (value.kind() != kind) wrong_kind(path, wanted, value, secret);
  }

  static double as_double(const Number& number) {
    return number.kind == Json::Kind::integer ? static_cast<double>(number.integer) : number.number;
  }

  void number(const TypeInfo& type, void* target, Value& value, const Path& path) const {
    expect(Json::Kind::number, "number", value, path);
    const double number = as_double(value.number());
    constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
    if (type.size == sizeof(float) && std::abs(number) > most)
      fail(path, "number from -3.4028235e+38 to 3.4028235e+38", "another number", std::string(value.token()));
    store_number(type, target, number);
  }

  /// Returns the number with its integer set if it is a whole one that was written with a fraction or an
  /// exponent: to the API server, 3.0 is an integer. Above 2^53 it is not.
  static Number whole(Number number) {
    constexpr double most = 0x1p53;
    if (number.kind != Json::Kind::number || number.large || std::abs(number.number) >= most ||
        number.number != std::trunc(number.number))
      return number;
    return {.integer = static_cast<std::int64_t>(number.number)};
  }

  void integer(const TypeInfo& type, void* target, Value& value, const Path& path) const {
    expect(Json::Kind::number, "integer", value, path);
    const Number number = whole(value.number());
    if (number.large && is_unsigned_64(type))
      return store_integer(type, target, static_cast<std::int64_t>(*number.large));
    if (number.kind == Json::Kind::integer && fits(type, number.integer))
      return store_integer(type, target, number.integer);
    const std::string found(value.token());
    if (number.kind == Json::Kind::number && found.find_first_of(".eE") != std::string::npos && !number.large)
      fail(path, "integer", "number", "number " + found);
    fail(path, "integer " + range_of(type), "another number", found);
  }

  static bool fits(const TypeInfo& type, std::int64_t value) {
    if (type.size == 8) return type.is_signed || value >= 0;
    const int bits = type.size * 8;
    if (type.is_signed)
      return value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1));
    return value >= 0 && value < (std::int64_t{1} << bits);
  }

  static std::string range_of(const TypeInfo& type) {
    const std::uint64_t top = std::numeric_limits<std::uint64_t>::max() >> (64 - type.size * 8);
    if (!type.is_signed) return "from 0 to " + std::to_string(top);
    const auto signed_top = static_cast<std::int64_t>(top / 2);
    return "from " + std::to_string(-signed_top - 1) + " to " + std::to_string(signed_top);
  }

  void enumeration(const TypeInfo& type, void* target, Value& value, const Path& path) const {
    std::string wanted;
    for (const EnumValue& each : type.values)
      wanted += (wanted.empty() ? "one of " : ", ") + quoted(each.wire);
    expect(Json::Kind::string, wanted, value, path);
    const std::string_view word = value.string();
    for (const EnumValue& each : type.values) {
      if (each.wire == word) return store_integer(type, target, each.value);
    }
    fail(path, wanted, "string", "string " + quoted(word));
  }

  void text(const TypeInfo& type, void* target, Value& value, const Path& path) const {
    const TextOps& ops = *type.text;
    if (ops.numbers && value.kind() == Json::Kind::number) {
      const std::string token(value.token());
      if (ops.parse(target, token)) return;
      wrong_kind(path, ops.expected, value, ops.secret);
    }
    expect(Json::Kind::string, ops.expected, value, path, ops.secret);
    const std::string_view form = value.string();
    if (ops.parse(target, form)) return;
    fail(path, ops.expected, "string", ops.secret ? "string" : "string " + quoted(form));
  }

  void int_or_string(IntOrString& target, Value& value, const Path& path) const {
    const Json::Kind kind = value.kind();
    if (kind == Json::Kind::string) {
      target = IntOrString(value.string());
      return;
    }
    if (kind != Json::Kind::number) wrong_kind(path, "integer or string", value, false);
    std::int32_t number = 0;
    integer(type_info<std::int32_t>(), &number, value, path);
    target = IntOrString(number);
  }

  Json tree(Value& value, const Path& path) const {
    if constexpr (requires { value.tree(); }) {
      return value.tree();
    } else {
      return tree_of_text(value, path);
    }
  }

  Json tree_of_text(Value& value, const Path& path) const {
    check_depth(path);
    switch (value.kind()) {
      case Json::Kind::null:
        static_cast<void>(value.is_null());
        return Json();
      case Json::Kind::boolean:
        return Json(value.boolean());
      case Json::Kind::string:
        return Json(value.string());
      case Json::Kind::array: {
        Json::Array items;
        value.each_item([&](Value item) { items.push_back(tree_of_text(item, path.item(items.size()))); });
        return Json(std::move(items));
      }
      case Json::Kind::object: {
        Json::Object members;
        value.each_member([&](std::string_view name, Value member) {
          const std::string kept(name);
          members[kept] = tree_of_text(member, path.member(kept));
        });
        return Json(std::move(members));
      }
      default:
        break;
    }
    const Number number = value.number();
    return number.kind == Json::Kind::integer ? Json(number.integer) : Json(number.number);
  }

  void check_depth(const Path& path) const {
    if (path.depth > max_json_depth) {
      // The path would be as long as the document is deep, so it is omitted.
      throw DecodeError(what_, "nested deeper than " + std::to_string(max_json_depth) + " levels");
    }
  }

  void list(const TypeInfo& type, void* target, Value& value, const Path& path) {
    expect(Json::Kind::array, "array", value, path);
    check_depth(path);
    type.list->clear(target);
    const TypeInfo& item_type = type.item();
    std::size_t index = 0;
    value.each_item([&](Value item) {
      const Path here = path.item(index++);
      auto fill = [&](void* slot) {
        if (keeps_null(item_type) || !item.is_null()) this->value(item_type, slot, item, here);
      };
      type.list->append(target, &fill,
                        [](void* context, void* slot) { (*static_cast<decltype(fill)*>(context))(slot); });
    });
  }

  void map(const TypeInfo& type, void* target, Value& value, const Path& path) {
    expect(Json::Kind::object, "object", value, path);
    check_depth(path);
    type.map->clear(target);
    const TypeInfo& item_type = type.item();
    value.each_member([&](std::string_view name, Value member) {
      void* slot = type.map->insert(target, name);
      if (keeps_null(item_type) || !member.is_null()) this->value(item_type, slot, member, path.member(name));
    });
  }

  static bool keeps_null(const TypeInfo& type) { return type.kind == TypeKind::json; }

  void record(const TypeInfo& type, void* target, Value& value, const Path& path) {
    expect(Json::Kind::object, "object", value, path);
    check_depth(path);
    const bool is_root = path.parent == nullptr && resource_ != nullptr;
    std::size_t next = 0;
    value.each_member([&](std::string_view name, Value member) {
      const Field* field = find_field(type, name, next);
      if (field == nullptr) {
        if (is_root) check_identity(name, member, path);
        return;
      }
      if (!member.is_null())
        this->value(field->type(), field->access(target), member, path.member(field->wire));
    });
  }

  /// Documents usually have their fields in declaration order, so the search starts after the last match.
  static const Field* find_field(const TypeInfo& type, std::string_view name, std::size_t& next) {
    const std::size_t count = type.fields.size();
    for (std::size_t tried = 0; tried < count; ++tried) {
      const std::size_t at = next + tried < count ? next + tried : next + tried - count;
      const Field& field = type.fields[at];
      if (field.wire != name) continue;
      next = at + 1 < count ? at + 1 : 0;
      return &field;
    }
    return nullptr;
  }

  void check_identity(std::string_view name, Value& member, const Path& path) const {
    if (name == "kind") return check_word(resource_->kind, member, path.member("kind"));
    if (name == "apiVersion") check_word(resource_->api_version(), member, path.member("apiVersion"));
  }

  void check_word(std::string_view wanted, Value& member, const Path& path) const {
    if (member.is_null()) return;
    expect(Json::Kind::string, quoted(wanted), member, path);
    const std::string_view found = member.string();
    if (found != wanted && !found.empty()) fail(path, quoted(wanted), quoted(found), quoted(found));
  }

  std::string what_;
  const ResourceInfo* resource_ = nullptr;
};

/// simdjson needs padding after the text and a parser with buffers. Both are cached per thread for documents
/// of ordinary size.
class Scratch {
 public:
  od::document scan(std::string_view text) {
    const std::size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
    if (needed > capacity_) {
      capacity_ = std::max(needed, std::size_t{16} << 10);
      bytes_ = std::make_unique<char[]>(capacity_);
    }
    std::memcpy(bytes_.get(), text.data(), text.size());
    std::memset(bytes_.get() + text.size(), 0, simdjson::SIMDJSON_PADDING);
    return checked(parser_.iterate(bytes_.get(), text.size(), capacity_));
  }
  bool is_large() const { return capacity_ > (std::size_t{1} << 20); }

 private:
  od::parser parser_;
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
};

/// Borrows the thread's scratch. A nested decode finds none and makes its own.
class BorrowedScratch {
 public:
  BorrowedScratch() : scratch_(std::move(kept())) {
    if (!scratch_) scratch_ = std::make_unique<Scratch>();
  }
  ~BorrowedScratch() {
    if (!scratch_->is_large()) kept() = std::move(scratch_);
  }
  BorrowedScratch(const BorrowedScratch&) = delete;
  BorrowedScratch& operator=(const BorrowedScratch&) = delete;
  Scratch& operator*() { return *scratch_; }

 private:
  static std::unique_ptr<Scratch>& kept() {
    static thread_local std::unique_ptr<Scratch> scratch;
    return scratch;
  }
  std::unique_ptr<Scratch> scratch_;
};

void scan_into(const TypeInfo& type, void* object, std::string_view text, std::string_view what) {
  BorrowedScratch scratch;
  od::document document = (*scratch).scan(text);
  Decoder<TextValue>(what).top(type, object, TextValue(checked(document.get_value())));
  const char* rest = nullptr;
  if (document.current_location().get(rest) == simdjson::SUCCESS) throw Malformed{simdjson::TRAILING_CONTENT};
}

bool is_container(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

void from_tree(const TypeInfo& type, void* object, const Json& tree, std::string_view what) {
  try {
    Decoder<TreeValue>(what).top(type, object, TreeValue(tree));
  } catch (const Misfit& misfit) {
    throw error_of(misfit, may_hold_secret(type, what, tree.dump()));
  }
}

void from_json(const TypeInfo& type, void* object, std::string_view text, std::string_view what) {
  const std::string_view name = what.empty() ? "JSON" : what;
  if (!is_container(text)) return from_tree(type, object, Json::parse(text, name), what);
  try {
    scan_into(type, object, text, what);
  } catch (const Misfit& misfit) {
    throw error_of(misfit, may_hold_secret(type, what, text));
  } catch (const Malformed& malformed) {
    // The slower parser reports line and column.
    static_cast<void>(Json::parse(text, name));
    throw DecodeError(std::string(name),
                      std::string("malformed JSON: ") + simdjson::error_message(malformed.code));
  }
}

}  // namespace v0
}  // namespace evenkeel
