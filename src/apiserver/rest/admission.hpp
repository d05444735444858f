// SPDX-License-Identifier: Apache-2.0
// What the admission plugins that a kube-apiserver runs by default add to new objects. Nobody owns it.
#pragma once

#include "apiserver/rest/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Completes a new object of a built-in kind; of custom ones nothing changes. Throws StatusError (403).
/// Source: kubernetes plugin/pkg/admission: priority, defaulttolerationseconds, nodetaint,
/// storage/storageobjectinuseprotection.
void admit_new(Storage& storage, Call& call, Json& object);
/// The same for an object that changes, but for writes to subresources.
void admit_changed(const Call& call, Json& object);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
