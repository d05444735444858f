// SPDX-License-Identifier: Apache-2.0
#include "controller/apply_plan.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

enum class Lists { in_order, in_any_order };

// FNV-1a: equal in every program and version, as it is stored in objects.
std::string hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16);
  return {digits.data(), end.ptr};
}

bool contains(const Json& current, const Json& applied, Lists lists);

bool contains_items(const Json::Array& current, const Json::Array& applied, Lists lists) {
  if (lists == Lists::in_any_order) {
    return std::all_of(applied.begin(), applied.end(), [&](const Json& item) {
      return std::any_of(current.begin(), current.end(),
                         [&](const Json& other) { return contains(other, item, lists); });
    });
  }
  return std::equal(current.begin(), current.end(), applied.begin(), applied.end(),
                    [&](const Json& one, const Json& other) { return contains(one, other, lists); });
}

// An absent member is null, as one that is applied as null in order to remove it.
bool contains(const Json& current, const Json& applied, Lists lists) {
  if (applied.is_object() && current.is_object()) {
    for (const auto& [name, value] : applied.as_object())
      if (!contains(current[name], value, lists)) return false;
    return true;
  }
  if (applied.is_array() && current.is_array())
    return contains_items(current.as_array(), applied.as_array(), lists);
  return current == applied;
}

// Parts of a document that an apply of the main resource does not set.
bool is_ignored(std::string_view member) {
  return member == "status" || member == "apiVersion" || member == "kind";
}

bool has_metadata(const Json& applied, const Json& current) {
  static constexpr std::array set_by_server = {"managedFields", "resourceVersion",   "uid",
                                               "generation",    "creationTimestamp", "deletionTimestamp"};
  for (const auto& [name, value] : applied.as_object()) {
    if (std::find(set_by_server.begin(), set_by_server.end(), std::string_view(name)) != set_by_server.end())
      continue;
    if (!contains(current[name], value, Lists::in_any_order)) return false;
  }
  return true;
}

bool is_sound_name(std::string_view text) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && text.size() <= 63 && letter(text.front()) && letter(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::string applied_annotation(std::string_view field_owner) {
  return "applied.evenkeel.dev/" +
         (is_sound_name(field_owner) ? std::string(field_owner) : hash_text(field_owner));
}

std::string applied_hash(const Json& document) {
  Json hashed = document;
  hashed.erase("status");
  return hash_text(hashed.dump());  // members are sorted
}

bool has_applied(const Json& document, const Json& current) {
  if (!document.is_object()) return false;
  for (const auto& [name, value] : document.as_object()) {
    if (is_ignored(name)) continue;
    if (name == "metadata") {
      if (!has_metadata(value, current["metadata"])) return false;
      continue;
    }
    if (!contains(current[name], value, Lists::in_order)) return false;
  }
  return true;
}

// The server has no reason of its own for it: these are the words of its validation.
bool is_immutable(const ApiError& error) {
  if (!error.is_invalid()) return false;
  const auto says = [](const std::string& text) {
    return text.find("immutable") != std::string::npos || text.find("may not change") != std::string::npos ||
           (text.find("updates to ") != std::string::npos && text.find("are forbidden") != std::string::npos);
  };
  const auto& causes = error.status().causes;
  return says(error.message()) || std::any_of(causes.begin(), causes.end(),
                                              [&](const StatusCause& cause) { return says(cause.message); });
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
