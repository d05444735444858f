// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/end_state.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <evenkeel/base/object_key.hpp>

#include "api/server_metadata.hpp"
#include "controller/apply_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Replacements of texts: uids, and generated names.
using Names = std::map<std::string, std::string, std::less<>>;

ObjectKey key_of(const Json& object) {
  const Json& metadata = object["metadata"];
  return {metadata["namespace"].string_or(""), metadata["name"].string_or("")};
}

// Returns the name, or the prefix and '*' if it was generated.
std::string stable_name(const Json& object) {
  const std::string name = key_of(object).name;
  const std::string prefix = object.at({"metadata", "generateName"}).string_or("");
  return !prefix.empty() && name.starts_with(prefix) ? prefix + "*" : name;
}

std::string stable_key(const Listed& listed, const Json& object) {
  return listed.resource + " " + ObjectKey{key_of(object).namespace_, stable_name(object)}.str();
}

// "2026-01-01T00:00:00Z", with or without a fraction.
bool is_timestamp(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00";
  if (text.size() <= shape.size()) return false;
  for (std::size_t at = 0; at < shape.size(); ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (shape[at] == '0' ? !digit : text[at] != shape[at]) return false;
  }
  return true;
}

// Replaces the values below a document.
class Cleaner {
 public:
  Cleaner(const Names& names, std::int64_t generation) : names_(names), generation_(generation) {}

  void clean(Json& value) const {
    if (value.is_string()) return clean_text(value);
    if (value.is_array()) {
      for (Json& item : value.as_array()) clean(item);
    } else if (value.is_object()) {
      for (auto& [name, member] : value.as_object()) {
        clean(member);
        if (name == "observedGeneration" && member.is_integer()) member = member.as_integer() - generation_;
      }
    }
  }

 private:
  void clean_text(Json& value) const {
    const std::string& text = value.as_string();
    if (is_timestamp(text)) {
      value = Json("<time>");
    } else if (const auto found = names_.find(text); found != names_.end()) {
      value = Json(found->second);
    }
  }

  const Names& names_;
  const std::int64_t generation_;
};

void forget_missing_owners(Json& object, const Names& names) {
  Json* const owners = object["metadata"].find("ownerReferences");
  if (owners == nullptr || !owners->is_array()) return;
  for (Json& owner : owners->as_array()) {
    if (!names.contains(owner["uid"].string_or(""))) owner["uid"] = Json("<uid of nothing>");
  }
}

Json cleaned(Json object, const Names& names, const std::function<void(Json&)>& change) {
  const std::int64_t generation = object.at({"metadata", "generation"}).integer_or(0);
  v0::detail::erase_server_metadata(object["metadata"]);
  v0::detail::erase_apply_records(object["metadata"]);
  Cleaner(names, generation).clean(object);
  if (change) change(object);
  return object;
}

Names names_of(const std::vector<Listed>& listed) {
  Names names;
  for (const Listed& one : listed) {
    for (const Json& object : one.objects) {
      const std::string name = key_of(object).name;
      const std::string stable = stable_name(object);
      names[object.at({"metadata", "uid"}).string_or("")] = "<uid of " + stable_key(one, object) + ">";
      if (name != stable) names[name] = stable;
    }
  }
  return names;
}

}  // namespace

EndState end_state(const std::vector<Listed>& listed, const std::function<void(Json&)>& change) {
  const Names names = names_of(listed);
  std::multimap<std::string, Json> objects;
  for (const Listed& one : listed) {
    for (Json object : one.objects) {
      forget_missing_owners(object, names);
      std::string key = stable_key(one, object);
      objects.emplace(std::move(key), cleaned(std::move(object), names, change));
    }
  }
  EndState state;
  for (auto group = objects.begin(); group != objects.end();) {
    const auto end = objects.upper_bound(group->first);
    std::vector<Json> alike;
    for (auto at = group; at != end; ++at) alike.push_back(std::move(at->second));
    std::sort(alike.begin(), alike.end(),
              [](const Json& left, const Json& right) { return left.dump() < right.dump(); });
    const bool generated = group->first.ends_with('*');
    for (std::size_t at = 0; at < alike.size(); ++at)
      state[group->first + (generated ? std::to_string(at + 1) : "")] = std::move(alike[at]);
    group = end;
  }
  return state;
}

Json comparable(const Json& object, const std::function<void(Json&)>& change) {
  return object.is_null() ? Json() : cleaned(object, {}, change);
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
