// SPDX-License-Identifier: Apache-2.0
// Deleting one object, for whoever asks: marked first where finalizers, dependents or a grace period want it,
// removed otherwise. Source: apiserver pkg/registry/generic/registry/store.go Delete.
#pragma once

#include "apiserver/rest/write_options.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct DeleteOutcome {
  bool removed = false;  ///< Else it is only marked.
  Json body = {};        ///< What it is now, or was last; without apiVersion and kind.
};

/// Throws StatusError (409) unless the object is the one that the options are about.
void check_preconditions(const ResourceType& type, const Stored& object, const DeleteOptions& options);

/// Throws StatusError (409) if a precondition fails.
DeleteOutcome delete_object(Storage& storage, const ResourceType& type, const StoredPtr& object,
                            const DeleteOptions& options, WallTime now);

/// Whether an update leaves nothing that holds a deletion up, so that the object is to be removed instead.
bool is_released(const Json& body, const ResourceType& type);

/// `metadata.finalizers` without `name`.
void remove_finalizer(Json& metadata, std::string_view name);
bool has_finalizer(const Json& metadata, std::string_view name);

inline constexpr std::string_view orphan_finalizer = "orphan";
inline constexpr std::string_view foreground_finalizer = "foregroundDeletion";
inline constexpr std::string_view crd_finalizer = "customresourcecleanup.apiextensions.k8s.io";

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
