// SPDX-License-Identifier: Apache-2.0
// Conversion of described types to and from JSON, as text and as a Json tree. One interpreter in src/ walks
// the field tables.
//
// Encoding: plain scalars are always written (except fields marked omit_empty); optionals when set; lists and
// maps when not empty; plain nested structs when any part of them is written. An optional struct that is set
// is written even if it is {}, and so is an optional that is set to an empty list or map. Objects with a kind
// begin with apiVersion and kind, and their metadata is always written.
//
// Decoding: fields that the type does not declare are skipped; null is equivalent to absent, and absent
// fields keep the member's initialiser. Values of another type, integers out of range, unknown enumeration
// values and objects of another kind throw DecodeError.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {

// ---- Untyped forms: `object` points to a value of the type that `type` describes ----

EVENKEEL_API std::string to_json(const TypeInfo& type, const void* object);
EVENKEEL_API Json to_tree(const TypeInfo& type, const void* object);
/// `object` must be default-constructed. `what` names the document in errors: "pods/default/web-0".
EVENKEEL_API void from_json(const TypeInfo& type, void* object, std::string_view text,
                            std::string_view what = {});
EVENKEEL_API void from_tree(const TypeInfo& type, void* object, const Json& tree, std::string_view what = {});

// ---- Typed forms ----

/// Returns the compact JSON text of `value`: a described type, or any type that a described type may contain.
/// Thread safety: may be called concurrently, like all functions in this header.
template <class T>
std::string to_json(const T& value) {
  return to_json(type_info<T>(), &value);
}

template <class T>
Json to_tree(const T& value) {
  return to_tree(type_info<T>(), &value);
}

/// Parses `text`. Throws DecodeError, for example "pods/default/web-0: spec.containers[0].image: expected
/// string, found integer 5". Parts of the text that the type does not declare are skipped without validation.
template <class T>
T from_json(std::string_view text, std::string_view what = {}) {
  T value{};
  from_json(type_info<T>(), &value, text, what);
  return value;
}

template <class T>
T from_tree(const Json& tree, std::string_view what = {}) {
  T value{};
  from_tree(type_info<T>(), &value, tree, what);
  return value;
}

}  // namespace v0
}  // namespace evenkeel
