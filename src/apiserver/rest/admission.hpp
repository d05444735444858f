// SPDX-License-Identifier: Apache-2.0
// The changes that kube-apiserver's default admission plugins make to objects. The fields have no owner.
#pragma once

#include "apiserver/rest/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Completes a new object of a built-in kind; custom ones are not changed. Throws StatusError (403).
/// Source: kubernetes plugin/pkg/admission: priority, defaulttolerationseconds, nodetaint,
/// storage/storageobjectinuseprotection.
void admit_new(Storage& storage, Call& call, Json& object);
/// Like admit_new(), for an object that is updated, except through subresources.
void admit_changed(const Call& call, Json& object);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
