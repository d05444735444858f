// SPDX-License-Identifier: Apache-2.0
// Common parts of both versions of the OpenAPI document: the served kinds and their operations.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// One resource in an OpenAPI document.
struct OpenApiResource {
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  std::string plural = {};
  bool namespaced = false;
  bool status = false;
  bool scale = false;
  std::vector<std::string> verbs = {};
  std::string type = {};       ///< Name of the schema of an object.
  std::string list_type = {};  ///< Name of the schema of a list, empty if there is none.
};

/// The form of parameters, bodies and references in a version of OpenAPI.
struct OpenApiForm {
  std::function<Json(std::string_view name, std::string_view in, std::string_view type)> parameter = {};
  /// Adds the response (and for `body` also the request body) of a type to an operation.
  std::function<void(Json& operation, const std::string& type, bool body)> content = {};
  std::string_view prefix = {};  ///< Prefix of references to types: "#/definitions/".
  bool references_have_siblings = false;
};

/// Returns the resources of one group version: built-in ones, then custom ones.
std::vector<OpenApiResource> openapi_resources(BuiltinData& data, std::string_view group,
                                               std::string_view version, std::span<const CustomKind> custom);
/// Adds the paths of a resource with their operations.
void add_openapi_paths(Json& paths, const OpenApiResource& resource, const OpenApiForm& form);

/// Converts "conformance.example.com", "v1", "Widget" to "com.example.conformance.v1.Widget".
std::string openapi_type_name(std::string_view group, std::string_view version, std::string_view kind);
/// Adds the names of all built-in types that `type` refers to, directly or not, and its own name.
void add_openapi_types(BuiltinData& data, std::string_view type, std::set<std::string, std::less<>>& names);

/// Completes the schema of a custom kind with apiVersion, kind and metadata, its own and those of embedded
/// resources, and adds the schema of its list.
void add_openapi_kind(Json& schemas, const CustomKind& kind, Json schema, const OpenApiForm& form);

constexpr std::string_view openapi_object_meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view openapi_scale = "io.k8s.api.autoscaling.v1.Scale";
constexpr std::string_view openapi_list_meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
