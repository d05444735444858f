// SPDX-License-Identifier: Apache-2.0
// How a struct describes itself, once: EVENKEEL_FIELDS makes a constexpr table of its fields (wire name,
// accessor, type, attributes). One interpreter in src/ walks such tables to encode, decode and make schemas.
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

#include <evenkeel/api/detail/each.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel::inline v0 {

struct TypeInfo;
struct ObjectMeta;
class Json;

/// What a type is on the wire.
enum class TypeKind : std::uint8_t {
  boolean,
  integer,  ///< Any integral type; `size` and `is_signed` say which.
  number,   ///< float or double.
  string,
  enumeration,  ///< A string out of `values`.
  text,         ///< A class with a textual form of its own (Time, Quantity, Bytes...), see TextOps.
  int_or_string,
  json,      ///< A Json of any shape.
  optional,  ///< std::optional, Box: left out when empty.
  list,      ///< std::vector: left out when empty.
  map,       ///< std::map or std::unordered_map with std::string keys: left out when empty.
  record,    ///< A struct described by EVENKEEL_FIELDS.
};

/// A validation rule of the schema, in the Common Expression Language.
struct CelRule {
  std::string_view rule = {};
  std::string_view message = {};
};

enum class ListType : std::uint8_t { unset, atomic, set, map };

/// What the parentheses of a field say beyond its name. Only `wire` and `omit_empty` change what is
/// encoded, `keys` also how overlay() matches items; the rest is for the schema.
struct Attributes {
  std::string_view wire = {};
  std::string_view doc = {};
  std::string_view pattern = {};
  std::string_view format = {};
  std::string_view default_json = {};  ///< Instead of the member's initialiser.
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  std::int64_t min_length = -1;  ///< Of a string; -1 = no bound, here and below.
  std::int64_t max_length = -1;
  std::int64_t min_items = -1;  ///< Of a list, or of the members of a map.
  std::int64_t max_items = -1;
  std::array<std::string_view, 16> values = {};
  std::uint8_t value_count = 0;
  std::array<std::string_view, 4> keys = {};
  std::uint8_t key_count = 0;
  std::array<CelRule, 4> rules = {};
  std::uint8_t rule_count = 0;
  ListType list_type = ListType::unset;
  bool atomic_map = false;
  bool nullable = false;
  bool omit_empty = false;
  bool required = false;
  bool no_default = false;
  bool preserve_unknown = false;
  bool embedded_object = false;
};

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
  const void* (*get)(const void* self) noexcept;  ///< Null when empty.
  void* (*emplace)(void* self);
};
struct ListOps {
  std::size_t (*size)(const void* self) noexcept;
  const void* (*at)(const void* self, std::size_t index) noexcept;
  void* (*append)(void* self);
  void (*clear)(void* self) noexcept;
};
struct MapOps {
  using Visit = void (*)(void* context, std::string_view key, const void* value);
  std::size_t (*size)(const void* self) noexcept;
  void (*each)(const void* self, void* context, Visit visit);
  void* (*insert)(void* self, std::string_view key);  ///< A fresh value, in the place of an older one.
  void (*clear)(void* self) noexcept;
  bool sorted;  ///< each() goes by key.
};
struct RecordOps {
  void* (*create)();
  void (*destroy)(void* record) noexcept;
};
/// A class that is one JSON string.
struct TextOps {
  std::string_view expected;  ///< For errors: "an RFC 3339 time".
  std::string_view format;    ///< The schema's `format`, may be empty.
  void (*append)(const void* self, std::string& out);
  bool (*parse)(void* self, std::string_view text);  ///< False if `text` is not one.
  bool (*is_zero)(const void* self) noexcept;
  bool numbers = false;  ///< A JSON number is taken as its text (quantities: `cpu: 2`).
  bool secret = false;   ///< Errors do not show the text.
};

/// What the interpreter knows about a type. Tables are constants: they live as long as the program.
struct TypeInfo {
  TypeKind kind = TypeKind::record;
  bool is_signed = false;
  std::uint8_t size = 0;                ///< Of integers, numbers and enumerations, in bytes.
  std::string_view name = {};           ///< As written in the source; records and enumerations only.
  const TypeInfo& (*item)() = nullptr;  ///< Of optionals, lists and maps.
  std::span<const Field> fields = {};
  std::span<const EnumValue> values = {};
  const ResourceInfo* resource = nullptr;  ///< Of records that are objects with a kind.
  std::span<const CelRule> rules = {};     ///< `static constexpr ek::CelRule rules[]` in the struct.
  const OptionalOps* optional = nullptr;
  const ListOps* list = nullptr;
  const MapOps* map = nullptr;
  const RecordOps* record = nullptr;
  const TextOps* text = nullptr;

  /// The field called `wire` on the wire, or null.
  const Field* find(std::string_view wire) const noexcept {
    for (const Field& field : fields) {
      if (field.wire == wire) return &field;
    }
    return nullptr;
  }
};

/// Lets descriptions be found in this namespace, in the type's own and in the global one.
struct FieldLookup {};

}  // namespace evenkeel::inline v0

/// Part of how descriptions are found; not for use.
struct evenkeel_field_lookup : evenkeel::FieldLookup {};

namespace evenkeel::inline v0 {

/// Described by EVENKEEL_FIELDS.
template <class T>
concept Described = std::is_class_v<T> && requires {
  evenkeel_type_info(static_cast<const T*>(nullptr), evenkeel_field_lookup{});
};

/// A described type that is a Kubernetes object: it has a static `resource` and a member `metadata`.
template <class T>
concept ObjectType = Described<T> && requires(T& object) {
  { T::resource } -> std::convertible_to<const ResourceInfo&>;
  { object.metadata } -> std::same_as<ObjectMeta&>;
};

/// The table of T.
template <class T>
const TypeInfo& type_info();

// ---- Attributes, for the parentheses of EVENKEEL_FIELDS ----

namespace detail {
struct SetText {
  std::string_view Attributes::*member;
  std::string_view value;
  constexpr void apply(Attributes& out) const { out.*member = value; }
};
struct SetBound {
  std::optional<double> Attributes::*member;
  double value;
  constexpr void apply(Attributes& out) const { out.*member = value; }
};
struct SetCount {
  std::int64_t Attributes::*member;
  std::int64_t value;
  constexpr void apply(Attributes& out) const { out.*member = value; }
};
struct SetFlag {
  bool Attributes::*member;
  constexpr void apply(Attributes& out) const { out.*member = true; }
};
struct AddRule {
  CelRule rule;
  constexpr void apply(Attributes& out) const { out.rules[out.rule_count++] = rule; }
};
struct SetList {
  ListType type;
  std::array<std::string_view, 4> keys;
  std::uint8_t count;
  constexpr void apply(Attributes& out) const {
    out.list_type = type;
    out.keys = keys;
    out.key_count = count;
  }
};
struct SetValues {
  std::array<std::string_view, 16> values;
  std::uint8_t count;
  constexpr void apply(Attributes& out) const {
    out.values = values;
    out.value_count = count;
  }
};
}  // namespace detail

/// The name on the wire, where the camelCase of the member's name is not it.
constexpr detail::SetText wire(std::string_view name) {
  return {&Attributes::wire, name};
}
/// The description in the schema.
constexpr detail::SetText doc(std::string_view text) {
  return {&Attributes::doc, text};
}
/// A regular expression that strings must match.
constexpr detail::SetText pattern(std::string_view text) {
  return {&Attributes::pattern, text};
}
/// The schema's format, such as "date-time" or "ipv4".
constexpr detail::SetText format(std::string_view text) {
  return {&Attributes::format, text};
}
/// The default as JSON text, instead of the member's initialiser: `ek::default_to("{\"a\":1}")`.
constexpr detail::SetText default_to(std::string_view json) {
  return {&Attributes::default_json, json};
}
/// Bounds of numbers, both included.
constexpr detail::SetBound minimum(double bound) {
  return {&Attributes::minimum, bound};
}
constexpr detail::SetBound maximum(double bound) {
  return {&Attributes::maximum, bound};
}
/// Bounds of the length of strings, in characters.
constexpr detail::SetCount min_length(std::int64_t count) {
  return {&Attributes::min_length, count};
}
constexpr detail::SetCount max_length(std::int64_t count) {
  return {&Attributes::max_length, count};
}
/// Bounds of the size of lists and maps.
constexpr detail::SetCount min_items(std::int64_t count) {
  return {&Attributes::min_items, count};
}
constexpr detail::SetCount max_items(std::int64_t count) {
  return {&Attributes::max_items, count};
}
/// The strings that are allowed; at most 16.
template <class... Texts>
constexpr detail::SetValues one_of(Texts... values) {
  static_assert(sizeof...(Texts) > 0 && sizeof...(Texts) <= 16, "one_of takes 1 to 16 values");
  return {{std::string_view(values)...}, static_cast<std::uint8_t>(sizeof...(Texts))};
}
/// The list is one value: whoever applies it owns all of it.
inline constexpr detail::SetList list_atomic{ListType::atomic, {}, 0};
/// The items are a set: no item twice, each owned alone.
inline constexpr detail::SetList list_set{ListType::set, {}, 0};
/// The items are records told apart by these fields (wire names); at most 4.
template <class... Texts>
constexpr detail::SetList list_map(Texts... keys) {
  static_assert(sizeof...(Texts) > 0 && sizeof...(Texts) <= 4, "list_map takes 1 to 4 keys");
  return {ListType::map, {std::string_view(keys)...}, static_cast<std::uint8_t>(sizeof...(Texts))};
}
/// The list is one value to the server, but its items are told apart by these fields when a typed change
/// is carried onto a document, see overlay().
template <class... Texts>
constexpr detail::SetList match_by(Texts... keys) {
  static_assert(sizeof...(Texts) > 0 && sizeof...(Texts) <= 4, "match_by takes 1 to 4 keys");
  return {ListType::atomic, {std::string_view(keys)...}, static_cast<std::uint8_t>(sizeof...(Texts))};
}
/// The map or record is one value.
inline constexpr detail::SetFlag map_atomic{&Attributes::atomic_map};
/// The schema allows null.
inline constexpr detail::SetFlag nullable{&Attributes::nullable};
/// Left out when zero or "", although it is a plain scalar.
inline constexpr detail::SetFlag omit_empty{&Attributes::omit_empty};
/// The schema requires the field, and gives it no default.
inline constexpr detail::SetFlag required{&Attributes::required};
/// The schema gives no default although the member has an initialiser.
inline constexpr detail::SetFlag no_default{&Attributes::no_default};
/// The server keeps fields that the schema does not know.
inline constexpr detail::SetFlag preserve_unknown{&Attributes::preserve_unknown};
/// The value is a whole object with apiVersion, kind and metadata.
inline constexpr detail::SetFlag embedded_object{&Attributes::embedded_object};
/// A rule in the Common Expression Language that the value must satisfy; at most 4.
constexpr detail::AddRule rule(std::string_view cel, std::string_view message = {}) {
  return {{cel, message}};
}
/// The value cannot be changed once set.
inline constexpr detail::AddRule immutable{{"self == oldSelf", "is immutable"}};

// ---- How tables are made ----

namespace detail {

template <class... Parts>
constexpr Attributes attributes(const Parts&... parts) {
  Attributes out;
  (parts.apply(out), ...);
  return out;
}

template <class Record, class Value>
Record record_of(Value Record::*);

template <auto Member>
void* access(void* record) noexcept {
  using Record = decltype(record_of(Member));
  return &(static_cast<Record*>(record)->*Member);
}

struct FieldSpec {
  std::string_view member = {};
  void* (*access)(void*) noexcept = nullptr;
  const TypeInfo& (*type)() = nullptr;
  bool attributed = false;
};

/// Specs and attributes each begin with an unused entry, so that neither array is ever of size zero.
template <std::size_t N>
constexpr std::size_t name_bytes(const FieldSpec (&specs)[N]) {
  std::size_t bytes = 0;
  for (const FieldSpec& spec : specs) bytes += spec.member.size();
  return bytes;
}

/// snake_case to camelCase; one trailing underscore is dropped. Returns the length written.
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
  if constexpr (requires { requires std::same_as<decltype(T::rules[0]), const CelRule&>; })
    info.rules = T::rules;
  info.record = &record_ops<T>;
  return info;
}

/// One enumerator with room for the PascalCase of its name.
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

/// std::optional and Box.
template <class T>
concept OptionalLike = requires(T value) {
  value.has_value();
  value.emplace();
  *value;
};

template <class T>
concept ListLike = requires(T value) {
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
inline constexpr OptionalOps optional_ops{
    .get = +[](const void* self) noexcept -> const void* {
      const T& value = *static_cast<const T*>(self);
      return value.has_value() ? &*value : nullptr;
    },
    .emplace = +[](void* self) -> void* { return &static_cast<T*>(self)->emplace(); },
};

template <class T>
inline constexpr ListOps list_ops{
    .size = +[](const void* self) noexcept { return static_cast<const T*>(self)->size(); },
    .at = +[](const void* self, std::size_t index) noexcept -> const void* {
      return static_cast<const T*>(self)->data() + index;
    },
    .append = +[](void* self) -> void* { return &static_cast<T*>(self)->emplace_back(); },
    .clear = +[](void* self) noexcept { static_cast<T*>(self)->clear(); },
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
    .sorted = requires {typename T::key_compare;
}  // namespace detail
,
};  // namespace evenkeel::inline v0

template <class T>
using Pointee = std::remove_cvref_t<decltype(*std::declval<T&>())>;

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
  if constexpr (requires { evenkeel_type_info(static_cast<const T*>(nullptr), evenkeel_field_lookup{}); }) {
    return evenkeel_type_info(static_cast<const T*>(nullptr), evenkeel_field_lookup{});
  } else if constexpr (requires {
                         evenkeel_leaf_info(static_cast<const T*>(nullptr), evenkeel_field_lookup{});
                       }) {
    return evenkeel_leaf_info(static_cast<const T*>(nullptr), evenkeel_field_lookup{});
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

EVENKEEL_API const TypeInfo& evenkeel_leaf_info(const Json*, FieldLookup);

}  // namespace evenkeel::inline v0

// ---- The macros ----

// (name, attributes...) or name: the entry's first part, and whether it has parentheses.
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
#define EVENKEEL_PP_SPEC_OF(member, attributed)                                  \
  {EVENKEEL_PP_TEXT(member), &::evenkeel::detail::access<&EvenkeelSelf::member>, \
   &::evenkeel::type_info<decltype(EvenkeelSelf::member)>, attributed == 1},
#define EVENKEEL_PP_SPEC_IN(entry, parens) \
  EVENKEEL_PP_SPEC_OF(EVENKEEL_PP_CONCAT(EVENKEEL_PP_NAME_, parens)(entry), parens)
#define EVENKEEL_PP_SPEC(entry) EVENKEEL_PP_SPEC_IN(entry, EVENKEEL_PP_IN_PARENTHESES(entry))
#define EVENKEEL_PP_NOTE(entry) \
  EVENKEEL_PP_CONCAT(EVENKEEL_PP_NOTE_, EVENKEEL_PP_IN_PARENTHESES(entry))(entry)

#define EVENKEEL_PP_BODY(Type, ...)                                                                          \
  using EvenkeelSelf = Type;                                                                                 \
  static constexpr ::evenkeel::detail::FieldSpec specs[] = {                                                 \
      {} __VA_OPT__(, EVENKEEL_PP_EACH(EVENKEEL_PP_SPEC, __VA_ARGS__))};                                     \
  static constexpr ::evenkeel::Attributes notes[] = {                                                        \
      {} __VA_OPT__(, EVENKEEL_PP_EACH(EVENKEEL_PP_NOTE, __VA_ARGS__))};                                     \
  static constexpr auto names =                                                                              \
      ::evenkeel::detail::pool_names<::evenkeel::detail::name_bytes(specs)>(specs);                          \
  static constexpr auto fields = ::evenkeel::detail::make_fields(specs, notes, names.text.data());           \
  static constexpr ::evenkeel::TypeInfo info = ::evenkeel::detail::record_info<EvenkeelSelf>(#Type, fields); \
  return info;

/// Describes the struct `Type`: EVENKEEL_FIELDS(Type, member, (member, attributes...), ...), up to 80
/// members, in the order in which they are written to the wire. At namespace scope: the type's namespace
/// or the global one, before anything uses the description. No semicolon is needed.
#define EVENKEEL_FIELDS(Type, ...)                                                                  \
  [[maybe_unused]] inline const ::evenkeel::TypeInfo& evenkeel_type_info(const Type*,               \
                                                                         ::evenkeel::FieldLookup) { \
    EVENKEEL_PP_BODY(Type, __VA_ARGS__)                                                             \
  }

/// The same in two steps, for types that many files include: declared beside the type, defined once in a
/// .cpp, in the same namespace.
#define EVENKEEL_DECLARE_FIELDS(Type) \
  EVENKEEL_API const ::evenkeel::TypeInfo& evenkeel_type_info(const Type*, ::evenkeel::FieldLookup);
#define EVENKEEL_DEFINE_FIELDS(Type, ...)                                                \
  const ::evenkeel::TypeInfo& evenkeel_type_info(const Type*, ::evenkeel::FieldLookup) { \
    EVENKEEL_PP_BODY(Type, __VA_ARGS__)                                                  \
  }

#define EVENKEEL_PP_VALUE_0(entry) ::evenkeel::detail::enum_value(EvenkeelSelf::entry, #entry)
#define EVENKEEL_PP_VALUE_1(entry) EVENKEEL_PP_VALUE_PAIR entry
#define EVENKEEL_PP_VALUE_PAIR(name, text) ::evenkeel::detail::enum_value_named(EvenkeelSelf::name, text)
#define EVENKEEL_PP_VALUE(entry) \
  EVENKEEL_PP_CONCAT(EVENKEEL_PP_VALUE_, EVENKEEL_PP_IN_PARENTHESES(entry))(entry),

/// Describes an enumeration: EVENKEEL_ENUM(Policy, always, on_failure, (none, "")). The words on the wire
/// are the enumerators in PascalCase ("OnFailure") unless given. Placed like EVENKEEL_FIELDS.
#define EVENKEEL_ENUM(Type, ...)                                                                             \
  [[maybe_unused]] inline const ::evenkeel::TypeInfo& evenkeel_type_info(const Type*,                        \
                                                                         ::evenkeel::FieldLookup) {          \
    using EvenkeelSelf = Type;                                                                               \
    static constexpr ::evenkeel::detail::EnumSpec specs[] = {                                                \
        EVENKEEL_PP_EACH(EVENKEEL_PP_VALUE, __VA_ARGS__)};                                                   \
    static constexpr auto values = ::evenkeel::detail::make_values(specs);                                   \
    static constexpr ::evenkeel::TypeInfo info = ::evenkeel::detail::enum_info<EvenkeelSelf>(#Type, values); \
    return info;                                                                                             \
  }
