// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/api/patch.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

const Json nothing;
const Json empty_object = Json::object();

/// Type information for the current position of the walk; all unknown without a type.
struct Shape {
  const TypeInfo* type = nullptr;
  const Attributes* attributes = nullptr;  // of the field that contains it
  bool is_field = false;                   // a field of a record, not an entry of a map or list

  Shape bare() const {
    Shape out = *this;
    while (out.type != nullptr && out.type->kind == TypeKind::optional) out.type = &out.type->item();
    return out;
  }
  Shape member(std::string_view name) const {
    const Shape here = bare();
    if (here.type == nullptr) return {};
    if (here.type->kind == TypeKind::map) return {&here.type->item()};
    const Field* field = here.type->kind == TypeKind::record ? here.type->find(name) : nullptr;
    return field ? Shape{&field->type(), field->attributes, true} : Shape{};
  }
  Shape item() const {
    const Shape here = bare();
    if (here.type == nullptr || here.type->kind != TypeKind::list) return {};
    return {&here.type->item()};
  }
  /// Returns true for a non-optional struct, which always exists, whether it is written or not.
  bool is_plain_record() const { return is_field && type != nullptr && type->kind == TypeKind::record; }
  std::span<const std::string_view> keys() const {
    static constexpr std::string_view by_name[] = {"name"};
    if (attributes != nullptr && attributes->key_count > 0)
      return {attributes->keys.data(), attributes->key_count};
    return by_name;
  }
};

Json carry(const Shape& shape, const Json& raw, const Json& before, const Json& after);

void carry_member(const Shape& shape, std::string_view name, Json::Object& out, const Json* before,
                  const Json* after) {
  const Shape here = shape.member(name);
  const bool plain = here.is_plain_record();
  const bool was_written = after != nullptr;
  if (plain && before == nullptr) before = &empty_object;
  if (plain && after == nullptr) after = &empty_object;
  if (after == nullptr) {
    out.erase(name);
    return;
  }
  if (before != nullptr && *before == *after) return;
  const Json* raw = out.find(name);
  Json carried = carry(here, raw ? *raw : nothing, before ? *before : nothing, *after);
  if (!was_written && carried.empty()) {
    out.erase(name);
  } else {
    out[name] = std::move(carried);
  }
}

Json carry_object(const Shape& shape, const Json& raw, const Json& before, const Json& after) {
  Json::Object out = raw.is_object() ? raw.as_object() : Json::Object();
  if (before.is_object()) {
    for (const auto& [name, value] : before.as_object()) {
      if (!after.contains(name)) carry_member(shape, name, out, &value, nullptr);
    }
  }
  for (const auto& [name, value] : after.as_object())
    carry_member(shape, name, out, before.find(name), &value);
  return Json(std::move(out));
}

bool has_keys(const Json& item, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (item[key].is_null()) return false;
  }
  return item.is_object();
}

/// Keys that are absent in both count as equal: Kubernetes defaults some of them (a port's protocol).
bool same_keys(const Json& a, const Json& b, std::span<const std::string_view> keys) {
  bool any = false;
  for (const std::string_view key : keys) {
    if (a[key] != b[key]) return false;
    any |= !a[key].is_null();
  }
  return any;
}

/// Maps each item of a list after the change to the matching item before it.
class Matcher {
 public:
  Matcher(const Json::Array& before, const Json::Array& after, std::span<const std::string_view> keys)
      : before_(before), after_(after), keys_(keys), taken_(before.size()), match_(after.size()) {}

  std::vector<std::optional<std::size_t>> run() {
    in_place([](const Json& a, const Json& b) { return a == b; });
    anywhere([](const Json& a, const Json& b) { return a == b; });
    anywhere([this](const Json& a, const Json& b) {
      return a.is_object() && b.is_object() && same_keys(a, b, keys_);
    });
    in_place([this](const Json& a, const Json& b) {
      if (a.is_array()) return b.is_array();
      return a.is_object() && b.is_object() && !has_keys(a, keys_) && !has_keys(b, keys_);
    });
    return std::move(match_);
  }

 private:
  void in_place(auto&& equal) {
    for (std::size_t i = 0; i < before_.size() && i < after_.size(); ++i) {
      if (!match_[i] && !taken_[i] && equal(before_[i], after_[i])) take(i, i);
    }
  }
  void anywhere(auto&& equal) {
    for (std::size_t to = 0; to < after_.size(); ++to) {
      for (std::size_t from = 0; from < before_.size() && !match_[to]; ++from) {
        if (!taken_[from] && equal(before_[from], after_[to])) take(from, to);
      }
    }
  }
  void take(std::size_t from, std::size_t to) {
    taken_[from] = true;
    match_[to] = from;
  }

  const Json::Array& before_;
  const Json::Array& after_;
  std::span<const std::string_view> keys_;
  std::vector<bool> taken_;
  std::vector<std::optional<std::size_t>> match_;
};

Json carry_array(const Shape& shape, const Json& raw, const Json& before, const Json& after) {
  // Decoding makes one item of each item in the list; any other length cannot be matched.
  if (!raw.is_array() || !before.is_array() || raw.size() != before.size()) return after;
  const Json::Array& wanted = after.as_array();
  const auto match = Matcher(before.as_array(), wanted, shape.keys()).run();
  const Shape item = shape.item();
  Json::Array out;
  out.reserve(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!match[i]) {
      out.push_back(wanted[i]);
    } else {
      out.push_back(carry(item, raw[*match[i]], before[*match[i]], wanted[i]));
    }
  }
  return Json(std::move(out));
}

Json carry(const Shape& shape, const Json& raw, const Json& before, const Json& after) {
  if (before == after && !raw.is_null()) return raw;
  if (after.is_object()) return carry_object(shape, raw, before, after);
  if (after.is_array()) return carry_array(shape, raw, before, after);
  return after;
}

}  // namespace

Json overlay(const Json& raw, const Json& before, const Json& after) {
  return carry({}, raw, before, after);
}

Json overlay(const TypeInfo& type, const Json& raw, const Json& before, const Json& after) {
  return carry({&type}, raw, before, after);
}

}  // namespace v0
}  // namespace evenkeel
