// SPDX-License-Identifier: Apache-2.0
// Encoder: one walk over the field tables, to text or to a tree.
#include <algorithm>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/int_or_string.hpp>

#include "api/scalar.hpp"
#include "base/json_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

/// Writes text. A member that turns out to be empty is truncated again.
class TextSink {
 public:
  struct Mark {
    std::size_t length;
    bool first;
  };

  Mark member(std::string_view name) {
    const Mark mark{out_.size(), first_};
    separate();
    append_json_string(out_, name);
    out_ += ':';
    return mark;
  }
  void drop(Mark mark) {
    out_.resize(mark.length);
    first_ = mark.first;
  }
  void end_member() { first_ = false; }
  void item() { separate(); }
  void end_item() { first_ = false; }
  void open_object() { open('{'); }
  void close_object() { close('}'); }
  void open_array() { open('['); }
  void close_array() { close(']'); }
  void null() { out_ += "null"; }
  void boolean(bool value) { out_ += value ? "true" : "false"; }
  void integer(std::int64_t value) { append_json_integer(out_, value); }
  void unsigned_integer(std::uint64_t value) { out_ += std::to_string(value); }
  void number(double value) { append_json_number(out_, value); }
  void string(std::string_view value) { append_json_string(out_, value); }
  void tree(const Json& value) { value.dump_to(out_); }
  std::string take() { return std::move(out_); }

 private:
  void open(char bracket) {
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void separate() {
    if (!first_) out_ += ',';
  }
  std::string out_;
  bool first_ = true;
};

/// Builds a tree. places_ is the path to the value being written; parents do not move while a child is
/// written.
class TreeSink {
 public:
  using Mark = std::string_view;

  Mark member(std::string_view name) {
    places_.push_back(&places_.back()->as_object()[name]);
    return name;
  }
  void drop(Mark mark) {
    places_.pop_back();
    places_.back()->erase(mark);
  }
  void end_member() { places_.pop_back(); }
  void item() {
    places_.back()->push_back(Json());
    places_.push_back(&places_.back()->as_array().back());
  }
  void end_item() { places_.pop_back(); }
  void open_object() { put(Json::Object()); }
  void close_object() {}
  void open_array() { put(Json::Array()); }
  void close_array() {}
  void null() { put(Json()); }
  void boolean(bool value) { put(value); }
  void integer(std::int64_t value) { put(value); }
  void unsigned_integer(std::uint64_t value) {
    if (value > INT64_MAX) return put(static_cast<double>(value));
    put(value);
  }
  void number(double value) { put(value); }
  void string(std::string_view value) { put(value); }
  void tree(const Json& value) { put(value); }
  Json take() { return std::move(root_); }

 private:
  void put(Json value) { *places_.back() = std::move(value); }
  Json root_;
  std::vector<Json*> places_{&root_};
};

bool is_zero(const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case TypeKind::boolean:
      return !*static_cast<const bool*>(value);
    case TypeKind::integer:
    case TypeKind::enumeration:
      return load_integer(type, value) == 0;
    case TypeKind::number:
      return load_number(type, value) == 0;
    case TypeKind::string:
      return static_cast<const std::string*>(value)->empty();
    case TypeKind::text:
      return type.text->is_zero(value);
    case TypeKind::json:
      return static_cast<const Json*>(value)->is_null();
    default:
      return false;
  }
}

/// Returns true if a field is omitted without examining its contents.
bool left_out(const Field& field, const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case TypeKind::optional:
      return type.optional->get(value) == nullptr;
    case TypeKind::list:
      return type.list->size(value) == 0;
    case TypeKind::map:
      return type.map->size(value) == 0;
    case TypeKind::json:
      return static_cast<const Json*>(value)->is_null();
    case TypeKind::record:
      return false;
    default:
      return field.omit_empty() && is_zero(type, value);
  }
}

template <class Sink>
class Encoder {
 public:
  void value(const TypeInfo& type, const void* value) {
    switch (type.kind) {
      case TypeKind::boolean:
        return sink_.boolean(*static_cast<const bool*>(value));
      case TypeKind::integer:
        return integer(type, value);
      case TypeKind::number:
        return sink_.number(load_number(type, value));
      case TypeKind::string:
        return sink_.string(*static_cast<const std::string*>(value));
      case TypeKind::enumeration:
        return enumeration(type, value);
      case TypeKind::text:
        return text(type, value);
      case TypeKind::int_or_string:
        return int_or_string(*static_cast<const IntOrString*>(value));
      case TypeKind::json:
        return sink_.tree(*static_cast<const Json*>(value));
      case TypeKind::optional:
        return optional(type, value);
      case TypeKind::list:
        return list(type, value);
      case TypeKind::map:
        return map(type, value);
      case TypeKind::record:
        record(type, value);
        return;
    }
  }

  void top(const TypeInfo& type, const void* object) {
    if (type.kind != TypeKind::record || type.resource == nullptr) return value(type, object);
    sink_.open_object();
    string_member("apiVersion", type.resource->api_version());
    string_member("kind", type.resource->kind);
    for (const Field& each : type.fields) field(each, object, each.wire == "metadata");
    sink_.close_object();
  }

  auto take() { return sink_.take(); }

 private:
  void string_member(std::string_view name, std::string_view text) {
    sink_.member(name);
    sink_.string(text);
    sink_.end_member();
  }

  void integer(const TypeInfo& type, const void* value) {
    const std::int64_t bits = load_integer(type, value);
    if (is_unsigned_64(type)) return sink_.unsigned_integer(static_cast<std::uint64_t>(bits));
    sink_.integer(bits);
  }

  /// An undeclared enumerator is a bug in the program: its number is written, so that the server's error
  /// shows it.
  void enumeration(const TypeInfo& type, const void* value) {
    const std::int64_t number = load_integer(type, value);
    for (const EnumValue& each : type.values) {
      if (each.value == number) return sink_.string(each.wire);
    }
    sink_.integer(number);
  }

  void text(const TypeInfo& type, const void* value) {
    std::string form;
    type.text->append(value, form);
    sink_.string(form);
  }

  void int_or_string(const IntOrString& value) {
    if (value.is_integer()) return sink_.integer(value.integer());
    sink_.string(value.string());
  }

  void optional(const TypeInfo& type, const void* value) {
    const void* inner = type.optional->get(value);
    if (inner == nullptr) return sink_.null();
    this->value(type.item(), inner);
  }

  void list(const TypeInfo& type, const void* value) {
    const TypeInfo& item = type.item();
    const std::size_t size = type.list->size(value);
    sink_.open_array();
    for (std::size_t i = 0; i < size; ++i) {
      sink_.item();
      this->value(item, type.list->at(value, i));
      sink_.end_item();
    }
    sink_.close_array();
  }

  void map(const TypeInfo& type, const void* value) {
    struct Entry {
      std::string_view key;
      const void* value;
    };
    std::vector<Entry> entries;
    entries.reserve(type.map->size(value));
    type.map->each(
        value, &entries, +[](void* context, std::string_view key, const void* entry) {
          static_cast<std::vector<Entry>*>(context)->push_back({key, entry});
        });
    if (!type.map->sorted)
      std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    const TypeInfo& item = type.item();
    sink_.open_object();
    for (const Entry& entry : entries) {
      sink_.member(entry.key);
      this->value(item, entry.value);
      sink_.end_member();
    }
    sink_.close_object();
  }

  /// Returns true if any member was written.
  bool record(const TypeInfo& type, const void* object) {
    bool any = false;
    sink_.open_object();
    for (const Field& each : type.fields) any |= field(each, object, false);
    sink_.close_object();
    return any;
  }

  bool field(const Field& field, const void* object, bool even_if_empty) {
    const TypeInfo& type = field.type();
    const void* value = field.get(object);
    if (left_out(field, type, value)) return false;
    const auto mark = sink_.member(field.wire);
    if (type.kind == TypeKind::record) {
      if (!record(type, value) && !even_if_empty) {
        sink_.drop(mark);
        return false;
      }
    } else {
      this->value(type, value);
    }
    sink_.end_member();
    return true;
  }

  Sink sink_;
};

}  // namespace

std::string to_json(const TypeInfo& type, const void* object) {
  Encoder<TextSink> encoder;
  encoder.top(type, object);
  return encoder.take();
}

Json to_tree(const TypeInfo& type, const void* object) {
  Encoder<TreeSink> encoder;
  encoder.top(type, object);
  return encoder.take();
}

const TypeInfo& evenkeel_leaf_info(Json**, FieldLookup) {
  static constexpr TypeInfo info{.kind = TypeKind::json};
  return info;
}

}  // namespace v0
}  // namespace evenkeel
