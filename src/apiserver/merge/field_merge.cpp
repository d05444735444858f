// SPDX-License-Identifier: Apache-2.0
// Merges an applied configuration into an object, and removes owned fields from one.
#include <set>
#include <stdexcept>
#include <utility>

#include "apiserver/merge/field_walk.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

std::optional<Json> merged(const Json* live, const Json* applied, const Schema* schema);

std::optional<Json> merged_fields(const Json* live, const Json* applied, const Schema* schema) {
  std::map<std::string_view, std::pair<const Json*, const Json*>> fields;
  if (live != nullptr && live->is_object()) {
    for (const auto& [name, value] : live->as_object()) fields[name].first = &value;
  }
  if (applied != nullptr && applied->is_object()) {
    for (const auto& [name, value] : applied->as_object()) fields[name].second = &value;
  }
  Json result = Json::object();
  for (const auto& [name, values] : fields) {
    auto value = merged(values.first, values.second, schema == nullptr ? nullptr : schema->member(name));
    if (value) result[name] = *std::move(value);
  }
  if (result.empty()) return std::nullopt;
  return result;
}

/// The items of one list by name. Items of the live list with duplicate names are left unchanged.
class NamedItems {
 public:
  NamedItems(const Json* list, const Schema& schema, bool allow_duplicates) {
    if (list == nullptr || !list->is_array()) return;
    items_ = &list->as_array();
    for (std::size_t i = 0; i < items_->size(); ++i) {
      names.push_back(item_element((*items_)[i], i, schema));
      const auto [place, fresh] = by_name_.emplace(names.back(), &(*items_)[i]);
      if (fresh) continue;
      if (!allow_duplicates)
        throw std::invalid_argument("duplicate entries for key " + names.back().describe());
      place->second = nullptr;
    }
  }
  bool has(const PathElement& name) const { return by_name_.contains(name); }
  /// Returns nullptr if absent or ambiguous.
  const Json* find(const PathElement& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const Json& at(std::size_t index) const { return (*items_)[index]; }
  std::size_t size() const { return names.size(); }

  std::vector<PathElement> names;

 private:
  const Json::Array* items_ = nullptr;
  std::map<PathElement, const Json*> by_name_;
};

/// Merges two keyed lists. Items of both lists have the order of the applied list; other items keep the live
/// order; new items follow the items that precede them in the applied list.
class ListMerge {
 public:
  ListMerge(const Json* live, const Json* applied, const Schema& schema)
      : schema_(schema), live_(live, schema, true), applied_(applied, schema, false) {
    for (const PathElement& name : applied_.names) {
      if (live_.has(name)) shared_.push_back(&name);
    }
  }

  std::optional<Json> run() {
    std::size_t left = 0;
    std::size_t right = 0;
    while (left < live_.size() || right < applied_.size()) step(left, right);
    if (out_.empty()) return std::nullopt;
    return Json(std::move(out_));
  }

 private:
  void step(std::size_t& left, std::size_t& right) {
    if (left < live_.size() && right < applied_.size()) {
      const PathElement& name = live_.names[left];
      if (name == applied_.names[right]) {
        take(live_.find(name), applied_.find(name));
        done_.insert(name);
        ++left, ++right, ++next_shared_;
        return;
      }
      if (applied_.has(name) && next_shared_ < shared_.size() && *shared_[next_shared_] != name) {
        ++left;  // in both lists, but later
        return;
      }
    }
    if (left < live_.size()) {
      const PathElement& name = live_.names[left];
      if (!applied_.has(name)) {
        take(&live_.at(left++), nullptr);
        return;
      }
      if (done_.contains(name)) ++left;
    }
    if (right < applied_.size()) {
      const PathElement& name = applied_.names[right++];
      done_.insert(name);
      take(live_.find(name), applied_.find(name));
      if (next_shared_ < shared_.size() && *shared_[next_shared_] == name) ++next_shared_;
    }
  }

  void take(const Json* live, const Json* applied) {
    if (auto item = merged(live, applied, schema_.items)) out_.push_back(*std::move(item));
  }

  const Schema& schema_;
  NamedItems live_;
  NamedItems applied_;
  std::vector<const PathElement*> shared_;
  std::size_t next_shared_ = 0;
  std::set<PathElement> done_;
  Json::Array out_;
};

std::optional<Json> merged(const Json* live, const Json* applied, const Schema* schema) {
  const FieldForm form = form_of(schema, applied, live);
  if (form == FieldForm::leaf || (is_empty(live) && is_empty(applied))) {
    if (applied != nullptr) return *applied;
    if (live != nullptr) return *live;
    return std::nullopt;
  }
  if (form == FieldForm::fields) return merged_fields(live, applied, schema);
  return ListMerge(live, applied, *schema).run();
}

Json removed(const Json& value, const FieldSet& fields, const Schema* schema);

Json removed_fields(const Json& object, const FieldSet& fields, const Schema* schema) {
  Json result = Json::object();
  for (const auto& [name, value] : object.as_object()) {
    const auto node = fields.children().find(PathElement::field(name));
    if (node == fields.children().end())
      result[name] = value;
    else if (!node->second.member)
      result[name] = removed(value, node->second.below, schema == nullptr ? nullptr : schema->member(name));
  }
  return result.empty() ? Json() : result;
}

Json removed_items(const Json& list, const FieldSet& fields, const Schema& schema) {
  Json result = Json::array();
  const Json::Array& items = list.as_array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto node = fields.children().find(item_element(items[i], i, schema));
    if (node == fields.children().end())
      result.push_back(items[i]);
    else if (!node->second.member)
      result.push_back(removed(items[i], node->second.below, schema.items));
  }
  return result.empty() ? Json() : result;
}

Json removed(const Json& value, const FieldSet& fields, const Schema* schema) {
  if (fields.empty()) return value;
  const FieldForm form = form_of(schema, &value, nullptr);
  if (form == FieldForm::fields && value.is_object()) return removed_fields(value, fields, schema);
  if (form == FieldForm::items && schema != nullptr && value.is_array())
    return removed_items(value, fields, *schema);
  return form == FieldForm::leaf && !value.is_object() && !value.is_array() ? value : Json();
}

}  // namespace

Json merge_by_schema(const Json& live, const Json& applied, const Schema& schema) {
  return merged(&live, &applied, &schema).value_or(Json::object());
}

Json remove_fields(const Json& object, const FieldSet& fields, const Schema& schema) {
  return removed(object, fields, &schema);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
