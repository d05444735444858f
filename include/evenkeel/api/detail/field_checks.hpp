// SPDX-License-Identifier: Apache-2.0
// Compile-time checks of EVENKEEL_FIELDS: every member is listed, wire names are distinct, and each attribute
// fits its member's type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/attributes.hpp>
#include <evenkeel/api/resource.hpp>

namespace evenkeel {
inline namespace v0 {

struct ObjectMeta;
struct TypeInfo;

/// Makes argument-dependent lookup find descriptions in this namespace, in the type's own and in the global
/// one.
struct FieldLookup {};

}  // namespace v0
}  // namespace evenkeel

/// Part of the lookup of descriptions; not for use.
struct evenkeel_field_lookup : evenkeel::FieldLookup {};

namespace evenkeel {
inline namespace v0 {
namespace detail {

// ---- Shapes of types ----

/// std::optional.
template <class T>
concept OptionalLike = requires(T value) {
  value.has_value();
  value.emplace();
  *value;
};

template <class T>
concept ListLike = std::same_as<T, std::vector<bool>> || requires(T value) {
  typename T::value_type;
  value.emplace_back();
  value.data();
};

template <class T>
concept MapLike = requires(T value) {
  typename T::mapped_type;
  requires std::same_as<typename T::key_type, std::string>;
  value.try_emplace(std::string());
};

template <class T>
using Pointee = std::remove_cvref_t<decltype(*std::declval<T&>())>;

/// The properties of a member's type that decide which attributes it accepts.
struct Shape {
  TypeKind kind = TypeKind::json;  ///< Kind without enclosing optionals.
  TypeKind item = TypeKind::json;  ///< Kind of the items of lists and maps, without optionals.
  bool is_optional = false;
};

template <class T>
constexpr Shape shape_of() {
  if constexpr (std::same_as<T, bool>) {
    return {.kind = TypeKind::boolean};
  } else if constexpr (std::integral<T>) {
    return {.kind = TypeKind::integer};
  } else if constexpr (std::floating_point<T>) {
    return {.kind = TypeKind::number};
  } else if constexpr (std::is_enum_v<T>) {
    return {.kind = TypeKind::enumeration};
  } else if constexpr (std::same_as<T, std::string>) {
    return {.kind = TypeKind::string};
  } else if constexpr (requires { evenkeel_leaf_kind(static_cast<T**>(nullptr), evenkeel_field_lookup{}); }) {
    return {.kind = evenkeel_leaf_kind(static_cast<T**>(nullptr), evenkeel_field_lookup{})};
  } else if constexpr (OptionalLike<T>) {
    const Shape inner = shape_of<Pointee<T>>();
    return {.kind = inner.kind, .item = inner.item, .is_optional = true};
  } else if constexpr (MapLike<T>) {
    return {.kind = TypeKind::map, .item = shape_of<typename T::mapped_type>().kind};
  } else if constexpr (ListLike<T>) {
    return {.kind = TypeKind::list, .item = shape_of<typename T::value_type>().kind};
  } else {
    return {.kind = TypeKind::record};
  }
}

/// Identifies a class by its address.
template <class T>
inline constexpr char class_mark = 0;

/// One entry of EVENKEEL_FIELDS.
struct FieldSpec {
  std::string_view member = {};
  void* (*access)(void*) noexcept = nullptr;
  const TypeInfo& (*type)() = nullptr;
  const char* owner = nullptr;  ///< class_mark of the declaring class.
  Shape shape = {};
  bool attributed = false;
};

// ---- Members that are not listed ----

/// Converts to any member or base class. Never evaluated.
template <class Record>
struct AnyPart {
  template <class U>
  requires(!std::same_as<U, Record>) operator U() const;
};

template <class Record, const auto& specs>
constexpr bool lists_all();

/// Converts to any base class. Never evaluated.
template <class Record>
struct AnyBase {
  template <class U>
  requires(!std::same_as<U, Record> && std::is_base_of_v<U, Record>) operator U() const;
};

/// Converts to a base class that has an unlisted member, own or inherited. Never evaluated.
template <class Record, const auto& specs>
struct UnlistedBase {
  template <class U>
  requires(!std::same_as<U, Record> && std::is_base_of_v<U, Record> && !lists_all<U, specs>()) operator U()
      const;
};

/// True if `count` fillers can initialise the aggregate Record: its bases and members, in order.
template <class Record, class Filler, std::size_t count>
inline constexpr bool can_fill = []<std::size_t... I>(std::index_sequence<I...>) {
  return requires {
    Record{(static_cast<void>(I), Filler{})...};
  };
}
(std::make_index_sequence<count>());

/// Returns the maximum number of fillers, starting at `count`.
template <class Record, class Filler, std::size_t count>
constexpr std::size_t most_fillers() {
  if constexpr (can_fill<Record, Filler, count + 1>) {
    return most_fillers<Record, Filler, count + 1>();
  } else {
    return count;
  }
}

/// True if the base class at index `count` has an unlisted member.
template <class Record, const auto& specs, std::size_t count>
inline constexpr bool is_base_unlisted = []<std::size_t... I>(std::index_sequence<I...>) {
  return requires {
    Record{(static_cast<void>(I), AnyBase<Record>{})..., UnlistedBase<Record, specs>{}};
  };
}
(std::make_index_sequence<count>());

template <class Record, std::size_t N>
constexpr std::size_t listed_of(const FieldSpec (&specs)[N]) {
  std::size_t count = 0;
  for (const FieldSpec& spec : specs) count += spec.owner == &class_mark<Record> ? 1 : 0;
  return count;
}

/// Returns true if `specs` has all members of Record and of its base classes. Only aggregates can be counted;
/// for any other class it returns true.
template <class Record, const auto& specs>
constexpr bool lists_all() {
  if constexpr (!std::is_aggregate_v<Record>) {
    return true;
  } else {
    constexpr std::size_t own = listed_of<Record>(specs);
    if constexpr (!can_fill<Record, AnyPart<Record>, own + 1>) {
      return true;
    } else {
      constexpr std::size_t bases = most_fillers<Record, AnyBase<Record>, 0>();
      return most_fillers<Record, AnyPart<Record>, own + 1>() <=
             own + bases&&[]<std::size_t... I>(std::index_sequence<I...>) {
        return (!is_base_unlisted<Record, specs, I> && ...);
      }
      (std::make_index_sequence<bases>());
    }
  }
}

// ---- Constants of a type ----

template <class T>
concept RuleOrRules = std::same_as<std::remove_cvref_t<T>, CelRule> || requires(T& rules) {
  requires std::same_as<std::remove_cvref_t<decltype(rules[0])>, CelRule>;
};

template <class T>
concept HasRules = requires {
  requires std::same_as<decltype(T::rules[0]), const CelRule&>;
};

/// Rules that would be ignored because of their name or type.
template <class T>
concept HasIgnoredRules = requires {
  requires RuleOrRules<decltype(T::rule)>;
}
|| requires {
  requires RuleOrRules<decltype(T::cel_rules)>;
}
|| requires {
  requires RuleOrRules<decltype(T::validations)>;
}
|| (requires { requires RuleOrRules<decltype(T::rules)>; } && !HasRules<T>);

template <class T>
concept HasResource = requires {
  requires std::same_as<std::remove_cv_t<decltype(T::resource)>, ResourceInfo>;
};

template <class T>
concept HasMetadata = requires {
  requires std::same_as<decltype(T::metadata), ObjectMeta>;
};

// ---- Attributes ----

enum class FieldProblem : std::uint8_t {
  none,
  member_missing,
  metadata_missing,
  name_twice,
  name_qualified,
  text_attribute,
  format_attribute,
  number_attribute,
  size_attribute,
  list_attribute,
  list_of_records_attribute,
  list_of_scalars_attribute,
  map_attribute,
  object_attribute,
  omit_attribute,
  no_place_for_default,
};

constexpr bool is_one_of(TypeKind kind, std::initializer_list<TypeKind> kinds) {
  for (const TypeKind each : kinds) {
    if (each == kind || kind == TypeKind::json) return true;
  }
  return false;
}

constexpr FieldProblem list_problem(const Shape& shape, const Attributes& notes) {
  if (notes.list_type == ListType::unset) return FieldProblem::none;
  if (!is_one_of(shape.kind, {TypeKind::list})) return FieldProblem::list_attribute;
  if (notes.key_count > 0 && !is_one_of(shape.item, {TypeKind::record}))
    return FieldProblem::list_of_records_attribute;
  if (notes.list_type == ListType::set && (shape.item == TypeKind::record || shape.item == TypeKind::map))
    return FieldProblem::list_of_scalars_attribute;
  return FieldProblem::none;
}

constexpr FieldProblem attribute_problem(const Shape& shape, const Attributes& notes) {
  using enum TypeKind;
  const TypeKind kind = shape.kind;
  const bool bounds_text = !notes.pattern.empty() || notes.min_length >= 0 || notes.max_length >= 0;
  if (bounds_text && !is_one_of(kind, {string, text, enumeration, int_or_string}))
    return FieldProblem::text_attribute;
  if (notes.value_count > 0 && !is_one_of(kind, {string, text, int_or_string}))
    return FieldProblem::text_attribute;
  if (!notes.format.empty() && !is_one_of(kind, {string, text, integer, number, int_or_string}))
    return FieldProblem::format_attribute;
  if ((notes.minimum || notes.maximum) && !is_one_of(kind, {integer, number, int_or_string}))
    return FieldProblem::number_attribute;
  if ((notes.min_items >= 0 || notes.max_items >= 0) && !is_one_of(kind, {list, map}))
    return FieldProblem::size_attribute;
  if (notes.atomic_map && !is_one_of(kind, {map, record})) return FieldProblem::map_attribute;
  if ((notes.preserve_unknown || notes.embedded_object) && !is_one_of(kind, {map, record}))
    return FieldProblem::object_attribute;
  if (notes.omit_empty &&
      (shape.is_optional || kind == list || kind == map || kind == record || kind == json))
    return FieldProblem::omit_attribute;
  if (!notes.default_json.empty() && (notes.required || notes.no_default))
    return FieldProblem::no_place_for_default;
  return list_problem(shape, notes);
}

// ---- Result ----

/// The first problem of a description, and the field concerned.
struct Finding {
  FieldProblem problem = FieldProblem::none;
  char field[64] = {};
};

constexpr Finding finding(FieldProblem problem, std::string_view field = {}) {
  Finding out{.problem = problem};
  for (std::size_t i = 0; i < field.size() && i + 1 < sizeof out.field; ++i) out.field[i] = field[i];
  return out;
}

template <std::size_t N, class Fields>
constexpr Finding field_finding(const FieldSpec (&specs)[N], const Fields& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view wire = fields[i].wire;
    if (wire.empty() || wire.find(':') != wire.npos)
      return finding(FieldProblem::name_qualified, specs[i + 1].member);
    for (std::size_t other = 0; other < i; ++other) {
      if (fields[other].wire == wire) return finding(FieldProblem::name_twice, wire);
    }
    if (fields[i].attributes == nullptr) continue;
    const FieldProblem problem = attribute_problem(specs[i + 1].shape, *fields[i].attributes);
    if (problem != FieldProblem::none) return finding(problem, specs[i + 1].member);
  }
  return {};
}

template <class Record, const auto& specs, bool partial, class Fields>
constexpr Finding examine(const Fields& fields) {
  if constexpr (HasResource<Record>) {
    bool has_metadata = false;
    for (const auto& field : fields) has_metadata |= field.wire == "metadata";
    if (!has_metadata) return finding(FieldProblem::metadata_missing, "metadata");
  }
  if constexpr (!partial) {
    if (!lists_all<Record, specs>()) return finding(FieldProblem::member_missing);
  }
  return field_finding(specs, fields);
}

/// Fails to compile, with a message, if there is a problem. Its arguments name the record and the field.
template <class Record, Finding found>
struct CheckedRecord {
  using P = FieldProblem;
  static constexpr P problem = found.problem;

  static_assert(!HasResource<Record> || HasMetadata<Record>,
                "a type with a `resource` has a member `evenkeel::ObjectMeta metadata`");
  static_assert(
      !HasResource<Record> || requires { requires std::is_const_v<decltype(Record::resource)>; },
      "`resource` must be `static constexpr evenkeel::ResourceInfo resource{...}`");
  static_assert(!HasIgnoredRules<Record>,
                "rules of a type are `static constexpr evenkeel::CelRule rules[] = {...}`, by that name");
  static_assert(problem != P::metadata_missing,
                "`metadata` is missing from EVENKEEL_FIELDS of a type that has a `resource`");
  static_assert(problem != P::member_missing,
                "a member of the struct or of a base class is missing from EVENKEEL_FIELDS: list it, or use "
                "EVENKEEL_FIELDS_PARTIAL if the members that are not listed are not meant for the wire");
  static_assert(problem != P::name_twice, "two fields have the same name on the wire");
  static_assert(problem != P::name_qualified,
                "a field needs a name on the wire: write (member, evenkeel::wire(\"name\"))");
  static_assert(problem != P::text_attribute,
                "pattern, min_length, max_length and one_of are for strings, and one_of is not for "
                "enumerations, whose words are given by EVENKEEL_ENUM");
  static_assert(problem != P::format_attribute, "format is for strings and numbers");
  static_assert(problem != P::number_attribute, "minimum and maximum are for integers and numbers");
  static_assert(problem != P::size_attribute,
                "min_items and max_items are for lists and maps; bounds of strings are min_length and "
                "max_length, those of numbers minimum and maximum");
  static_assert(problem != P::list_attribute, "list_atomic, list_set, list_map and match_by are for lists");
  static_assert(problem != P::list_of_records_attribute,
                "list_map and match_by are for lists of described structs");
  static_assert(problem != P::list_of_scalars_attribute,
                "list_set is for lists of strings, numbers and the like; lists of structs have list_map");
  static_assert(problem != P::map_attribute, "map_atomic is for maps and structs");
  static_assert(problem != P::object_attribute,
                "preserve_unknown and embedded_object are for structs, maps and Json");
  static_assert(problem != P::omit_attribute,
                "omit_empty is for plain scalars and strings: all others are left out when they are empty");
  static_assert(problem != P::no_place_for_default,
                "default_to contradicts required and no_default on the same field");
  static constexpr bool passed = true;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
