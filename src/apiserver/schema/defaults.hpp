// SPDX-License-Identifier: Apache-2.0
// Defaulting: `default` of CRD schemas and of the built-in OpenAPI.
#pragma once

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Sets absent members to their defaults, top down, also inside the values just set; for custom kinds also
/// replaces a null whose schema is not nullable and has a default. For built-in kinds, the defaults that Go
/// code of Kubernetes sets per kind (builtin_defaults.cpp) are applied as well. Idempotent.
void apply_defaults(Json& object, const KindSchema& kind);

/// Applies the defaults of a schema to one value, without rules of the kind.
void apply_schema_defaults(Json& value, const Schema& schema);

/// Applies Kubernetes' SetDefaults_* functions. Called by apply_defaults().
void apply_builtin_defaults(Json& object, const KindSchema& kind);

/// Returns the zero value of the Go struct of this type as JSON: for Deployment {"metadata": {}, "spec":
/// {"selector": null, "template": {...}}, "status": {}}.
Json zero_value(const Schema& schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
