// SPDX-License-Identifier: Apache-2.0
// Deletes one object: it is only marked if finalizers, dependents or a grace period require it, and removed
// otherwise.
// Source: apiserver pkg/registry/generic/registry/store.go Delete.
#pragma once

#include <optional>

#include "apiserver/request/write_options.hpp"
#include "apiserver/rest/storing.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct DeleteOutcome {
  bool removed = false;  ///< False: it is only marked.
  Json body = {};        ///< Current or last state, without apiVersion and kind.
};

/// Throws StatusError (409) unless the object meets the preconditions of the options.
void check_preconditions(const ResourceType& type, const Stored& object, const DeleteOptions& options);

/// Throws StatusError (409) if a precondition fails.
DeleteOutcome delete_object(Storage& storage, const ResourceType& type, const StoredPtr& object,
                            const DeleteOptions& options, WallTime now);

/// Sets what the deletion of a custom object leaves in its document. Returns false if nothing holds the
/// object: it is to be removed at once.
bool mark_custom(const ResourceType& type, Json& document, const DeleteOptions& options, WallTime now);

/// The deletion of a custom object by a request, in the version of the request: as any write, it converts the
/// object to the stored version and back.
/// Lifetime: keeps references to the call and the options.
class CustomDeletion {
 public:
  /// `shown` is the object in the version of the call. Throws WebhookNeeded, and StatusError if a
  /// precondition fails or there is no stored form.
  CustomDeletion(Call& call, StoredPtr object, Json shown, const DeleteOptions& options);

  /// Returns the marked object; std::nullopt: it was removed. Throws StatusError if that was done but cannot
  /// be shown.
  std::optional<WriteOutcome> run() &&;

 private:
  Call& call_;
  const StoredPtr object_;
  Json document_;
  const DeleteOptions& options_;
  bool held_ = false;
  std::optional<Storing> storing_ = {};
};

/// Returns true if after an update nothing blocks a deletion any more, so that the object is to be removed.
bool is_released(const Json& body, const ResourceType& type);

/// Removes `name` from `metadata.finalizers`.
void remove_finalizer(Json& metadata, std::string_view name);
bool has_finalizer(const Json& metadata, std::string_view name);

inline constexpr std::string_view orphan_finalizer = "orphan";
inline constexpr std::string_view foreground_finalizer = "foregroundDeletion";
inline constexpr std::string_view crd_finalizer = "customresourcecleanup.apiextensions.k8s.io";

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
