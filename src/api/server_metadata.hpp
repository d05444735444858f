// SPDX-License-Identifier: Apache-2.0
// Members of an object's metadata that the server sets. Shared with floors above.
#pragma once

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Erases uid, resourceVersion, generation, creationTimestamp and managedFields. A deletionTimestamp stays:
/// it says that the object is being deleted. Anything but an object stays as it is.
inline void erase_server_metadata(Json& metadata) {
  if (!metadata.is_object()) return;
  for (const char* member : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})
    metadata.erase(member);
}

/// Returns a copy of an object without the members that erase_server_metadata() erases.
inline Json without_server_metadata(Json object) {
  if (object.is_object()) erase_server_metadata(object["metadata"]);
  return object;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
