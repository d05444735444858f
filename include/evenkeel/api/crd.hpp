// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions generated from C++ types: the schema from the field table, the rest from
// constants of the type.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {

/// A column printed by kubectl get: `static constexpr ek::PrinterColumn columns[] = {{.name = "Ready", .type
/// = "integer", .json_path = ".status.readyReplicas"}};` in the type. A column Age is appended unless the
/// type defines one.
struct PrinterColumn {
  std::string_view name = {};
  std::string_view type = "string";  ///< "string", "integer", "number", "boolean" or "date".
  std::string_view json_path = {};   ///< Starts with a dot: ".spec.size".
  std::string_view description = {};
  /// One of "int32", "int64", "float", "double", "byte", "date", "date-time", "password".
  std::string_view format = {};
  std::int32_t priority = 0;  ///< Greater than 0: shown only with -o wide.
};

/// The scale subresource: `static constexpr ek::ScaleSubresource scale{...}` in the type. Without it, a type
/// with the integers spec.replicas and status.replicas, or else status.readyReplicas, gets one with these
/// paths; `enabled = false` prevents this.
struct ScaleSubresource {
  std::string_view spec_replicas_path = ".spec.replicas";
  std::string_view status_replicas_path = ".status.replicas";
  std::string_view label_selector_path = {};
  bool enabled = true;
};

/// A version of a kind that has several: `static constexpr ek::CrdVersion crd_version{.storage = false,
/// .deprecated = true}` in the type. Without it, a version is served and stored.
struct CrdVersion {
  bool served = true;
  bool storage = true;      ///< Objects are stored in it. Of all versions of a kind exactly one.
  bool deprecated = false;  ///< Clients that use it get a warning.
  /// Text of that warning, which implies `deprecated`. Empty: the API server's own.
  std::string_view deprecation_warning = {};
};

/// The constants of a type, collected by crd_for<T>().
struct CrdOptions {
  std::span<const PrinterColumn> columns = {};
  const ScaleSubresource* scale = nullptr;
  std::span<const std::string_view> categories = {};  ///< `static constexpr std::string_view categories[]`
  std::string_view description = {};                  ///< `static constexpr std::string_view description`
  /// `static constexpr std::string_view api_approved`: value of the annotation api-approved.kubernetes.io,
  /// which the API server requires for groups that end in .k8s.io or .kubernetes.io: a URL, or a text that
  /// begins with "unapproved". Empty: "unapproved".
  std::string_view api_approved = {};
  CrdVersion version = {};
};

namespace detail {

// False only if T sets installs_crd and its group has no dot.
template <class T>
constexpr bool can_install_crd() {
  if constexpr (requires { typename std::bool_constant<T::resource.installs_crd>; })
    return !T::resource.installs_crd || T::resource.group.find('.') != std::string_view::npos;
  return true;
}

enum class ConstantProblem : std::uint8_t { none, name, type, format, path, scale_path };

constexpr bool is_word(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view each : words) {
    if (each == word) return true;
  }
  return false;
}

/// Validation rules of the API server.
/// Source: apiextensions-apiserver pkg/apis/apiextensions/validation, ValidateCustomResourceColumnDefinition.
constexpr ConstantProblem problem_of(const PrinterColumn& column) {
  if (column.name.empty()) return ConstantProblem::name;
  if (!is_word(column.type, {"integer", "number", "string", "boolean", "date"})) return ConstantProblem::type;
  if (!is_word(column.format,
               {"", "int32", "int64", "float", "double", "byte", "date", "date-time", "password"}))
    return ConstantProblem::format;
  return column.json_path.starts_with('.') ? ConstantProblem::none : ConstantProblem::path;
}
template <class Columns>
constexpr ConstantProblem problem_of_columns(const Columns& columns) {
  for (const PrinterColumn& column : columns) {
    if (const ConstantProblem problem = problem_of(column); problem != ConstantProblem::none) return problem;
  }
  return ConstantProblem::none;
}
/// Source: apiextensions-apiserver pkg/apis/apiextensions/validation,
/// ValidateCustomResourceDefinitionSubresources.
constexpr ConstantProblem problem_of(const ScaleSubresource& scale) {
  const bool good = scale.spec_replicas_path.starts_with(".spec.") &&
                    scale.status_replicas_path.starts_with(".status.") &&
                    (scale.label_selector_path.empty() || scale.label_selector_path.starts_with(".spec.") ||
                     scale.label_selector_path.starts_with(".status."));
  return good || !scale.enabled ? ConstantProblem::none : ConstantProblem::scale_path;
}

template <class T>
concept ColumnOrColumns = std::same_as<std::remove_cvref_t<T>, PrinterColumn> || requires(T& columns) {
  requires std::same_as<std::remove_cvref_t<decltype(columns[0])>, PrinterColumn>;
};

/// Columns that would be ignored because of their name or type.
template <class T>
concept HasIgnoredColumns = requires {
  requires ColumnOrColumns<decltype(T::column)>;
}
|| requires {
  requires ColumnOrColumns<decltype(T::printer_columns)>;
}
|| requires {
  requires ColumnOrColumns<decltype(T::printer_column)>;
};

template <class T>
concept HasIgnoredCategories = requires {
  requires std::same_as<decltype(T::category[0]), const std::string_view&> ||
      std::same_as<decltype(T::category), const std::string_view>;
};

/// Returns the first problem of T's columns, or else of its scale. Constants that are not constexpr are
/// checked only by crd_for().
template <class T>
constexpr ConstantProblem constant_problem() {
  if constexpr (requires {
                  typename std::bool_constant<problem_of_columns(T::columns) == ConstantProblem::none>;
                }) {
    if (problem_of_columns(T::columns) != ConstantProblem::none) return problem_of_columns(T::columns);
  }
  if constexpr (requires { typename std::bool_constant<problem_of(T::scale) == ConstantProblem::none>; }) {
    return problem_of(T::scale);
  }
  return ConstantProblem::none;
}

/// Fails to compile, with a message, if a constant of T is invalid or would be ignored.
template <class T>
struct CheckedConstants {
  using P = ConstantProblem;
  static constexpr P problem = constant_problem<T>();
  static_assert(!HasIgnoredColumns<T>,
                "columns of a kind are `static constexpr evenkeel::PrinterColumn columns[] = {...}`, by that "
                "name");
  static_assert(!HasIgnoredCategories<T>, "categories are `static constexpr std::string_view categories[]`");
  static_assert(problem != P::name, "a printer column needs a name");
  static_assert(problem != P::type,
                "the type of a printer column is integer, number, string, boolean or date");
  static_assert(problem != P::format,
                "the format of a printer column is int32, int64, float, double, byte, "
                "date, date-time or password");
  static_assert(problem != P::path,
                "the json_path of a printer column begins with a dot: .spec.size or .metadata.name");
  static_assert(problem != P::scale_path, "the paths of a scale subresource begin with .spec. and .status.");
  static constexpr bool passed = true;
};

}  // namespace detail

/// Returns the structural OpenAPI schema of a type.
/// - Initialisers of plain members become defaults, but not below `status`. A plain member has no default and
///   is required if its initialiser violates its own bounds, or is an empty string that must match a pattern
///   (default_to() and no_default override this); so is a plain struct with a required member.
/// - The default of a plain struct is the empty object, which the server completes; that of one with rules is
///   complete.
/// - A recursive type is described once; nested occurrences accept anything.
EVENKEEL_API Json schema_of(const TypeInfo& type);
template <class T>
Json schema_of() {
  return schema_of(type_info<T>());
}

/// Returns the apiextensions.k8s.io/v1 definition of an object's kind: one version, by default served and
/// stored, with the status subresource if the type has a member `status`. Throws std::invalid_argument, with
/// the type and the field or column, if the type has no group, kind or plural, if its group has no dot, or if
/// the API server would reject a default, a column or a path.
EVENKEEL_API Json crd_for(const TypeInfo& type, const CrdOptions& options);
template <ObjectType T>
Json crd_for() {
  static_assert(detail::can_install_crd<T>(),
                "installs_crd: the API server refuses CustomResourceDefinitions whose group has no dot");
  static_assert(detail::CheckedConstants<T>::passed);
  CrdOptions options;
  if constexpr (requires { T::columns; }) options.columns = T::columns;
  if constexpr (requires { T::scale; }) options.scale = &T::scale;
  if constexpr (requires { T::categories; }) options.categories = T::categories;
  if constexpr (requires { T::description; }) options.description = T::description;
  if constexpr (requires { T::api_approved; }) options.api_approved = T::api_approved;
  if constexpr (requires { T::crd_version; }) options.version = T::crd_version;
  return crd_for(type_info<T>(), options);
}

/// Returns one definition with the versions of all `definitions`, in their order, for each kind, in the order
/// of their first versions. Duplicates of a version are dropped. Throws std::invalid_argument, with kind and
/// version, if definitions of one kind differ in names or scope, if two of one version differ, or if not
/// exactly one version is stored.
EVENKEEL_API std::vector<Json> merge_versions(const std::vector<Json>& definitions);

}  // namespace v0
}  // namespace evenkeel
