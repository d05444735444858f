// SPDX-License-Identifier: Apache-2.0
// The last step of a write: the object in the version in which it is stored.
#pragma once

#include <optional>
#include <vector>

#include "apiserver/request/call.hpp"
#include "apiserver/rest/write.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Converts a built-in object to the storage version; removes apiVersion and kind.
Json stored_form(const ResourceType& type, Json object);

/// The result of a write on its way into the store, and back in the version of the request. A real server
/// converts it in both directions; the second may fail after the object was stored.
/// Lifetime: keeps a reference to the call.
class Storing {
 public:
  /// In a dry run the webhook gets the resourceVersion too: only the store of a real server removes it.
  /// Throws WebhookNeeded, and StatusError if there is no stored form.
  Storing(Call& call, Json object, bool dry_run);

  /// Returns the form in which it is stored, with the resourceVersion of the object.
  const Json& body() const { return body_; }
  /// Returns true if it is to be stored in place of `live`: it differs, or moves to a new storage version.
  bool changes(const StoredPtr& live) const;

  /// Returns the outcome of a dry run: the object as it would be read. Throws StatusError.
  /// Source: apiserver registry/generic/registry/dryrun.go copyInto.
  WriteOutcome rehearse() &&;
  /// Throws StatusError if it was stored but cannot be shown.
  WriteOutcome put() &&;
  /// Throws StatusError if the way back into the version of the request failed.
  void require_way_back() const;

 private:
  Call& call_;
  const ResourceType& type_;
  Json body_ = {};
  Json shown_ = {};
  std::optional<StatusError> failure_ = {};
};

/// Lets webhooks convert objects together, so that the Storing of each has nothing left to ask. Throws
/// WebhookNeeded, and StatusError if one has no stored form.
void convert_for_storing(Call& call, std::vector<Json> objects, bool dry_run);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
