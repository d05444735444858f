// SPDX-License-Identifier: Apache-2.0
#include "testing/resource_type.hpp"

#include <algorithm>

namespace evenkeel::inline v0::testing {

bool ResourceType::has_verb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const BuiltinResource* ResourceType::subresource(std::string_view name) const {
  for (const BuiltinResource& entry : subresources)
    if (std::string_view(entry.name).substr(plural.size() + 1) == name) return &entry;
  return nullptr;
}

std::string ResourceType::head() const {
  return "\"kind\":\"" + kind + "\",\"apiVersion\":\"" + api_version() + "\"";
}

Json ResourceType::document(const Stored& object) const {
  Json body = object.body();
  if (from_storage) body = from_storage(std::move(body));
  body["apiVersion"] = api_version();
  body["kind"] = kind;
  return body;
}

void ResourceType::append_members(const Stored& object, std::string& out) const {
  if (!from_storage) {
    out += object.text();
    return;
  }
  const std::string whole = from_storage(object.body()).dump();
  out.append(whole, 1, whole.size() - 2);
}

std::string ResourceType::text(const Stored& object) const {
  std::string out = "{";
  out.append(head()).append(",");
  append_members(object, out);
  out += '}';
  return out;
}

}  // namespace evenkeel::inline v0::testing
