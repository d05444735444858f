// SPDX-License-Identifier: Apache-2.0
// Validation of metadata for all kinds. Source: apimachinery pkg/api/validation/objectmeta.go.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/name_rules.hpp"
#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Adds to `errors` unless `name` is a finalizer that built-in kinds permit: a standard one, or one with a
/// domain.
void check_finalizer_name(const std::string& name, const std::string& path, FieldErrors& errors);

/// The properties of a resource that determine the valid metadata of its objects.
struct MetadataRules {
  NameRule name = NameRule::dns_subdomain;
  bool namespaced = true;
  bool custom = false;
};

/// Returns the errors in the metadata of an object that is to be created.
FieldErrors check_new_metadata(const Json& metadata, const MetadataRules& rules);

/// Returns the errors in labels, annotations, owners and finalizers of any metadata.
FieldErrors check_metadata_parts(const Json& metadata);

/// Returns the errors in metadata that is to replace `old`.
FieldErrors check_metadata_update(const Json& metadata, const Json& old);

/// Returns warnings for finalizers of `metadata` that are not in `old` and could collide with others.
std::vector<std::string> finalizer_warnings(const Json& metadata, const Json& old);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
