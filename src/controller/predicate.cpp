// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/controller/predicate.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

bool is_update(const ObjectEvent& event) {
  return event.type == EventType::updated && event.old != nullptr;
}

// Servers sort both, but this is not guaranteed.
template <class Range>
bool same_pairs(const Range& left, const Range& right) {
  if (left.size() != right.size()) return false;
  const auto sorted = [](const Range& range) {
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    pairs.reserve(range.size());
    for (const auto& pair : range) pairs.push_back(pair);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  };
  return sorted(left) == sorted(right);
}

}  // namespace

bool detail::begins_deletion(const ObjectEvent& event) {
  if (event.type == EventType::deleted || event.resync || !event.object->is_being_deleted()) return false;
  return event.old == nullptr || !event.old->is_being_deleted() || event.old->uid() != event.object->uid();
}

bool detail::is_change(const ObjectEvent& event) {
  return is_update(event) && event.old->uid() == event.object->uid() &&
         event.old->is_being_deleted() == event.object->is_being_deleted();
}

Predicate operator&&(Predicate left, Predicate right) {
  if (!left.decide_) return right;
  if (!right.decide_) return left;
  return [left = std::move(left), right = std::move(right)](const ObjectEvent& event) {
    return left(event) && right(event);
  };
}

Predicate operator||(Predicate left, Predicate right) {
  return [left = std::move(left), right = std::move(right)](const ObjectEvent& event) {
    return left(event) || right(event);
  };
}

Predicate operator!(Predicate inner) {
  return [inner = std::move(inner)](const ObjectEvent& event) { return !inner(event); };
}

Predicate generation_changed() {
  return [](const ObjectEvent& event) {
    if (!detail::is_change(event)) return true;
    const WireObject& now = *event.object;
    const WireObject& before = *event.old;
    if (now.generation() == 0 && before.generation() == 0)
      return now.resource_version() != before.resource_version();
    return now.generation() != before.generation();
  };
}

Predicate labels_changed() {
  return [](const ObjectEvent& event) {
    return !detail::is_change(event) || !same_pairs(event.object->labels(), event.old->labels());
  };
}

Predicate annotations_changed() {
  return [](const ObjectEvent& event) {
    return !detail::is_change(event) || !same_pairs(event.object->annotations(), event.old->annotations());
  };
}

Predicate resource_version_changed() {
  return [](const ObjectEvent& event) {
    return !is_update(event) || event.object->resource_version() != event.old->resource_version();
  };
}

Predicate matches_labels(std::string_view selector) {
  const auto matches = [selector = LabelSelector::parse(selector)](const WireObject& object) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : object.labels()) labels.emplace(name, value);
    return selector.matches(labels);
  };
  return [matches](const ObjectEvent& event) {
    return matches(*event.object) || (is_update(event) && matches(*event.old));
  };
}

Predicate events_of(std::initializer_list<EventType> types) {
  return [types = std::vector<EventType>(types)](const ObjectEvent& event) {
    return std::find(types.begin(), types.end(), event.type) != types.end();
  };
}

}  // namespace v0
}  // namespace evenkeel
