// SPDX-License-Identifier: Apache-2.0
#include "controller/apply_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/server_metadata.hpp"
#include "base/ascii.hpp"
#include "base/fnv1a.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

enum class Lists { in_order, in_any_order };

constexpr std::string_view annotation_prefix = "applied.evenkeel.dev/";

// An apply replaces these as a whole: maps of labels that select (selector, nodeSelector, labelSelector), and
// references to a key. Of others than the built-in kinds the names are a guess.
bool is_atomic(std::string_view member) {
  return member.ends_with("elector") || member.ends_with("KeyRef");
}

std::string hash_text(std::string_view text) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), fnv1a(text), 16);
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
    return std::all_of(applied.as_object().begin(), applied.as_object().end(), [&](const auto& member) {
      const Json& now = current[member.name];
      return is_atomic(member.name) ? now == member.value : contains(now, member.value, lists);
    });
  }
  if (applied.is_array() && current.is_array())
    return contains_items(current.as_array(), applied.as_array(), lists);
  return current == applied;
}

// Parts of a document that an apply of the main resource does not set.
bool is_ignored(std::string_view member) {
  return member == "status" || member == "apiVersion" || member == "kind";
}

// Returns the metadata that a program states.
Json own_metadata(Json metadata) {
  erase_server_metadata(metadata);
  if (metadata.is_object()) metadata.erase("deletionTimestamp");
  return metadata;
}

// Returns the part of an error that is the server's own, without names and refused values:
// "spec.selector: Invalid value: {...}: field is immutable" gives "field is immutable".
std::string own_words(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  if (const std::size_t colon = line.rfind(": "); colon != std::string::npos) line.erase(0, colon + 2);
  return line;
}

// Returns what stands for a field owner in the name of an annotation.
std::string annotation_name(std::string_view field_owner) {
  return ascii::is_label_value(field_owner) ? std::string(field_owner) : hash_text(field_owner);
}

}  // namespace

std::string applied_annotation(std::string_view field_owner) {
  return std::string(annotation_prefix) + annotation_name(field_owner);
}

std::string dependent_annotation(std::string_view field_owner) {
  return "dependent.evenkeel.dev/" + annotation_name(field_owner);
}

void erase_apply_records(Json& metadata) {
  Json* const annotations = metadata.is_object() ? metadata.find("annotations") : nullptr;
  if (annotations == nullptr || !annotations->is_object()) return;
  std::vector<std::string> records;
  for (const auto& [name, value] : annotations->as_object()) {
    if (name.starts_with(annotation_prefix)) records.push_back(name);
  }
  for (const std::string& name : records) annotations->erase(name);
  if (annotations->as_object().empty()) metadata.erase("annotations");
}

// It must not depend on the object that an earlier apply has made.
std::string applied_hash(const Json& document) {
  Json hashed = document;
  hashed.erase("status");
  if (Json* const metadata = hashed.find("metadata")) {
    *metadata = own_metadata(std::move(*metadata));
    erase_apply_records(*metadata);
  }
  return hash_text(hashed.dump());  // members are sorted
}

bool has_applied(const Json& document, const Json& current) {
  if (!document.is_object()) return false;
  for (const auto& [name, value] : document.as_object()) {
    if (is_ignored(name)) continue;
    if (name == "metadata") {
      if (!contains(current["metadata"], own_metadata(value), Lists::in_any_order)) return false;
      continue;
    }
    if (!contains(current[name], value, Lists::in_order)) return false;
  }
  return true;
}

// The server has no reason of its own for it: these are the words of its validation.
bool is_immutable(const ApiError& error) {
  if (!error.is_invalid()) return false;
  const auto says = [](const std::string& message) {
    const std::string text = own_words(message);
    return text.find("immutable") != std::string::npos || text.find("may not change") != std::string::npos ||
           (text.find("updates to ") != std::string::npos && text.find("are forbidden") != std::string::npos);
  };
  const auto& causes = error.status().causes;
  if (causes.empty()) return says(error.message());
  return std::all_of(causes.begin(), causes.end(),
                     [&](const StatusCause& cause) { return says(cause.message); });
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
