// SPDX-License-Identifier: Apache-2.0
// Stores the result of a create, an update or a patch, with all rules for writes.
#pragma once

#include <optional>
#include <string_view>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/request/write_options.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct WriteOutcome {
  StoredPtr stored = {};  ///< Null if the object was removed or not stored (dry run); then `document` is set.
  Json document = {};
};

/// Returns what managers of fields need to know of a write.
WriteContext write_context(const Call& call, const WriteOptions& options, std::string_view subresource);

/// needed: the ownership of fields is derived from the live object; done: managedFields are complete.
enum class Tracking : bool { needed, done };

/// Creates `object`, which must be in canonical form. Throws StatusError.
WriteOutcome create_object(Storage& storage, Call& call, Json object, const WriteOptions& options,
                           Tracking tracking);

/// Replaces `live` by `object`, which must be in canonical form. A uid in `uid_precondition` must be that of
/// `live`.
WriteOutcome update_object(Storage& storage, Call& call, const StoredPtr& live, Json object,
                           const WriteOptions& options, std::string_view subresource, Tracking tracking);

/// Throws a 400 unless the object's name and namespace are those of the path.
void check_name(const Call& call, const Json& object);
/// Checks the object's namespace, with the error text of creates and patches.
void check_namespace(const Call& call, const Json& object);
/// PUT only: a uid in the body must be that of the stored object, which there must be then.
void check_uid(const Call& call, const Json& object, const StoredPtr& live);

http::Response write_response(const Call& call, int status, const WriteOutcome& outcome);

/// Stores `object`, a change of `live` made by a controller of the control plane (kube-controller-manager),
/// without validation. Has no effect if nothing changes.
void store_as_controller(Storage& storage, const ResourceType& type, const Json& live, Json object,
                         std::string_view subresource, WallTime now);

/// Returns the stored object of the path. Throws StatusError (404).
StoredPtr require_object(Storage& storage, const Call& call);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
