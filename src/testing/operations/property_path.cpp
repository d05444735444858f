// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/property_path.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& problem) {
  throw std::invalid_argument("operations: the path \"" + std::string(text) + "\" " + problem);
}

}  // namespace

PropertyPath PropertyPath::parse(std::string_view text) {
  PropertyPath path;
  std::size_t at = 0;
  while (at < text.size()) path.read_step(text, at);
  if (path.empty()) refuse(text, "is empty");
  return path;
}

void PropertyPath::read_step(std::string_view text, std::size_t& at) {
  if (text[at] != '[') {
    if (text[at] == '.' && at > 0) ++at;
    const std::size_t end = std::min(text.find_first_of(".[", at), text.size());
    if (end == at) refuse(text, "has an empty name");
    steps_.push_back({.name = std::string(text.substr(at, end - at))});
    at = end;
    return;
  }
  const bool quoted = text.substr(at).starts_with("[\"");
  const std::string_view closing = quoted ? "\"]" : "]";
  const std::size_t begin = at + (quoted ? 2 : 1);
  const std::size_t end = text.find(closing, begin);
  if (end == std::string_view::npos) refuse(text, "has no " + std::string(closing));
  const std::string_view inner = text.substr(begin, end - begin);
  at = end + closing.size();
  if (quoted) return steps_.push_back({.name = std::string(inner)});
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(inner.data(), inner.data() + inner.size(), index);
  if (error != std::errc() || stop != inner.data() + inner.size())
    refuse(text, "has an index that is not a number");
  steps_.push_back({.index = index});
}

PropertyPath PropertyPath::member(std::string_view name) const {
  PropertyPath path = *this;
  path.steps_.push_back({.name = std::string(name)});
  return path;
}

PropertyPath PropertyPath::item(std::size_t index) const {
  PropertyPath path = *this;
  path.steps_.push_back({.index = index});
  return path;
}

std::string PropertyPath::name() const {
  return steps_.empty() ? "" : steps_.back().name;
}

std::string PropertyPath::str() const {
  std::string text;
  for (const Step& step : steps_) {
    if (step.index) {
      text += "[" + std::to_string(*step.index) + "]";
    } else if (step.name.find_first_of("./[") != std::string::npos) {
      text += "[\"" + step.name + "\"]";
    } else {
      text += (text.empty() ? "" : ".") + step.name;
    }
  }
  return text;
}

const Json* PropertyPath::find(const Json& document) const {
  const Json* at = &document;
  for (const Step& step : steps_) {
    if (step.index) {
      if (!at->is_array() || *step.index >= at->size()) return nullptr;
      at = &(*at)[*step.index];
    } else {
      at = at->find(step.name);
      if (at == nullptr) return nullptr;
    }
  }
  return at;
}

void PropertyPath::set(Json& document, Json value) const {
  Json* at = &document;
  for (const Step& step : steps_) {
    if (step.index) {
      if (!at->is_array()) *at = Json::array();
      if (*step.index >= at->size()) at->push_back(Json());
      at = &(*at)[std::min(*step.index, at->size() - 1)];
    } else {
      if (!at->is_object()) *at = Json::object();
      at = &(*at)[step.name];
    }
  }
  *at = std::move(value);
}

void PropertyPath::erase(Json& document) const {
  PropertyPath parent = *this;
  const Step last = parent.steps_.back();
  parent.steps_.pop_back();
  Json* const holder = const_cast<Json*>(parent.find(document));
  if (holder == nullptr) return;
  if (!last.index) {
    holder->erase(last.name);
  } else if (holder->is_array() && *last.index < holder->size()) {
    Json::Array& items = holder->as_array();
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(*last.index));
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
