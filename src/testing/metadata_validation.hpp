// SPDX-License-Identifier: Apache-2.0
// Checks of metadata that hold for every kind. Source: apimachinery pkg/api/validation/objectmeta.go.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "testing/resource_type.hpp"

namespace evenkeel::inline v0::testing {

/// What is wrong with the metadata of an object that is to be created.
/// A finalizer of a built-in kind: a standard one, or with a domain.
void check_finalizer_name(const std::string& name, const std::string& path, FieldErrors& errors);

FieldErrors check_new_metadata(const Json& metadata, const ResourceType& type);

/// What is wrong with labels, annotations, owners and finalizers, wherever the metadata stands.
FieldErrors check_metadata_parts(const Json& metadata);

/// What is wrong with metadata that is to replace `old`.
FieldErrors check_metadata_update(const Json& metadata, const Json& old);

/// Warnings for finalizers of `metadata` that are not in `old` and could collide with those of others.
std::vector<std::string> finalizer_warnings(const Json& metadata, const Json& old);

}  // namespace evenkeel::inline v0::testing
