// SPDX-License-Identifier: Apache-2.0
// Descriptions of structs: EVENKEEL_FIELDS makes a constexpr table of a struct's fields (wire name, accessor,
// type, attributes). One interpreter in src/ uses the tables to encode, decode and generate schemas.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/attributes.hpp>
#include <evenkeel/api/detail/each.hpp>
#include <evenkeel/api/detail/field_checks.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

class Json;

/// One field of a record. The address of its value is access(address of the record).
struct Field {
  std::string_view wire;
  void* (*access)(void* record) noexcept;
  const TypeInfo& (*type)();
  const Attributes* attributes;  ///< Null if the field has none.

  const void* get(const void* record) const noexcept { return access(const_cast<void*>(record)); }
  bool omit_empty() const noexcept { return attributes != nullptr && attributes->omit_empty; }
};

struct EnumValue {
  std::int64_t value = 0;
  std::string_view wire = {};
};

struct OptionalOps {
  const void* (*get)(const void* self) noexcept;  ///< Returns null when empty.
  void* (*emplace)(void* self);
};
struct ListOps {
  std::size_t (*size)(const void* self) noexcept;
  const void* (*at)(const void* self, std::size_t index) noexcept;
  /// Calls `fill` with a new item, which is the last one afterwards.
  void (*append)(void* self, void* context, void (*fill)(void* context, void* item));
  void (*clear)(void* self) noexcept;
};
struct MapOps {
  using Visit = void (*)(void* context, std::string_view key, const void* value);
  std::size_t (*size)(const void* self) noexcept;
  void (*each)(const void* self, void* context, Visit visit);
  void* (*insert)(void* self, std::string_view key);  ///< Returns a new value; replaces an existing one.
  void (*clear)(void* self) noexcept;
  bool sorted;  ///< each() visits in order of keys.
};
struct RecordOps {
  void* (*create)();
  void (*destroy)(void* record) noexcept;
};
/// Operations of a class whose wire form is one JSON string.
struct TextOps {
  std::string_view expected;  ///< Expected form, for errors: "an RFC 3339 time".
  std::string_view format;    ///< The schema's `format`, may be empty.
  void (*append)(const void* self, std::string& out);
  bool (*parse)(void* self, std::string_view text);  ///< Returns false if `text` is invalid.
  bool (*is_zero)(const void* self) noexcept;
  bool numbers = false;  ///< A JSON number is accepted as its text (quantities: `cpu: 2`).
  bool secret = false;   ///< Errors do not show the text.
};

/// Type description used by the interpreter. Tables are constants with static lifetime.
struct TypeInfo {
  TypeKind kind = TypeKind::record;
  bool is_signed = false;
  std::uint8_t size = 0;                ///< Size in bytes of integers, numbers and enumerations.
  std::string_view name = {};           ///< Spelling in the source; records and enumerations only.
  const TypeInfo& (*item)() = nullptr;  ///< Element type of optionals, lists and maps.
  std::span<const Field> fields = {};
  std::span<const EnumValue> values = {};
  const ResourceInfo* resource = nullptr;  ///< Set for records that are objects with a kind.
  std::span<const CelRule> rules = {};     ///< `static constexpr ek::CelRule rules[]` in the struct.
  const OptionalOps* optional = nullptr;
  const ListOps* list = nullptr;
  const MapOps* map = nullptr;
  const RecordOps* record = nullptr;
  const TextOps* text = nullptr;

  /// Returns the field with wire name `wire`, or null.
  const Field* find(std::string_view wire) const noexcept {
    for (const Field& field : fields) {
      if (field.wire == wire) return &field;
    }
    return nullptr;
  }
};

/// A type with its own EVENKEEL_FIELDS; the description of a base class does not count.
template <class T>
concept Described = std::is_class_v<T> && requires {
  evenkeel_type_info(static_cast<T**>(nullptr), evenkeel_field_lookup{});
};

/// A described type that is a Kubernetes object: it has a static `resource` and a member `metadata`.
template <class T>
concept ObjectType = Described<T> && requires(T& object) {
  { T::resource } -> std::convertible_to<const ResourceInfo&>;
  { object.metadata } -> std::same_as<ObjectMeta&>;
};

namespace detail {

/// Names, in an error of the compiler, what T lacks to be an ObjectType.
template <class T>
struct ExplainedObjectType {
  static_assert(Described<T>, "describe the kind with EVENKEEL_FIELDS(Kind, metadata, spec, status)");
  static_assert(!Described<T> || ObjectType<T>,
                "a kind has a member `static constexpr evenkeel::ResourceInfo resource`");
};

}  // namespace detail

/// Returns the table of T.
template <class T>
const TypeInfo& type_info();

// ---- Construction of the tables ----

namespace detail {

template <class... Parts>
constexpr Attributes attributes(const Parts&... parts) {
  Attributes out;
  (parts.apply(out), ...);
  return out;
}

template <class Record, class Value>
Record record_of(Value Record::*);

template <class Record, class Value>
Value member_value_of(Value Record::*);

/// `Record` is the described type, not the class that declares the member: that may be a base class, whose
/// address can differ from the record's.
template <class Record, auto Member>
void* access(void* record) noexcept {
  return &(static_cast<Record*>(record)->*Member);
}

template <class Record, auto Member>
constexpr FieldSpec field_spec(std::string_view name, bool attributed) {
  using Value = decltype(member_value_of(Member));
  return {.member = name,
          .access = &access<Record, Member>,
          .type = &type_info<Value>,
          .owner = &class_mark<decltype(record_of(Member))>,
          .shape = shape_of<Value>(),
          .attributed = attributed};
}

template <std::size_t N>
constexpr std::size_t name_bytes(const FieldSpec (&specs)[N]) {
  std::size_t bytes = 0;
  for (const FieldSpec& spec : specs) bytes += spec.member.size();
  return bytes;
}

/// Converts snake_case to camelCase and drops one trailing underscore. Returns the length written.
constexpr std::size_t write_camel(std::string_view member, char* out) {
  if (!member.empty() && member.back() == '_') member.remove_suffix(1);
  std::size_t length = 0;
  bool raise = false;
  for (const char c : member) {
    if (c == '_' && length > 0) {
      raise = true;
      continue;
    }
    out[length++] = raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    raise = false;
  }
  return length;
}

template <std::size_t Bytes>
struct NamePool {
  std::array<char, Bytes + 1> text = {};
};

template <std::size_t Bytes, std::size_t N>
constexpr NamePool<Bytes> pool_names(const FieldSpec (&specs)[N]) {
  NamePool<Bytes> pool;
  char* out = pool.text.data();
  for (const FieldSpec& spec : specs) {
    write_camel(spec.member, out);
    out += spec.member.size();
  }
  return pool;
}

constexpr std::size_t camel_length(std::string_view member) {
  std::array<char, 128> scratch = {};
  return write_camel(member, scratch.data());
}

template <std::size_t N>
constexpr std::array<Field, N - 1> make_fields(const FieldSpec (&specs)[N], const Attributes* notes,
                                               const char* names) {
  std::array<Field, N - 1> fields = {};
  std::size_t note = 0;
  for (std::size_t i = 1; i < N; ++i) {
    const FieldSpec& spec = specs[i];
    Field& field = fields[i - 1];
    field = {{names, camel_length(spec.member)}, spec.access, spec.type, nullptr};
    names += spec.member.size();
    if (!spec.attributed) continue;
    field.attributes = &notes[++note];
    if (!field.attributes->wire.empty()) field.wire = field.attributes->wire;
  }
  return fields;
}

template <class T>
inline constexpr RecordOps record_ops{
    .create = +[]() -> void* { return new T(); },
    .destroy = +[](void* record) noexcept { delete static_cast<T*>(record); },
};

template <class T>
constexpr const ResourceInfo* resource_of() {
  if constexpr (requires { requires std::same_as<decltype(T::resource), const ResourceInfo>; }) {
    return &T::resource;
  } else {
    return nullptr;
  }
}

template <class T>
constexpr TypeInfo record_info(std::string_view name, std::span<const Field> fields) {
  TypeInfo info;
  info.kind = TypeKind::record;
  info.name = name;
  info.fields = fields;
  info.resource = resource_of<T>();
  if constexpr (HasRules<T>) info.rules = T::rules;
  info.record = &record_ops<T>;
  return info;
}

/// One enumerator, with space for its name in PascalCase.
struct EnumSpec {
  std::int64_t value = 0;
  std::array<char, 64> text = {};
  std::size_t length = 0;
};

template <class E>
constexpr EnumSpec enum_value_named(E value, std::string_view text) {
  EnumSpec spec{static_cast<std::int64_t>(value), {}, text.size()};
  for (std::size_t i = 0; i < text.size(); ++i) spec.text.at(i) = text[i];
  return spec;
}

template <class E>
constexpr EnumSpec enum_value(E value, std::string_view name) {
  EnumSpec spec{static_cast<std::int64_t>(value), {}, 0};
  spec.length = write_camel(name, spec.text.data());
  if (spec.text[0] >= 'a' && spec.text[0] <= 'z') spec.text[0] = static_cast<char>(spec.text[0] - 'a' + 'A');
  return spec;
}

template <std::size_t N>
constexpr std::array<EnumValue, N> make_values(const EnumSpec (&specs)[N]) {
  std::array<EnumValue, N> values = {};
  for (std::size_t i = 0; i < N; ++i) values[i] = {specs[i].value, {specs[i].text.data(), specs[i].length}};
  return values;
}

constexpr bool words_differ(std::span<const EnumValue> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (values[i].wire == values[other].wire) return false;
    }
  }
  return true;
}

template <class E>
constexpr TypeInfo enum_info(std::string_view name, std::span<const EnumValue> values) {
  static_assert(std::is_enum_v<E>, "EVENKEEL_ENUM describes enumerations");
  TypeInfo info;
  info.kind = TypeKind::enumeration;
  info.is_signed = std::is_signed_v<std::underlying_type_t<E>>;
  info.size = sizeof(E);
  info.name = name;
  info.values = values;
  return info;
}

// ---- Types that are not described by a macro ----

template <class T>
inline constexpr TypeInfo scalar_info{
    .kind = std::same_as<T, bool> ? TypeKind::boolean
            : std::integral<T>    ? TypeKind::integer
                                  : TypeKind::number,
    .is_signed = std::is_signed_v<T>,
    .size = sizeof(T),
};

inline constexpr TypeInfo string_info{.kind = TypeKind::string};

template <class T>
inline constexpr OptionalOps optional_ops{
    .get = +[](const void* self) noexcept -> const void* {
      const T& value = *static_cast<const T*>(self);
      return value.has_value() ? &*value : nullptr;
    },
    .emplace = +[](void* self) -> void* { return &static_cast<T*>(self)->emplace(); },
};

/// The items of std::vector<bool> have no address; these stand for them.
inline constexpr bool boolean_items[] = {false, true};

template <class T>
inline constexpr ListOps list_ops{
    .size = +[](const void* self) noexcept { return static_cast<const T*>(self)->size(); },
    .at = +[](const void* self, std::size_t index) noexcept -> const void* {
      const T& list = *static_cast<const T*>(self);
      if constexpr (std::same_as<T, std::vector<bool>>) {
        return &boolean_items[list[index] ? 1 : 0];
      } else {
        return list.data() + index;
      }
    },
    .append =
        +[](void* self, void* context, void (*fill)(void* context, void* item)) {
          T& list = *static_cast<T*>(self);
          if constexpr (std::same_as<T, std::vector<bool>>) {
            bool item = false;
            fill(context, &item);
            list.push_back(item);
          } else {
            fill(context, &list.emplace_back());
          }
        },
    .clear = +[](void* self) noexcept { static_cast<T*>(self)->clear(); },
};

template <class T>
concept SortedMap = requires {
  typename T::key_compare;
};

template <class T>
inline constexpr MapOps map_ops{
    .size = +[](const void* self) noexcept { return static_cast<const T*>(self)->size(); },
    .each =
        +[](const void* self, void* context, MapOps::Visit visit) {
          for (const auto& [key, value] : *static_cast<const T*>(self)) visit(context, key, &value);
        },
    .insert = +[](void* self, std::string_view key) -> void* {
      T& map = *static_cast<T*>(self);
      std::string name(key);
      map.erase(name);
      return &map.try_emplace(std::move(name)).first->second;
    },
    .clear = +[](void* self) noexcept { static_cast<T*>(self)->clear(); },
    .sorted = SortedMap<T>};

template <class T>
inline constexpr TypeInfo optional_info{
    .kind = TypeKind::optional, .item = &type_info<Pointee<T>>, .optional = &optional_ops<T>};
template <class T>
inline constexpr TypeInfo list_info{
    .kind = TypeKind::list, .item = &type_info<typename T::value_type>, .list = &list_ops<T>};
template <class T>
inline constexpr TypeInfo map_info{
    .kind = TypeKind::map, .item = &type_info<typename T::mapped_type>, .map = &map_ops<T>};

template <class T>
inline constexpr bool always_false = false;

}  // namespace detail

template <class T>
const TypeInfo& type_info() {
  if constexpr (requires { evenkeel_type_info(static_cast<T**>(nullptr), evenkeel_field_lookup{}); }) {
    return evenkeel_type_info(static_cast<T**>(nullptr), evenkeel_field_lookup{});
  } else if constexpr (requires { evenkeel_leaf_info(static_cast<T**>(nullptr), evenkeel_field_lookup{}); }) {
    return evenkeel_leaf_info(static_cast<T**>(nullptr), evenkeel_field_lookup{});
  } else if constexpr (std::is_arithmetic_v<T>) {
    return detail::scalar_info<T>;
  } else if constexpr (std::same_as<T, std::string>) {
    return detail::string_info;
  } else if constexpr (detail::OptionalLike<T>) {
    return detail::optional_info<T>;
  } else if constexpr (detail::MapLike<T>) {
    return detail::map_info<T>;
  } else if constexpr (detail::ListLike<T>) {
    return detail::list_info<T>;
  } else {
    static_assert(
        detail::always_false<T>,
        "this member's type has no form on the wire: describe it with EVENKEEL_FIELDS or EVENKEEL_ENUM");
  }
}

EVENKEEL_API const TypeInfo& evenkeel_leaf_info(Json**, FieldLookup);
constexpr TypeKind evenkeel_leaf_kind(Json**, FieldLookup) {
  return TypeKind::json;
}

}  // namespace v0
}  // namespace evenkeel

// ---- The macros ----

// Splits an entry, which is (name, attributes...) or name: its first part, and whether it has parentheses.
#define EVENKEEL_PP_PROBE(...) ~, 1
#define EVENKEEL_PP_SECOND(a, b, ...) b
#define EVENKEEL_PP_PICK_SECOND(...) EVENKEEL_PP_SECOND(__VA_ARGS__)
#define EVENKEEL_PP_IN_PARENTHESES(entry) EVENKEEL_PP_PICK_SECOND(EVENKEEL_PP_PROBE entry, 0, ~)
#define EVENKEEL_PP_JOIN(a, b) a##b
#define EVENKEEL_PP_CONCAT(a, b) EVENKEEL_PP_JOIN(a, b)
#define EVENKEEL_PP_FIRST(a, ...) a
#define EVENKEEL_PP_REST(a, ...) __VA_ARGS__
#define EVENKEEL_PP_NAME_0(entry) entry
#define EVENKEEL_PP_NAME_1(entry) EVENKEEL_PP_FIRST entry
#define EVENKEEL_PP_NOTE_0(entry)
#define EVENKEEL_PP_NOTE_1(entry) ::evenkeel::detail::attributes(EVENKEEL_PP_REST entry),
#define EVENKEEL_PP_TEXT(name) EVENKEEL_PP_STRING(name)
#define EVENKEEL_PP_STRING(name) #name
#define EVENKEEL_PP_SPEC_OF(member, attributed)                                                 \
  ::evenkeel::detail::field_spec<EvenkeelSelf, &EvenkeelSelf::member>(EVENKEEL_PP_TEXT(member), \
                                                                      attributed == 1),
#define EVENKEEL_PP_SPEC_IN(entry, parens) \
  EVENKEEL_PP_SPEC_OF(EVENKEEL_PP_CONCAT(EVENKEEL_PP_NAME_, parens)(entry), parens)
#define EVENKEEL_PP_SPEC(entry) EVENKEEL_PP_SPEC_IN(entry, EVENKEEL_PP_IN_PARENTHESES(entry))
#define EVENKEEL_PP_NOTE(entry) \
  EVENKEEL_PP_CONCAT(EVENKEEL_PP_NOTE_, EVENKEEL_PP_IN_PARENTHESES(entry))(entry)

// Specs and notes each begin with an unused entry, so that neither array is empty.
#define EVENKEEL_PP_BODY(Type, partial, ...)                                                                 \
  using EvenkeelSelf = Type;                                                                                 \
  static constexpr ::evenkeel::detail::FieldSpec specs[] = {                                                 \
      {} __VA_OPT__(, EVENKEEL_PP_EACH(EVENKEEL_PP_SPEC, __VA_ARGS__))};                                     \
  static constexpr ::evenkeel::Attributes notes[] = {                                                        \
      {} __VA_OPT__(, EVENKEEL_PP_EACH(EVENKEEL_PP_NOTE, __VA_ARGS__))};                                     \
  static constexpr auto names =                                                                              \
      ::evenkeel::detail::pool_names<::evenkeel::detail::name_bytes(specs)>(specs);                          \
  static constexpr auto fields = ::evenkeel::detail::make_fields(specs, notes, names.text.data());           \
  static_assert(::evenkeel::detail::CheckedRecord<                                                           \
                EvenkeelSelf, ::evenkeel::detail::examine<EvenkeelSelf, specs, partial>(fields)>::passed);   \
  static constexpr ::evenkeel::TypeInfo info = ::evenkeel::detail::record_info<EvenkeelSelf>(#Type, fields); \
  return info;
#define EVENKEEL_PP_FUNCTION(Type, partial, ...)                                    \
  const ::evenkeel::TypeInfo& evenkeel_type_info(Type**, ::evenkeel::FieldLookup) { \
    EVENKEEL_PP_BODY(Type, partial, __VA_ARGS__)                                    \
  }

/// Describes the struct `Type`: EVENKEEL_FIELDS(Type, member, (member, attributes...), ...), with up to 200
/// members, in the order in which they are written to the wire. Members of base classes are listed, too.
/// Place it at namespace scope, in the type's namespace or the global one, before the first use of the
/// description. No semicolon is needed.
///
/// Does not compile if a member of an aggregate is not listed, if two fields have the same wire name, if an
/// attribute does not fit its member's type, or if a type with a `resource` has no `metadata`.
#define EVENKEEL_FIELDS(Type, ...) \
  [[maybe_unused]] inline EVENKEEL_PP_FUNCTION(Type, false __VA_OPT__(, ) __VA_ARGS__)
/// Describes some members of a struct. The others are private to the program: they are neither encoded nor
/// decoded.
#define EVENKEEL_FIELDS_PARTIAL(Type, ...) \
  [[maybe_unused]] inline EVENKEEL_PP_FUNCTION(Type, true __VA_OPT__(, ) __VA_ARGS__)

/// EVENKEEL_FIELDS in two parts, for types that many files include: declared beside the type, and defined
/// once in a .cpp file, in the same namespace.
#define EVENKEEL_DECLARE_FIELDS(Type) \
  EVENKEEL_API const ::evenkeel::TypeInfo& evenkeel_type_info(Type**, ::evenkeel::FieldLookup);
#define EVENKEEL_DEFINE_FIELDS(Type, ...) EVENKEEL_PP_FUNCTION(Type, false __VA_OPT__(, ) __VA_ARGS__)

#define EVENKEEL_PP_VALUE_0(entry) ::evenkeel::detail::enum_value(EvenkeelSelf::entry, #entry)
#define EVENKEEL_PP_VALUE_1(entry) EVENKEEL_PP_VALUE_PAIR entry
#define EVENKEEL_PP_VALUE_PAIR(name, text) ::evenkeel::detail::enum_value_named(EvenkeelSelf::name, text)
#define EVENKEEL_PP_VALUE(entry) \
  EVENKEEL_PP_CONCAT(EVENKEEL_PP_VALUE_, EVENKEEL_PP_IN_PARENTHESES(entry))(entry),

/// Describes an enumeration: EVENKEEL_ENUM(Policy, always, on_failure, (none, "")). The wire values are the
/// enumerators in PascalCase ("OnFailure") unless given. Placed like EVENKEEL_FIELDS.
#define EVENKEEL_ENUM(Type, ...)                                                                             \
  [[maybe_unused]] inline const ::evenkeel::TypeInfo& evenkeel_type_info(Type**, ::evenkeel::FieldLookup) {  \
    using EvenkeelSelf = Type;                                                                               \
    static constexpr ::evenkeel::detail::EnumSpec specs[] = {                                                \
        EVENKEEL_PP_EACH(EVENKEEL_PP_VALUE, __VA_ARGS__)};                                                   \
    static constexpr auto values = ::evenkeel::detail::make_values(specs);                                   \
    static_assert(::evenkeel::detail::words_differ(values), "two enumerators have one word on the wire");    \
    static constexpr ::evenkeel::TypeInfo info = ::evenkeel::detail::enum_info<EvenkeelSelf>(#Type, values); \
    return info;                                                                                             \
  }
