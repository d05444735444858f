// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <evenkeel/api/patch.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

/// The problem of one operation, before its index is known.
struct Problem {
  std::string text;
};

Json without_nulls(const Json& value) {
  if (!value.is_object()) return value;
  Json::Object out;
  for (const auto& [name, member] : value.as_object()) {
    if (!member.is_null()) out[name] = without_nulls(member);
  }
  return Json(std::move(out));
}

void merge_into(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (const auto& [name, value] : patch.as_object()) {
    if (value.is_null()) {
      target.erase(name);
    } else {
      merge_into(target[name], value);
    }
  }
}

// ---- JSON pointers (RFC 6901) ----

std::vector<std::string> parse_pointer(const std::string& text) {
  std::vector<std::string> steps;
  if (text.empty()) return steps;
  if (text.front() != '/') throw Problem{"a path begins with \"/\""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      steps.emplace_back();
    } else if (text[i] != '~') {
      steps.back() += text[i];
    } else if (i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      steps.back() += text[++i] == '0' ? '~' : '/';
    } else {
      throw Problem{"\"~\" in a path is followed by 0 or 1"};
    }
  }
  return steps;
}

void append_step(std::string& pointer, std::string_view step) {
  pointer += '/';
  for (const char c : step) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

/// Parses an index by RFC 6901: no sign, no leading zero, at most `last`.
std::size_t parse_index(std::string_view step, std::size_t last) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = error == std::errc() && end == step.data() + step.size();
  if (!whole || step.empty() || (step.size() > 1 && step.front() == '0'))
    throw Problem{"\"" + std::string(step) + "\" is not a list index"};
  if (index > last) throw Problem{"no item " + std::string(step)};
  return index;
}

Json& walk(Json& root, std::span<const std::string> steps) {
  Json* place = &root;
  for (const std::string& step : steps) {
    if (place->is_array()) {
      if (place->empty()) throw Problem{"no item " + step};
      place = &(*place)[parse_index(step, place->size() - 1)];
    } else if (Json* member = place->find(step)) {
      place = member;
    } else {
      throw Problem{"no member \"" + step + "\""};
    }
  }
  return *place;
}

void add_at(Json& root, const std::vector<std::string>& path, Json value) {
  if (path.empty()) {
    root = std::move(value);
    return;
  }
  Json& parent = walk(root, std::span(path).first(path.size() - 1));
  if (parent.is_object()) {
    parent[path.back()] = std::move(value);
  } else if (parent.is_array()) {
    Json::Array& items = parent.as_array();
    const std::size_t index = path.back() == "-" ? items.size() : parse_index(path.back(), items.size());
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
  } else {
    throw Problem{"the parent is neither an object nor a list"};
  }
}

Json take_from(Json& root, const std::vector<std::string>& path) {
  if (path.empty()) return std::exchange(root, Json());
  Json& parent = walk(root, std::span(path).first(path.size() - 1));
  Json taken = std::exchange(walk(parent, std::span(path).last(1)), Json());
  if (parent.is_array()) {
    Json::Array& items = parent.as_array();
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(parse_index(path.back(), items.size() - 1)));
  } else {
    parent.erase(path.back());
  }
  return taken;
}

const std::string& text_of(const Json& operation, std::string_view member) {
  const Json& value = operation[member];
  if (!value.is_string()) throw Problem{"needs \"" + std::string(member) + "\", a string"};
  return value.as_string();
}

const Json& value_of(const Json& operation) {
  const Json* value = operation.find("value");
  if (value == nullptr) throw Problem{"needs \"value\""};
  return *value;
}

bool is_prefix(const std::vector<std::string>& start, const std::vector<std::string>& path) {
  return start.size() < path.size() && std::equal(start.begin(), start.end(), path.begin());
}

void apply_one(Json& target, const Json& operation) {
  if (!operation.is_object()) throw Problem{"is not an object"};
  const std::string& op = text_of(operation, "op");
  const auto path = parse_pointer(text_of(operation, "path"));
  if (op == "add") {
    add_at(target, path, value_of(operation));
  } else if (op == "remove") {
    take_from(target, path);
  } else if (op == "replace") {
    walk(target, path) = value_of(operation);
  } else if (op == "test") {
    if (walk(target, path) != value_of(operation)) throw Problem{"the value differs"};
  } else if (op == "copy") {
    add_at(target, path, Json(walk(target, parse_pointer(text_of(operation, "from")))));
  } else if (op == "move") {
    const auto from = parse_pointer(text_of(operation, "from"));
    if (is_prefix(from, path)) throw Problem{"moves a value into itself"};
    add_at(target, path, take_from(target, from));
  } else {
    throw Problem{"unknown operation"};
  }
}

std::string name_of(std::size_t index, const Json& operation) {
  std::string name = "operation " + std::to_string(index);
  if (operation.is_object())
    name += " (" + operation["op"].string_or("?") + " \"" + operation["path"].string_or("?") + "\")";
  return name;
}

// ---- Computing JSON patches ----

void diff(const std::string& path, const Json& before, const Json& after, Json::Array& out);

Json operation(std::string_view op, const std::string& path) {
  return Json::object({{"op", op}, {"path", path}});
}

void diff_objects(const std::string& path, const Json& before, const Json& after, Json::Array& out) {
  for (const auto& [name, value] : before.as_object()) {
    std::string here = path;
    append_step(here, name);
    if (const Json* now = after.find(name)) {
      diff(here, value, *now, out);
    } else {
      out.push_back(operation("remove", here));
    }
  }
  for (const auto& [name, value] : after.as_object()) {
    if (before.contains(name)) continue;
    std::string here = path;
    append_step(here, name);
    out.push_back(operation("add", here));
    out.back()["value"] = value;
  }
}

void diff_arrays(const std::string& path, const Json::Array& before, const Json::Array& after,
                 Json::Array& out) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  const std::size_t common = shorter - head - tail;
  for (std::size_t i = head; i < head + common; ++i)
    diff(path + "/" + std::to_string(i), before[i], after[i], out);
  for (std::size_t i = before.size() - tail; i > head + common; --i)
    out.push_back(operation("remove", path + "/" + std::to_string(i - 1)));
  for (std::size_t i = head + common; i < after.size() - tail; ++i) {
    out.push_back(operation("add", path + "/" + std::to_string(i)));
    out.back()["value"] = after[i];
  }
}

void diff(const std::string& path, const Json& before, const Json& after, Json::Array& out) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) return diff_objects(path, before, after, out);
  if (before.is_array() && after.is_array())
    return diff_arrays(path, before.as_array(), after.as_array(), out);
  out.push_back(operation("replace", path));
  out.back()["value"] = after;
}

}  // namespace

std::string_view content_type(PatchType type) noexcept {
  switch (type) {
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::strategic:
      return "application/strategic-merge-patch+json";
    case PatchType::apply:
      return "application/apply-patch+yaml";
  }
  return "";
}

Json merge_patch(const Json& before, const Json& after) {
  if (!before.is_object() || !after.is_object()) return without_nulls(after);
  Json::Object patch;
  for (const auto& [name, value] : before.as_object()) {
    if (!value.is_null() && after[name].is_null()) patch[name] = Json();
  }
  for (const auto& [name, value] : after.as_object()) {
    const Json& old = before[name];
    if (value.is_null() || value == old) continue;
    if (value.is_object() && old.is_object()) {
      Json inner = merge_patch(old, value);
      if (!inner.empty()) patch[name] = std::move(inner);
    } else {
      patch[name] = without_nulls(value);
    }
  }
  return Json(std::move(patch));
}

Json apply_merge_patch(Json target, const Json& patch) {
  merge_into(target, patch);
  return target;
}

Json json_patch(const Json& before, const Json& after) {
  Json::Array out;
  diff("", before, after, out);
  return Json(std::move(out));
}

Json apply_json_patch(Json target, const Json& patch) {
  if (!patch.is_array())
    throw PatchError(0, "a JSON patch is a list of operations, found " + std::string(patch.kind_name()));
  std::size_t index = 0;
  for (const Json& each : patch.as_array()) {
    try {
      apply_one(target, each);
    } catch (const Problem& problem) {
      throw PatchError(index, name_of(index, each) + ": " + problem.text);
    }
    ++index;
  }
  return target;
}

}  // namespace v0
}  // namespace evenkeel
