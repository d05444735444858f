// SPDX-License-Identifier: Apache-2.0
// CertificateSigningRequests: the rules of their writes. Other kinds pass all of these functions.
// Source: kubernetes pkg/registry/certificates, pkg/apis/certificates/validation,
// plugin/pkg/admission/certificates.
#pragma once

#include <string_view>

#include <evenkeel/api/json.hpp>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Names the user of the call as the requester of a new object.
void set_requester(const Call& call, Json& object);

/// Restores what a write to the object or to this subresource must not change.
void keep_certificate_parts(const ResourceType& type, Json& object, const Json& live,
                            std::string_view subresource);
/// Sets the times that conditions lack.
void stamp_conditions(const Call& call, Json& object, const Json& live);

/// Returns the errors that schemas cannot express. `live` is null on a create.
FieldErrors check_certificate_request(const ResourceType& type, const Json& object, const Json& live,
                                      std::string_view subresource);

/// Checks the rights to approve and to sign, and the subject of a new request. Throws StatusError (403).
void admit_certificate_request(const Call& call, const Json& object, const Json& live,
                               std::string_view subresource);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
