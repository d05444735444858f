// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/versions.hpp"

#include <iterator>
#include <utility>

#include "apiserver/merge/managed_update.hpp"
#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

const KindSchema& schema_of(const std::string& api_version, const KindSchema& kind,
                            const WriteContext& context) {
  if (!context.others || api_version == kind.api_version()) return kind;
  return context.others->schema(api_version);
}

Json in_version_of(const Json& object, const std::string& api_version, const WriteContext& context,
                   const std::string& failure) {
  if (!context.others || object["apiVersion"] == Json(api_version)) return object;
  try {
    return context.others->convert(object, api_version);
  } catch (const StatusError& error) {
    throw StatusError(500, "", failure + error.body()["message"].string_or(""));
  }
}

const Comparison& VersionedChanges::seen_in(const std::string& api_version) {
  if (!context_.others || api_version == kind_.api_version()) return changes_;
  if (const auto known = others_.find(api_version); known != others_.end()) return known->second;
  const Json before = in_version_of(before_, api_version, context_, "failed to convert old object: ");
  const Json after = in_version_of(after_, api_version, context_, "failed to convert new object: ");
  const KindSchema& kind = context_.others->schema(api_version);
  return others_
      .emplace(api_version, without_reset_fields(compare(before, after, kind.root()),
                                                 reset_fields(kind, context_.subresource)))
      .first->second;
}

void VersionedChanges::take_from(Managers& managers, const std::optional<ManagerId>& except) {
  for (auto place = managers.begin(); place != managers.end();) {
    if (except && place->first == *except) {
      ++place;
      continue;
    }
    const Comparison& seen = seen_in(place->second.api_version);
    FieldSet& fields = place->second.fields;
    fields = fields.without(seen.modified.united(seen.added)).without(seen.removed);
    place = fields.empty() ? managers.erase(place) : std::next(place);
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
