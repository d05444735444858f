// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions from C++ types: the schema from the table of fields, the rest from constants
// in the type.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel::inline v0 {

/// A column that kubectl get prints: `static constexpr ek::PrinterColumn columns[] = {{.name = "Ready",
/// .type = "integer", .json_path = ".status.readyReplicas"}};` in the type. A column Age is added to
/// those that a type has, unless it has one.
struct PrinterColumn {
  std::string_view name = {};
  std::string_view type = "string";  ///< "string", "integer", "number", "boolean" or "date".
  std::string_view json_path = {};
  std::string_view description = {};
  std::string_view format = {};
  std::int32_t priority = 0;  ///< Greater than 0: only with -o wide.
};

/// The scale subresource: `static constexpr ek::ScaleSubresource scale{...}` in the type. Without it a
/// type that has integers spec.replicas and status.replicas, or else status.readyReplicas, gets one with
/// these paths; `enabled = false` prevents it.
struct ScaleSubresource {
  std::string_view spec_replicas_path = ".spec.replicas";
  std::string_view status_replicas_path = ".status.replicas";
  std::string_view label_selector_path = {};
  bool enabled = true;
};

/// What a type's constants say, collected by crd_for<T>().
struct CrdOptions {
  std::span<const PrinterColumn> columns = {};
  const ScaleSubresource* scale = nullptr;
  std::span<const std::string_view> categories = {};  ///< `static constexpr std::string_view categories[]`
  std::string_view description = {};                  ///< `static constexpr std::string_view description`
  /// `static constexpr std::string_view api_approved`: value of the annotation api-approved.kubernetes.io,
  /// which the API server requires for groups that end in .k8s.io or .kubernetes.io; a URL, or a text that
  /// begins with "unapproved". Empty: "unapproved".
  std::string_view api_approved = {};
};

namespace detail {

// False only if T says installs_crd and its group has no dot.
template <class T>
constexpr bool can_install_crd() {
  if constexpr (requires { typename std::bool_constant<T::resource.installs_crd>; })
    return !T::resource.installs_crd || T::resource.group.find('.') != std::string_view::npos;
  return true;
}

}  // namespace detail

/// The structural OpenAPI schema of a type.
/// - The initialisers of plain members are the defaults, but not below `status`. A plain member whose
///   initialiser its own bounds refuse has no default and is required, as is an empty string that must
///   match a pattern (default_to() and no_default say otherwise); so is a plain struct with a required
///   member.
/// - A type that contains itself is described once; further in, anything is allowed.
EVENKEEL_API Json schema_of(const TypeInfo& type);
template <class T>
Json schema_of() {
  return schema_of(type_info<T>());
}

/// The definition of an object's kind, as apiextensions.k8s.io/v1 wants it: one version, served and
/// stored; subresource status if the type has a member `status`. Throws std::invalid_argument if the
/// type has no group, kind or plural, or a group without a dot, which the API server refuses.
EVENKEEL_API Json crd_for(const TypeInfo& type, const CrdOptions& options);
template <ObjectType T>
Json crd_for() {
  static_assert(detail::can_install_crd<T>(),
                "installs_crd: the API server refuses CustomResourceDefinitions whose group has no dot");
  CrdOptions options;
  if constexpr (requires { T::columns; }) options.columns = T::columns;
  if constexpr (requires { T::scale; }) options.scale = &T::scale;
  if constexpr (requires { T::categories; }) options.categories = T::categories;
  if constexpr (requires { T::description; }) options.description = T::description;
  if constexpr (requires { T::api_approved; }) options.api_approved = T::api_approved;
  return crd_for(type_info<T>(), options);
}

}  // namespace evenkeel::inline v0
