// SPDX-License-Identifier: Apache-2.0
// The changes that kube-apiserver's default admission plugins make to objects, and what they refuse. The
// fields have no owner.
#pragma once

#include <string_view>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Completes a new object of a built-in kind; custom ones are not changed. Throws StatusError (403).
/// Source: kubernetes plugin/pkg/admission: priority, defaulttolerationseconds, nodetaint,
/// storage/storageobjectinuseprotection.
void admit_new(Storage& storage, Call& call, Json& object);
/// Like admit_new(), for an object that is updated, except through subresources.
void admit_changed(const Call& call, Json& object);

/// Throws StatusError if objects of `type` cannot be created in the namespace.
/// Source: kubernetes plugin/pkg/admission/namespace/lifecycle.
void require_namespace(Storage& storage, std::string_view namespace_, const ResourceType& type,
                       std::string_view name);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
