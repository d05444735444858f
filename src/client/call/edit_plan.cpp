// SPDX-License-Identifier: Apache-2.0
#include "client/call/edit_plan.hpp"

#include <algorithm>

#include <evenkeel/api/patch.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

bool has_list(const Json& document) {
  if (document.is_array()) return true;
  if (!document.is_object()) return false;
  const Json::Object& members = document.as_object();
  return std::any_of(members.begin(), members.end(),
                     [](const Json::Member& member) { return has_list(member.value); });
}

/// Returns true if `patch` replaces or removes a list of `raw`, or adds a new one.
bool touches_list(const Json& raw, const Json& patch) {
  if (patch.is_null()) return has_list(raw);
  if (!patch.is_object()) return has_list(patch);
  const Json::Object& members = patch.as_object();
  return std::any_of(members.begin(), members.end(), [&raw](const Json::Member& member) {
    return touches_list(raw[member.name], member.value);
  });
}

/// Adds the members of `wanted` that `target` lacks.
void complete(Json& target, const Json& wanted) {
  if (!target.is_object() || !wanted.is_object()) return;
  for (const auto& [name, value] : wanted.as_object()) {
    if (value.is_null()) continue;
    Json& known = target[name];
    if (known.is_null()) {
      known = value;
    } else {
      complete(known, value);
    }
  }
}

}  // namespace

EditPatch EditPlan::patch_onto(const Json& raw) const {
  Json target = type != nullptr ? overlay(*type, raw, before, after) : overlay(raw, before, after);
  if (const Json& wanted = after[complete_member]; !complete_member.empty() && wanted.is_object()) {
    Json& member = target[complete_member];
    if (member.is_null()) member = Json::object();
    complete(member, wanted);
  }
  Json patch = merge_patch(raw, target);
  if (patch.empty()) return {};
  const bool list = touches_list(raw, patch);
  const auto require_equal = [&](const char* name) {
    const Json& value = before.at({"metadata", name});
    if (!value.string_or("").empty()) patch["metadata"][name] = value;
  };
  require_equal("uid");
  if (list) require_equal("resourceVersion");
  return {std::move(patch), list};
}

std::optional<EditPatch> EditPlan::patch_alone() const {
  EditPatch patch = patch_onto(before);
  if (has_list(patch.body)) return std::nullopt;
  return patch;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
