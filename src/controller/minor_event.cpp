// SPDX-License-Identifier: Apache-2.0
#include "controller/minor_event.hpp"

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/controller/predicate.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Returns the content whose changes increment a generation: all but metadata and status.
Json counted_content(const WireObject& object) {
  Json document = Json::parse(object.raw(), object.what());
  document.erase("metadata");
  document.erase("status");
  return document;
}

bool same_content(const WireObject& before, const WireObject& now) {
  if (!now.resource_version().empty() && now.resource_version() == before.resource_version()) return true;
  if (before.form() != WireForm::whole || now.form() != WireForm::whole) return false;
  try {
    return counted_content(before) == counted_content(now);
  } catch (const Error&) {  // unreadable: an extra attempt is better than a missing one
    return false;
  }
}

bool same_metadata(const ObjectEvent& event) {
  static const Predicate changed = labels_changed() || annotations_changed();
  return !changed(event);
}

}  // namespace

bool is_minor(const ObjectEvent& event) {
  if (event.type != EventType::updated || event.old == nullptr) return false;
  const WireObject& now = *event.object;
  const WireObject& before = *event.old;
  if (now.uid() != before.uid() || now.is_being_deleted() != before.is_being_deleted()) return false;
  if (now.generation() != before.generation() || !same_metadata(event)) return false;
  return now.generation() != 0 || same_content(before, now);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
