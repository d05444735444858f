// SPDX-License-Identifier: Apache-2.0
// Filling in what a user left out: `default` of CRD schemas and of the built-in OpenAPI.
#pragma once

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Sets absent members to their defaults, top down, also inside the values just set; for custom kinds also
/// replaces a null whose schema is not nullable and has a default. Built-in kinds: the API defaults that Go
/// code of Kubernetes sets per kind (builtin_defaults.cpp) come on top.
/// Idempotent.
void apply_defaults(Json& object, const KindSchema& kind);

/// The same for one value of a schema, without rules of the kind.
void apply_schema_defaults(Json& value, const Schema& schema);

/// Kind by kind what Kubernetes' SetDefaults_* functions do. Called by apply_defaults().
void apply_builtin_defaults(Json& object, const KindSchema& kind);

/// The value a Go struct of this type has before anything is decoded into it, as JSON:
/// Deployment -> {"metadata": {}, "spec": {"selector": null, "template": {...}}, "status": {}}.
Json zero_value(const Schema& schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
