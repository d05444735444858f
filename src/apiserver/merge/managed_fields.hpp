// SPDX-License-Identifier: Apache-2.0
// metadata.managedFields: records the owner of each field on creates, updates and patches, and implements
// server-side apply with it.
#pragma once

#include <memory>
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

class OtherVersions;

/// The manager of a write.
struct WriteContext {
  std::string manager = {};      ///< fieldManager, or default_manager() of the User-Agent.
  std::string subresource = {};  ///< "" or "status".
  std::string now = {};          ///< Value of `time`: RFC 3339 in whole seconds.
  /// Converts the object for the managers of other versions; null: its versions do not differ.
  std::shared_ptr<OtherVersions> others = {};
};

/// Returns the manager's name for a request that specifies none: the User-Agent up to the first "/", at most
/// 128 characters, "unknown" if empty.
std::string default_manager(std::string_view user_agent);

/// Create, update, and every patch except apply: sets object.metadata.managedFields from the differences to
/// `live` (null on create). The client's managedFields are used as a starting point, as in the real server
/// (an empty list [{}] resets; absent or invalid ones keep the live ones). The entry's time changes only if
/// its fields did. `object` must be defaulted, pruned and canonical. As in a real server, a failed conversion
/// for the managers of another version leaves no managers.
void track_update(const Json& live, Json& object, const KindSchema& kind, const WriteContext& context);

/// Call before storing an update: if `object` differs from `live` only in times of managedFields, it gets the
/// times of `live`, so that a comparison shows that there is nothing to write.
void ignore_time_only_changes(const Json& live, Json& object);

/// Records that an update through the scale subresource changed `replicas_path` (".spec.replicas") of
/// `object`. `before` = the live object; sets object.metadata.managedFields.
void track_scale(const Json& before, Json& object, const KindSchema& kind, std::string_view replicas_path,
                 const WriteContext& context);

/// Returns the managedFields of the Scale of an object: those of the owners of its replicas.
Json scale_managers(const Json& object, std::string_view replicas_path);
/// Makes those of a Scale, after an apply to it, the owners of the replicas of `object`.
/// Source: apimachinery pkg/util/managedfields/scalehandler.go.
void take_scale_managers(Json& object, const KindSchema& kind, std::string_view replicas_path,
                         const Json& scale_managers);

/// A field that another manager owns: a cause of a 409.
struct ApplyConflict {
  std::string message = {};  ///< conflict with "m1" using v1
  std::string field = {};    ///< ".data.k"
};

/// The result of apply(). With conflicts no other member is set.
struct ApplyResult {
  std::vector<ApplyConflict> conflicts = {};
  /// The object to default, validate and store, with complete managedFields. Equal to `live` if nothing
  /// changed, so that a comparison shows that there is nothing to write.
  Json object = {};
};

/// Returns "Apply failed with 1 conflict: conflict with \"m1\": .data.k", and for several, one line per
/// manager.
std::string describe(const std::vector<ApplyConflict>& conflicts);
/// Returns the causes of the Status: reason FieldManagerConflict.
Json causes(const std::vector<ApplyConflict>& conflicts);

/// An invalid applied configuration; what() is the server's text for a 400 or (typed errors) 500.
class ApplyError : public Error {
 public:
  explicit ApplyError(const std::string& message, int code = 400) : Error(message), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

enum class Force : bool { no, yes };

/// Applies `applied` (as sent by the client: apiVersion, kind, metadata.name and the fields that it
/// specifies) to `live` (null: creates). Throws ApplyError, e.g. "metadata.managedFields must be nil".
ApplyResult apply(const Json& live, const Json& applied, const KindSchema& kind, const WriteContext& context,
                  Force force);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
