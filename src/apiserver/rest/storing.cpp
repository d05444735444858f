// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/storing.hpp"

#include <utility>

#include "apiserver/schema/defaults.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

Json stored_form(const ResourceType& type, Json object) {
  if (type.to_storage) object = type.to_storage(std::move(object));
  object.erase("apiVersion");
  object.erase("kind");
  return object;
}

namespace {

bool converts_writes(const ResourceType& type) {
  return type.hook && type.version != type.storage_version;
}

/// Returns a stored document as it is read back: with the defaults of the stored version.
Json read_back(const ResourceType& type, Json stored) {
  apply_defaults(stored, *type.schemas.at(type.storage_version));
  return stored;
}

}  // namespace

Storing::Storing(Call& call, Json object, bool dry_run) : call_(call), type_(*call.type) {
  if (!converts_writes(type_)) {
    body_ = stored_form(type_, std::move(object));
    return;
  }
  const Json version = std::as_const(object)["metadata"]["resourceVersion"];
  if (!dry_run) object["metadata"].erase("resourceVersion");
  body_ = converted(call, std::move(object), type_.storage_version);
  try {
    shown_ = converted(call, read_back(type_, body_), type_.version);
  } catch (const StatusError& error) {
    failure_ = error;
  }
  body_ = stored_form(type_, std::move(body_));
  if (!version.is_null()) body_["metadata"]["resourceVersion"] = version;
}

bool Storing::changes(const StoredPtr& live) const {
  const bool moves = type_.custom && live->form().version != type_.storage_version;
  return moves || body_ != call_.storage.store.body(live);
}

void Storing::require_way_back() const {
  if (failure_) throw StatusError(*failure_);
}

WriteOutcome Storing::rehearse() && {
  require_way_back();
  if (converts_writes(type_)) return {.stored = nullptr, .document = std::move(shown_)};
  return {.stored = nullptr,
          .document = type_.document({.shape = 0, .version = type_.storage_version}, std::move(body_))};
}

WriteOutcome Storing::put() && {
  StoredForm form = type_.stored_form(body_);
  const StoredPtr stored = call_.storage.store.put(call_.collection(), std::move(body_), std::move(form));
  require_way_back();
  if (!type_.converts(*stored)) return {.stored = stored, .document = {}};
  return {.stored = stored_in(type_, std::move(shown_), stored->version()), .document = {}};
}

void convert_for_storing(Call& call, std::vector<Json> objects, bool dry_run) {
  const ResourceType& type = *call.type;
  if (!converts_writes(type)) return;
  if (!dry_run)
    for (Json& object : objects) object["metadata"].erase("resourceVersion");
  objects = converted(call, std::move(objects), type.storage_version);
  for (Json& object : objects) object = read_back(type, std::move(object));
  try {
    converted(call, std::move(objects), type.version);
  } catch (const StatusError&) {
    // The write that it concerns says so.
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
