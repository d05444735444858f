// SPDX-License-Identifier: Apache-2.0
// A JSON document as a value, used for dynamic objects, patches and the embedded API server. The parser is in
// src/, so there is no third-party type in this header; api/nlohmann.hpp converts.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

/// Input that is malformed or has an unexpected type. what() is "where: expected X, found Y"; `where` names
/// the object and the field, as far as they are known: "pods/default/web-0: spec.replicas".
class EVENKEEL_API DecodeError : public Error {
 public:
  DecodeError(std::string where, const std::string& problem)
      : Error(where.empty() ? problem : where + ": " + problem),
        where_(std::move(where)),
        problem_(problem) {}
  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string where_;
  std::string problem_;
};

/// A JSON value: null, bool, integer (64 bits, signed), number, string, array or object. Members of objects
/// are sorted by name, as the API server writes them, so that equal documents have equal text. Regular:
/// copies are deep, == compares by value; an integer and a number of the same value are equal.
/// Thread safety: like standard containers.
class EVENKEEL_API Json {
 public:
  using Array = std::vector<Json>;
  struct Member;
  /// Members sorted by name; at most one per name. Iterates as `for (auto& [name, value] : object)`;
  /// names must not be changed.
  class EVENKEEL_API Object {
   public:
    using iterator = Member*;
    using const_iterator = const Member*;
    iterator begin() noexcept;
    iterator end() noexcept;
    const_iterator begin() const noexcept;
    const_iterator end() const noexcept;
    std::size_t size() const noexcept;
    bool empty() const noexcept { return size() == 0; }
    Json* find(std::string_view name) noexcept;
    const Json* find(std::string_view name) const noexcept;
    /// Returns the value of `name`, inserted as null if absent.
    Json& operator[](std::string_view name);
    bool erase(std::string_view name);
    void reserve(std::size_t count);
    bool operator==(const Object& other) const noexcept;

   private:
    std::vector<Member> members_;
  };
  enum class Kind : std::uint8_t { null, boolean, integer, number, string, array, object };

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  Json(bool value) noexcept;
  /// Integers above the maximum of int64 become the nearest double.
  Json(std::integral auto value) noexcept : Json(wrapped(value)) {}
  Json(double value) noexcept;
  Json(std::string value) noexcept;
  Json(std::string_view value);
  Json(const char* value);
  Json(Array value) noexcept;
  Json(Object value) noexcept;
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  /// `Json::object({{"name", "web"}, {"replicas", 3}})`, `Json::array({1, 2})`.
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});
  static Json array(std::initializer_list<Json> items = {});

  /// Parses a document; throws DecodeError with line and column. `name` stands for the input in errors. Of
  /// duplicate members the last wins. Nesting deeper than 512 levels is rejected.
  static Json parse(std::string_view text, std::string_view name = "JSON");
  /// Returns compact text; with indent >= 0, one member per line.
  std::string dump(int indent = -1) const;
  void dump_to(std::string& out) const;

  Kind kind() const noexcept;
  /// Returns "null", "boolean", "integer", "number", "string", "array" or "object".
  std::string_view kind_name() const noexcept;
  bool is_null() const noexcept { return kind() == Kind::null; }
  bool is_bool() const noexcept { return kind() == Kind::boolean; }
  bool is_integer() const noexcept { return kind() == Kind::integer; }
  bool is_number() const noexcept { return kind() == Kind::integer || kind() == Kind::number; }
  bool is_string() const noexcept { return kind() == Kind::string; }
  bool is_array() const noexcept { return kind() == Kind::array; }
  bool is_object() const noexcept { return kind() == Kind::object; }

  /// Returns the value; throws DecodeError if it is of another kind. as_number() accepts integers, too.
  bool as_bool() const;
  std::int64_t as_integer() const;
  double as_number() const;
  const std::string& as_string() const;
  std::string& as_string();
  const Array& as_array() const;
  Array& as_array();
  const Object& as_object() const;
  Object& as_object();

  /// Returns the value, or `otherwise` if it is of another kind (also when absent: see at()).
  bool bool_or(bool otherwise) const noexcept;
  std::int64_t integer_or(std::int64_t otherwise) const noexcept;
  std::string string_or(std::string_view otherwise) const;

  /// Returns a member or item; null if it does not exist or this is not an object or array. Never throws,
  /// never inserts. The reference is valid until this document changes.
  const Json& operator[](std::string_view member) const noexcept;
  const Json& operator[](const char* member) const noexcept { return (*this)[std::string_view(member)]; }
  const Json& operator[](std::integral auto index) const noexcept {
    return item(static_cast<std::size_t>(index));
  }
  /// Returns the member, inserted as null if absent. A null value becomes an object first; any other kind
  /// throws. Insertion moves the other members: `json["a"] = json["b"]` needs a copy of the right side first.
  Json& operator[](std::string_view member);
  Json& operator[](const char* member) { return (*this)[std::string_view(member)]; }
  Json& operator[](std::integral auto index) { return item(static_cast<std::size_t>(index)); }

  /// Returns member `name`, or nullptr if it is absent or this is not an object.
  const Json* find(std::string_view name) const noexcept;
  Json* find(std::string_view name) noexcept;
  bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// Follows a path of members (and array indexes); null if any step is absent: at({"metadata", "name"}).
  const Json& at(std::initializer_list<std::string_view> path) const noexcept;
  /// Removes a member; returns whether it existed.
  bool erase(std::string_view name);
  void push_back(Json item);
  /// Number of items or members; 0 for other kinds.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }

  bool operator==(const Json& other) const noexcept;

 private:
  const Json& item(std::size_t index) const noexcept;
  Json& item(std::size_t index);

  struct Integer {
    std::int64_t value;
  };
  struct Unsigned {
    std::uint64_t value;
  };
  explicit Json(Integer value) noexcept;
  explicit Json(Unsigned value) noexcept;
  template <std::integral I>
  static constexpr auto wrapped(I value) noexcept {
    if constexpr (std::is_unsigned_v<I> && sizeof(I) == sizeof(std::uint64_t)) {
      return Unsigned{value};
    } else {
      return Integer{static_cast<std::int64_t>(value)};
    }
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

}  // namespace v0
}  // namespace evenkeel
