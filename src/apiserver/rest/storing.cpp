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

Storing::Storing(Call& call, Json object) : call_(call), type_(*call.type) {
  if (!type_.hook || type_.version == type_.storage_version) {
    body_ = stored_form(type_, std::move(object));
    return;
  }
  const Json version = std::as_const(object)["metadata"]["resourceVersion"];
  object["metadata"].erase("resourceVersion");
  body_ = converted(call, std::move(object), type_.storage_version);
  try {
    // It is read back, with the defaults of the stored version.
    Json read = body_;
    apply_defaults(read, *type_.schemas.at(type_.storage_version));
    shown_ = converted(call, std::move(read), type_.version);
  } catch (const StatusError& error) {
    failure_ = error;
  }
  body_ = stored_form(type_, std::move(body_));
  if (!version.is_null()) body_["metadata"]["resourceVersion"] = version;
}

WriteOutcome Storing::rehearse(Json object) && {
  if (failure_) throw StatusError(*failure_);
  return {.stored = nullptr, .document = std::move(object)};
}

WriteOutcome Storing::put() && {
  const StoredPtr stored = call_.storage.store.put(call_.collection(), std::move(body_), type_.stored_form());
  if (failure_) throw StatusError(*failure_);
  if (!type_.converts(*stored)) return {.stored = stored, .document = {}};
  return {.stored = stored_in(type_, std::move(shown_), stored->version()), .document = {}};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
