// SPDX-License-Identifier: Apache-2.0
// Validation of a webhook's clientConfig, of admission and of conversion.
// Source: apiserver pkg/util/webhook/validation.go.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Adds the errors in url or service of a clientConfig, of which one must be set.
void check_webhook_client(const Json& client, const std::string& path, std::vector<FieldError>& errors);

/// Returns the problem of a caBundle (base64); empty if there is none, and for an empty bundle.
std::string ca_bundle_problem(const Json& bundle);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
