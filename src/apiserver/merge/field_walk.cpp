// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/field_walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Returns the key of an item of a set or map list, or throws with the reason why it has none.
PathElement key_element(const Json& item, const Schema& list) {
  if (item.is_null()) throw std::invalid_argument("associative list with keys may not have a null element");
  if (!item.is_object())
    throw std::invalid_argument("associative list with keys may not have non-map elements");
  Json keys = Json::object();
  for (const std::string& name : list.list_keys) {
    const Schema* schema = list.items == nullptr ? nullptr : list.items->property(name);
    if (const Json* value = item.find(name))
      keys[name] = *value;
    else if (schema != nullptr && schema->default_value && !schema->default_value->is_null())
      keys[name] = *schema->default_value;
  }
  if (keys.empty()) {
    std::string names;
    for (const std::string& name : list.list_keys) names += (names.empty() ? "\"" : " \"") + name + "\"";
    throw std::invalid_argument("associative list with keys has an element that omits all key fields [" +
                                names + "] (and doesn't have default values for any key fields)");
  }
  return PathElement::key(keys);
}

PathElement set_element(const Json& item) {
  if (item.is_object())
    throw std::invalid_argument("associative list without keys has an element that's a map type");
  if (item.is_array()) throw std::invalid_argument("not supported: associative list with lists as elements");
  if (item.is_null())
    throw std::invalid_argument("associative list without keys has an element that's an explicit null");
  return PathElement::value(item);
}

class Collector {
 public:
  void visit(const Json& value, const Schema* schema) {
    switch (form_of(schema, &value, nullptr)) {
      case FieldForm::leaf:
        set.insert(path_);
        break;
      case FieldForm::items:
        if (schema != nullptr && value.is_array()) visit_items(value.as_array(), *schema);
        break;
      case FieldForm::fields:
        if (value.is_object()) visit_fields(value.as_object(), schema);
        break;
    }
  }

  FieldSet set;

 private:
  void visit_fields(const Json::Object& object, const Schema* schema) {
    for (const auto& [name, value] : object) {
      path_.push_back(PathElement::field(name));
      visit(value, schema == nullptr ? nullptr : schema->member(name));
      const bool named = schema != nullptr && schema->property(name) != nullptr;
      if (!named || value.is_null() || (value.is_object() && value.empty())) set.insert(path_);
      path_.pop_back();
    }
  }

  void visit_items(const Json::Array& items, const Schema& schema) {
    std::map<PathElement, int> seen;
    for (std::size_t i = 0; i < items.size(); ++i) ++seen[item_element(items[i], i, schema)];
    for (std::size_t i = 0; i < items.size(); ++i) {
      path_.push_back(item_element(items[i], i, schema));
      if (seen[path_.back()] == 1) visit(items[i], schema.items);
      set.insert(path_);
      path_.pop_back();
    }
  }

  FieldPath path_;
};

class Comparer {
 public:
  void visit(const Json* before, const Json* after, const Schema* schema) {
    const FieldForm form = form_of(schema, after, before);
    if (form == FieldForm::leaf || (is_empty(before) && is_empty(after))) {
      if (before == nullptr)
        result.added.insert(path_);
      else if (after == nullptr)
        result.removed.insert(path_);
      else if (*before != *after)
        replace(*before, *after, schema);
      return;
    }
    if (form == FieldForm::items)
      visit_items(before, after, *schema);
    else
      visit_fields(before, after, schema);
    if (before == nullptr) result.added.insert(path_);
    if (after == nullptr) result.removed.insert(path_);
  }

  Comparison result;

 private:
  /// The leaf changed. Fields of an untyped map that a value of another type replaces are removed; those of a
  /// map that replaces such a value are added.
  void replace(const Json& before, const Json& after, const Schema* schema) {
    result.modified.insert(path_);
    if (schema != nullptr && schema->type != SchemaType::any) return;
    if (before.is_object() == after.is_object()) return;
    visit_fields(&before, nullptr, schema);
    visit_fields(nullptr, &after, schema);
  }

  void visit_fields(const Json* before, const Json* after, const Schema* schema) {
    std::map<std::string_view, std::pair<const Json*, const Json*>> fields;
    if (before != nullptr && before->is_object()) {
      for (const auto& [name, value] : before->as_object()) fields[name].first = &value;
    }
    if (after != nullptr && after->is_object()) {
      for (const auto& [name, value] : after->as_object()) fields[name].second = &value;
    }
    for (const auto& [name, values] : fields) {
      path_.push_back(PathElement::field(name));
      visit(values.first, values.second, schema == nullptr ? nullptr : schema->member(name));
      path_.pop_back();
    }
  }

  using Items = std::vector<const Json*>;
  static void index(const Json* list, const Schema& schema,
                    std::map<PathElement, std::pair<Items, Items>>& out,
                    Items std::pair<Items, Items>::*side) {
    if (list == nullptr || !list->is_array()) return;
    const Json::Array& items = list->as_array();
    for (std::size_t i = 0; i < items.size(); ++i)
      (out[item_element(items[i], i, schema)].*side).push_back(&items[i]);
  }

  void visit_items(const Json* before, const Json* after, const Schema& schema) {
    std::map<PathElement, std::pair<Items, Items>> items;
    index(before, schema, items, &std::pair<Items, Items>::first);
    index(after, schema, items, &std::pair<Items, Items>::second);
    for (const auto& [element, sides] : items) {
      path_.push_back(element);
      visit_item(sides.first, sides.second, schema.items);
      path_.pop_back();
    }
  }

  /// Compares duplicate items as a whole.
  void visit_item(const Items& before, const Items& after, const Schema* schema) {
    if (before.size() <= 1 && after.size() <= 1) {
      visit(before.empty() ? nullptr : before[0], after.empty() ? nullptr : after[0], schema);
    } else if (before.size() >= 2 && after.size() >= 2) {
      const auto same = [](const Json* one, const Json* other) { return *one == *other; };
      if (!std::equal(before.begin(), before.end(), after.begin(), after.end(), same))
        result.modified.insert(path_);
    } else if (before.size() >= 2) {
      if (!after.empty()) visit(nullptr, after[0], schema);
      result.removed.insert(path_);
    } else {
      if (!before.empty()) visit(before[0], nullptr, schema);
      result.added.insert(path_);
    }
  }

  FieldPath path_;
};

}  // namespace

PathElement item_element(const Json& item, std::size_t index, const Schema& list) {
  if (list.list_type == ListType::atomic) return PathElement::index(index);
  return list.list_type == ListType::map ? key_element(item, list) : set_element(item);
}

FieldSet fields_of(const Json& object, const Schema& schema) {
  Collector collector;
  collector.visit(object, &schema);
  return std::move(collector.set);
}

Comparison compare(const Json& before, const Json& after, const Schema& schema) {
  Comparer comparer;
  comparer.visit(&before, &after, &schema);
  return std::move(comparer.result);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
