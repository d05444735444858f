// SPDX-License-Identifier: Apache-2.0
// metadata.managedFields: who set which field, kept for creates, updates and patches, and what server-side
// apply merges, removes and refuses by it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "apiserver/merge/field_set.hpp"
#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Who writes, and how.
struct WriteContext {
  std::string manager =
      {};  ///< fieldManager, or what the User-Agent says before the first "/"; see default_manager().
  std::string subresource = {};  ///< "" or "status".
  std::string now = {};          ///< RFC 3339 in whole seconds, goes into `time`.
};

/// The manager's name when a request names none: the User-Agent up to the first "/", at most 128 characters,
/// "unknown" if empty.
std::string default_manager(std::string_view user_agent);

/// Create, update, and every patch but apply: sets object.metadata.managedFields from what changed against
/// `live` (null on create). What the client sent in managedFields is used as a starting point as the real
/// server does (an empty list [{}] resets; absent or broken keeps the live one). The entry's time moves only
/// if what it owns changed. `object` must be defaulted, pruned and canonical.
void track_update(const Json& live, Json& object, const KindSchema& kind, const WriteContext& context);

/// Call before storing an update: if `object` differs from `live` in nothing but times of managedFields, it
/// gets the times of `live`, so that comparing the two tells that there is nothing to write.
void ignore_time_only_changes(const Json& live, Json& object);

/// A write through the scale subresource changed `replicas_path` (".spec.replicas") of `object`, as an update
/// or an apply. `before` = the live object; sets object.metadata.managedFields.
void track_scale(const Json& before, Json& object, const KindSchema& kind, std::string_view replicas_path,
                 const WriteContext& context, bool applies = false);

/// Fields that other managers own: 409 with one cause each.
struct ApplyConflict {
  std::string message = {};  ///< conflict with "m1" using v1
  std::string field = {};    ///< ".data.k"
};

/// Who else has the replicas that an apply of the scale changes; they are told as of the Scale.
std::vector<ApplyConflict> scale_conflicts(const Json& before, std::string_view replicas_path,
                                           const WriteContext& context);

/// What apply() came to. With conflicts nothing else is set.
struct ApplyResult {
  std::vector<ApplyConflict> conflicts = {};
  /// The object to default, validate and store; its managedFields are complete. Equal to `live` if nothing
  /// changed, so that the caller's comparison tells that nothing is to be written.
  Json object = {};
};

/// "Apply failed with 1 conflict: conflict with \"m1\": .data.k", and for several, one line per manager.
std::string describe(const std::vector<ApplyConflict>& conflicts);
/// Causes of the Status: reason FieldManagerConflict.
Json causes(const std::vector<ApplyConflict>& conflicts);

/// An applied configuration that cannot be used; what() is the server's text for a 400 or (typed errors) 500.
class ApplyError : public Error {
 public:
  explicit ApplyError(const std::string& message, int code = 400) : Error(message), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

enum class Force : bool { no, yes };

/// Server-side apply of `applied` (as the client sent it: apiVersion, kind, metadata.name and the fields it
/// cares about) to `live` (null: creates). Throws ApplyError, e.g. "metadata.managedFields must be nil".
ApplyResult apply(const Json& live, const Json& applied, const KindSchema& kind, const WriteContext& context,
                  Force force);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
