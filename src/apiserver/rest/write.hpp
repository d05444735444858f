// SPDX-License-Identifier: Apache-2.0
// Storing what a create, an update or a patch made, under all the rules that hold for writes.
#pragma once

#include <optional>
#include <string_view>

#include "apiserver/rest/write_options.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct WriteOutcome {
  StoredPtr stored =
      {};  ///< Null if nothing is stored any more or nothing was (dry run); then `document` is set.
  Json document = {};
};

/// Whether the fields of a write are yet to be told from the live object, or are in managedFields already.
enum class Tracking : bool { needed, done };

/// Creates `object`, which has been shaped. Throws StatusError.
WriteOutcome create_object(Storage& storage, Call& call, Json object, const WriteOptions& options,
                           Tracking tracking);

/// Replaces `live` by `object`, which has been shaped. A uid in `uid_precondition` must be that of `live`.
WriteOutcome update_object(Storage& storage, Call& call, const StoredPtr& live, Json object,
                           const WriteOptions& options, std::string_view subresource, Tracking tracking);

/// 400 unless the object's name and namespace are those of the path.
void check_name(const Call& call, const Json& object);
/// The same of its namespace, as creates and patches word it.
void check_namespace(const Call& call, const Json& object);
/// PUT only: a uid in the body must be that of the stored object.
void check_uid(const Call& call, const Json& object, const Stored& live);

http::Response write_response(const Call& call, int status, const WriteOutcome& outcome);

/// Stores `object`, a change of `live` that a controller of the control plane makes, in its name
/// (kube-controller-manager); no checks. Nothing is stored if nothing changes.
void store_as_controller(Storage& storage, const ResourceType& type, const Json& live, Json object,
                         std::string_view subresource, WallTime now);

/// Returns the stored object of the path. Throws StatusError (404).
StoredPtr require_object(Storage& storage, const Call& call);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
