// SPDX-License-Identifier: Apache-2.0
// Admission of an object by webhooks without a server.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/webhook/admission.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

struct AdmitOptions {
  AdmissionOperation operation = AdmissionOperation::create;
  Json old_object = {};  ///< The stored object, for updates: to_tree(old).
  AdmissionUser user = {.name = "test"};
  DryRun dry_run = DryRun::no;
  std::string subresource = {};
};

struct Admission {
  bool allowed = true;
  Status status = {};  ///< Error of a denied write.
  std::vector<std::string> warnings = {};
  Json patch = {};   ///< Patch (RFC 6902) that adds the defaults; null: they change nothing.
  Json object = {};  ///< With its defaults; for a deletion, null.

  /// Returns the object as a typed one. Throws DecodeError.
  template <Described T>
  T as() const {
    return from_tree<T>(object);
  }
};

/// Sends `object` through the webhook as the API server does: defaults first, then validation, both as
/// documents that are encoded and decoded. For a deletion, `object` is the one to be deleted. Throws Error if
/// the defaults, called again, change the object again: the API server may do so.
EVENKEEL_API Admission admit(const Webhook& webhook, const Json& object, const AdmitOptions& options = {});
template <ObjectType T>
Admission admit(const Webhook& webhook, const T& object, const AdmitOptions& options = {}) {
  return admit(webhook, to_tree(object), options);
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
