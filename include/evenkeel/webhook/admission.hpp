// SPDX-License-Identifier: Apache-2.0
// A write that the API server submits to a webhook, and the AdmissionReview document that carries it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {

enum class AdmissionOperation : std::uint8_t { create, update, remove, connect };
/// "CREATE", "UPDATE", "DELETE" or "CONNECT".
EVENKEEL_API std::string_view operation_name(AdmissionOperation operation) noexcept;

/// A write is carried out, or only tried (`--dry-run=server`): then a webhook must have no side effects.
enum class DryRun : std::uint8_t { no, yes };

/// The author of a write, as the API server authenticated it.
struct AdmissionUser {
  std::string name = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  bool in_group(std::string_view group) const;
  bool operator==(const AdmissionUser&) const = default;
};

/// One write. Objects that the operation does not have are null: `old_object` of a creation, `object` of a
/// deletion.
struct AdmissionRequest {
  std::string uid = {};
  /// Kind of `object`, in the version for which the webhook is registered. Its scope is not part of the
  /// document: Scope::cluster if `namespace_` is empty.
  ResourceId resource = {};
  std::string subresource = {};  ///< "status", "scale"; empty: the object itself.
  std::string name = {};         ///< Empty for a creation with generateName.
  std::string namespace_ = {};
  AdmissionOperation operation = AdmissionOperation::create;
  AdmissionUser user = {};
  DryRun dry_run = DryRun::no;
  Json object = {};
  Json old_object = {};
  Json options = {};  ///< The CreateOptions, UpdateOptions or DeleteOptions of the call.

  ObjectKey key() const { return {namespace_, name}; }
  /// Returns "Website default/web", for messages.
  std::string what() const;
};

/// Reads the request of an AdmissionReview of admission.k8s.io/v1. Throws DecodeError that names the document
/// and the field.
EVENKEEL_API AdmissionRequest read_admission_review(const Json& review);

/// Returns the AdmissionReview that carries `request`, as the API server sends it.
EVENKEEL_API Json admission_review(const AdmissionRequest& request);

}  // namespace v0
}  // namespace evenkeel
