// SPDX-License-Identifier: Apache-2.0
#include "controller/own_write.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <string_view>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/base/error.hpp>

#include "client/request/write_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Longer lists are not matched item by item, which takes the product of their lengths.
constexpr std::size_t max_items = 256;

// ---- Places that writes sent. An absent value is null, in states and in what was sent.

// The value that one write sent for a place.
struct Sent {
  SentForm form;
  const Json* value;
};
using SentValues = std::vector<Sent>;  // in the order of the writes

bool is_sent(const Json& before, const Json& after, const SentValues& sent);

bool is_object_or_absent(const Json& value) {
  return value.is_object() || value.is_null();
}

// Returns true for what servers leave out, as they do with defaults.
bool is_empty(const Json& value) {
  return value.kind() == Json::Kind::boolean ? !value.as_bool()
         : value.is_number()                 ? value.as_number() == 0
         : value.is_string()                 ? value.as_string().empty()
                                             : value.empty();
}

bool has_directive(const Json& object) {
  const Json::Object& members = object.as_object();
  return std::any_of(members.begin(), members.end(),
                     [](const Json::Member& member) { return member.name.starts_with('$'); });
}

// Returns the objects that were sent after the last value that is none.
SentValues last_objects(const SentValues& sent) {
  const auto is_object = [](const Sent& one) { return one.value->is_object(); };
  const auto first = std::find_if_not(sent.rbegin(), sent.rend(), is_object).base();
  return SentValues(first, sent.end());
}

SentValues member_of(const SentValues& objects, std::string_view name) {
  SentValues inner;
  for (const Sent& object : objects) {
    if (object.form == SentForm::document || object.value->contains(name))
      inner.push_back({object.form, &(*object.value)[name]});
  }
  return inner;
}

bool are_members_sent(const Json& before, const Json& after, const SentValues& objects) {
  const auto each = [&](const Json& names) {
    if (!names.is_object()) return true;
    const Json::Object& members = names.as_object();
    return std::all_of(members.begin(), members.end(), [&](const Json::Member& member) {
      return is_sent(before[member.name], after[member.name], member_of(objects, member.name));
    });
  };
  return each(after) && each(before);
}

// Returns true if both are items for the same thing, by the members that are keys of lists in Kubernetes.
bool same_item(const Json& left, const Json& right) {
  constexpr std::array<std::string_view, 7> keys = {"name", "key",           "type", "uid",
                                                    "ip",   "containerPort", "port"};
  if (!left.is_object() || !right.is_object()) return left == right;
  for (const std::string_view key : keys) {
    if (left.contains(key) || right.contains(key)) return left[key] == right[key];
  }
  return false;
}

bool are_items_sent(const Json& before, const Json& after, const Sent& sent) {
  if (std::max({before.size(), after.size(), sent.value->size()}) > max_items) return false;
  std::vector<const Json*> left;  // items of `before` without a counterpart in `after`
  if (before.is_array()) {
    for (const Json& item : before.as_array()) left.push_back(&item);
  }
  std::vector<const Json*> changed;
  for (const Json& item : after.as_array()) {
    const auto same = std::find_if(left.begin(), left.end(), [&](const Json* old) { return *old == item; });
    if (same != left.end()) {
      left.erase(same);
    } else {
      changed.push_back(&item);
    }
  }
  for (const Json* item : changed) {
    const auto is_same = [&](const Json* other) { return same_item(*other, *item); };
    const auto& items = sent.value->as_array();
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const Json& other) { return is_same(&other); });
    const auto old = std::find_if(left.begin(), left.end(), is_same);
    if (found == items.end() || !is_sent(old == left.end() ? Json() : **old, *item, {{sent.form, &*found}}))
      return false;
    if (old != left.end()) left.erase(old);
  }
  return left.empty();
}

// Returns true if the values sent for a place explain all of its difference.
bool is_sent(const Json& before, const Json& after, const SentValues& sent) {
  if (before == after) return true;
  if (sent.empty()) return false;
  const Sent& last = sent.back();
  if (last.value->is_object() && is_object_or_absent(before) && is_object_or_absent(after)) {
    if (last.form == SentForm::strategic && has_directive(*last.value)) return false;
    return are_members_sent(before, after, last_objects(sent));
  }
  const bool by_item = last.form == SentForm::apply || last.form == SentForm::strategic;
  if (by_item && last.value->is_array() && after.is_array() && (before.is_array() || before.is_null()))
    return are_items_sent(before, after, last);
  return *last.value == after || (after.is_null() && is_empty(*last.value));
}

// ---- The writes from one version to another

// Returns the writes after `before`, in the order of their versions, or nothing if the last of them does not
// lead to `after`.
LoggedWrites writes_between(const WireObject& before, const WireObject& after, LoggedWrites writes) {
  const std::string_view from = before.resource_version();
  const std::string_view to = after.resource_version();
  if (compare_resource_versions(from, to) == std::strong_ordering::greater) return {};
  std::erase_if(writes, [&](const auto& write) {
    if (write->version == to) return false;
    return compare_resource_versions(from, write->version) != std::strong_ordering::less ||
           compare_resource_versions(write->version, to) != std::strong_ordering::less;
  });
  std::stable_sort(writes.begin(), writes.end(), [](const auto& left, const auto& right) {
    return compare_resource_versions(left->version, right->version) == std::strong_ordering::less;
  });
  if (!writes.empty() && writes.back()->version != to) writes.clear();
  return writes;
}

bool is_linked(const WireObject& before, const WireObject& after, const LoggedWrites& writes) {
  std::string_view reached = before.resource_version();
  for (const auto& write : writes) {
    if (write->base == reached) reached = write->version;
  }
  return reached == after.resource_version();
}

Json state_of(const WireObject& object) {
  return Json::parse(object.expanded().raw(), object.what());
}

Json body_of(const LoggedWrite& write) {
  return Json::parse(write.body, "the body of a write");
}

Json without_versions(Json state) {
  if (Json* metadata = state.find("metadata")) {
    for (const std::string_view name : {"resourceVersion", "generation", "managedFields"})
      metadata->erase(name);
  }
  return state;
}

bool have_sent_all(const Change& change, const LoggedWrites& writes) {
  std::vector<Json> bodies;
  bodies.reserve(writes.size());
  SentValues sent;
  for (const auto& write : writes) {
    if (write->body.empty()) continue;
    bodies.push_back(body_of(*write));
    sent.push_back({write->form, &bodies.back()});
  }
  return is_sent(without_versions(state_of(change.before)), without_versions(state_of(change.after)), sent);
}

// Applies the patches: those of JSON name positions in lists, which say nothing without the list.
bool have_made(const Change& change, const LoggedWrites& patches) {
  Json state = state_of(change.before);
  for (const auto& patch : patches) {
    if (patch->form == SentForm::json) {
      state = apply_json_patch(std::move(state), body_of(*patch));
    } else if (patch->form == SentForm::merge) {
      state = apply_merge_patch(std::move(state), body_of(*patch));
    } else {
      return false;
    }
  }
  return without_versions(std::move(state)) == without_versions(state_of(change.after));
}

/// Returns true if nothing of an object can have changed unseen.
bool has_all(const WireObject& object) {
  return object.form() == WireForm::whole || object.form() == WireForm::compressed;
}

bool is_explained(const Change& change, const LoggedWrites& writes) {
  if (!has_all(change.before) || !has_all(change.after)) return false;
  const bool has_json_patch = std::any_of(writes.begin(), writes.end(),
                                          [](const auto& write) { return write->form == SentForm::json; });
  try {
    return has_json_patch ? have_made(change, writes) : have_sent_all(change, writes);
  } catch (const Error&) {  // unreadable: an attempt too many is better than a missing one
    return false;
  }
}

}  // namespace

bool may_be_own_write(const ObjectEvent& event) {
  if (event.type != EventType::updated || event.old == nullptr) return false;
  const WireObject& before = *event.old;
  const WireObject& after = *event.object;
  return !after.uid().empty() && after.uid() == before.uid() &&
         after.is_being_deleted() == before.is_being_deleted();
}

bool is_own_write(const Change& change, LoggedWrites writes) {
  const auto& [before, after] = change;
  if (!after.resource_version().empty() && after.resource_version() == before.resource_version()) return true;
  writes = writes_between(before, after, std::move(writes));
  if (writes.empty()) return false;
  return is_linked(before, after, writes) || is_explained(change, writes);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
