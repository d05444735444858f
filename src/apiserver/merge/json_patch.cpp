// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/json_patch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "apiserver/schema/strict_fields.hpp"
#include "apiserver/text/go_json.hpp"
#include "apiserver/text/json_problem.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::array<std::string_view, 4> known_members = {"op", "path", "from", "value"};

// Source: apiserver pkg/server/config.go JSONPatchMaxCopyBytes; json.cpp's limit of nesting.
constexpr std::size_t max_copied = 3 * 1024 * 1024;
constexpr int max_depth = 512;

[[noreturn]] void refuse(const std::string& problem) {
  throw JsonPatchError(problem);
}

std::string unescaped(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escaped = step[i] == '~' && i + 1 < step.size() && (step[i + 1] == '0' || step[i + 1] == '1');
    out += !escaped ? step[i] : step[++i] == '0' ? '~' : '/';
  }
  return out;
}

/// Parses an index like strconv.Atoi: signs and leading zeros are accepted.
std::int64_t index_in(std::string_view step) {
  const bool plus = step.size() > 1 && step.front() == '+' && step[1] != '-';
  const char* begin = step.data() + (plus ? 1 : 0);
  std::int64_t index = 0;
  const auto read = std::from_chars(begin, step.data() + step.size(), index);
  if (step.empty() || read.ec != std::errc() || read.ptr != step.data() + step.size())
    refuse("no index: " + std::string(step));
  return index;
}

/// Resolves an index; negative ones count from `size`.
std::size_t place_of(std::string_view step, std::size_t size, std::size_t last) {
  std::int64_t index = index_in(step);
  if (index > static_cast<std::int64_t>(last) || index < -static_cast<std::int64_t>(size))
    refuse("no such index: " + std::string(step));
  if (index < 0) index += static_cast<std::int64_t>(size);
  return static_cast<std::size_t>(index);
}

std::size_t present_place(std::string_view step, const Json& list) {
  if (list.empty()) refuse("no such index: " + std::string(step));
  return place_of(step, list.size(), list.size() - 1);
}

/// The target of an operation: an object or a list, and the last step of the path.
struct Place {
  Json& container;
  std::string key;
};

Place find_place(Json& document, const std::string& path) {
  std::vector<std::string> steps;
  for (std::string_view rest = path;;) {
    const auto slash = rest.find('/');
    steps.push_back(unescaped(rest.substr(0, slash)));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (steps.size() < 2) refuse("no path: " + path);
  Json* at = &document;
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    at = at->is_array() ? &(*at)[present_place(steps[i], *at)] : at->find(steps[i]);
    if (at == nullptr || (!at->is_array() && !at->is_object())) refuse("missing path: " + path);
  }
  return {*at, steps.back()};
}

/// Returns the value at the target; null if a member is missing.
const Json& value_at(const Place& place) {
  const Json& container = place.container;
  if (container.is_array()) return container[present_place(place.key, container)];
  return container[place.key];
}

void add(const Place& place, Json value) {
  if (place.container.is_object()) {
    place.container[place.key] = std::move(value);
    return;
  }
  Json::Array& items = place.container.as_array();
  const std::size_t at =
      place.key == "-" ? items.size() : place_of(place.key, items.size() + 1, items.size());
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), std::move(value));
}

void remove(const Place& place) {
  if (place.container.is_object()) {
    if (!place.container.erase(place.key)) refuse("nothing to remove: " + place.key);
    return;
  }
  Json::Array& items = place.container.as_array();
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(present_place(place.key, place.container)));
}

void replace(Json& document, const std::string& path, const Json& value) {
  if (path.empty()) {
    if (!value.is_object() && !value.is_array()) refuse("a document is an object or a list");
    document = value;
    return;
  }
  const Place place = find_place(document, path);
  if (place.container.is_object())
    place.container[place.key] = value;
  else
    place.container[present_place(place.key, place.container)] = value;
}

void test(Json& document, const std::string& path, const Json& value) {
  if ((path.empty() ? document : value_at(find_place(document, path))) != value)
    refuse("the value differs: " + path);
}

const std::string& text_of(const Json& operation, std::string_view member) {
  const Json& value = operation[member];
  if (!value.is_string()) refuse("no " + std::string(member));
  return value.as_string();
}

int depth_of(const Json& value) {
  int below = 0;
  if (value.is_array())
    for (const Json& item : value.as_array()) below = std::max(below, depth_of(item));
  if (value.is_object())
    for (const auto& [name, member] : value.as_object()) below = std::max(below, depth_of(member));
  return below + 1;
}

int steps_in(const std::string& path) {
  return static_cast<int>(std::min<std::ptrdiff_t>(std::count(path.begin(), path.end(), '/'), 2 * max_depth));
}

/// A document to which operations are applied. Limits the memory used by copies of copies, and the nesting.
class Patching {
 public:
  explicit Patching(Json& document) : document_(document), depth_(depth_of(document)) {}

  void apply(const Json& operation) {
    const std::string op = operation["op"].string_or("unknown");
    const Json& value = operation["value"];
    if (op == "test") return test(document_, text_of(operation, "path"), value);
    if (op == "remove") return remove(find_place(document_, text_of(operation, "path")));
    const std::string& path = text_of(operation, "path");
    if (op == "add" || op == "replace") {
      nest(steps_in(path) + depth_of(value));
      if (op == "replace") return replace(document_, path, value);
      return add(find_place(document_, path), value);
    }
    if (op != "move" && op != "copy") refuse("unexpected operation: " + op);
    const std::string& source = text_of(operation, "from");
    const Place from = find_place(document_, source);
    Json moved;
    if (op == "copy") {
      const Json& copied = value_at(from);
      copied_ += copied.dump().size();
      if (copied_ > max_copied) refuse("the copies are larger than 3 MiB");
      moved = copied;
    } else {
      moved = taken(from);
    }
    // A moved value is at most as deep as the document: measure it only if that bound is not sufficient.
    const int below = std::max(1, depth_ - steps_in(source));
    nest(steps_in(path) + (steps_in(path) + below > max_depth ? depth_of(moved) : below));
    add(find_place(document_, path), std::move(moved));
  }

 private:
  static Json taken(const Place& from) {
    Json* const member = from.container.is_object() ? from.container.find(from.key) : nullptr;
    Json value;
    if (member != nullptr)
      value = std::move(*member);
    else
      value = value_at(from);
    remove(from);
    return value;
  }

  void nest(int depth) {
    if (depth > max_depth) refuse("nested deeper than " + std::to_string(max_depth) + " levels");
    depth_ = std::max(depth_, depth);
  }

  Json& document_;
  int depth_;               ///< at least that of the document
  std::size_t copied_ = 0;  ///< bytes of text
};

bool has_test(const Json& operations) {
  const auto is_test = [](const Json& operation) { return operation["op"].string_or("") == "test"; };
  return operations.is_array() && std::ranges::any_of(operations.as_array(), is_test);
}

/// Returns the operations with the tokens of their values.
Json with_tokens(Json operations, std::string_view text) {
  const Json tokens = parse_tokens(text);
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (const Json* value = tokens[i].find("value")) operations[i]["value"] = *value;
  return operations;
}

void drop_nulls(Json& value) {
  if (value.is_array())
    for (Json& item : value.as_array()) drop_nulls(item);
  if (!value.is_object()) return;
  std::vector<std::string> gone;
  for (auto& [name, member] : value.as_object()) {
    if (member.is_null()) gone.push_back(name);
    drop_nulls(member);
  }
  for (const std::string& name : gone) value.erase(name);
}

void merge_into(Json& target, const Json& patch) {
  for (const auto& [name, value] : patch.as_object()) {
    Json* present = target.find(name);
    if (value.is_null()) {
      target.erase(name);
    } else if (present != nullptr && present->is_object() && value.is_object()) {
      merge_into(*present, value);
    } else {
      const bool bare = present == nullptr || !present->is_object();
      if (bare) drop_nulls(target[name] = value);
      if (!bare) *present = value;
    }
  }
}

}  // namespace

Json apply_lax_json_patch(Json document, const Json& operations, std::string_view text) {
  if (!operations.is_array()) return document;
  const bool tests = has_test(operations);
  if (tests) document = parse_tokens(go_json(document));
  const Json tokens = tests ? with_tokens(operations, text) : Json();
  for (Patching patching(document); const Json& operation : (tests ? tokens : operations).as_array())
    patching.apply(operation);
  return tests ? from_tokens(document) : document;
}

Json apply_lax_merge_patch(Json document, const Json& patch) {
  merge_into(document, patch);
  return document;
}

std::string json_patch_decode_problem(const Json& operations) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Json& operation = operations[i];
    const std::string place = "[" + std::to_string(i) + "]";
    if (!operation.is_object() && !operation.is_null()) return wrong_type(place, "an object", operation);
    for (const char* member : {"op", "path", "from"}) {
      const Json& value = operation[member];
      if (!value.is_string() && !value.is_null()) return wrong_type(place + "." + member, "a string", value);
    }
  }
  return "";
}

std::vector<std::string> json_patch_strict_problems(std::string_view text, const Json& operations) {
  std::vector<std::string> problems;
  for (const std::string& path : duplicate_fields(text))
    problems.push_back("json patch duplicate field \"" + path + "\"");
  if (!operations.is_array()) return problems;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].is_object()) continue;
    for (const auto& [name, value] : operations[i].as_object())
      if (std::find(known_members.begin(), known_members.end(), name) == known_members.end())
        problems.push_back("json patch unknown field \"[" + std::to_string(i) + "]." + name + "\"");
  }
  return problems;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
