// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/api/dynamic.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

std::optional<std::string_view> entry(const Json& map, std::string_view name) noexcept {
  const Json& value = map[name];
  if (!value.is_string()) return std::nullopt;
  return std::string_view(value.as_string());
}

}  // namespace

EVENKEEL_DEFINE_FIELDS(PartialObject, (api_version, omit_empty), (kind, omit_empty), metadata)

DynamicObject::DynamicObject(const ResourceId& resource, std::string_view namespace_, std::string_view name)
    : body_(Json::object({{"apiVersion", resource.api_version()}, {"kind", resource.kind}})) {
  body_["metadata"]["name"] = name;
  if (!namespace_.empty()) body_["metadata"]["namespace"] = namespace_;
}

std::optional<std::string_view> DynamicObject::label(std::string_view name) const noexcept {
  return entry(body_.at({"metadata", "labels"}), name);
}

std::optional<std::string_view> DynamicObject::annotation(std::string_view name) const noexcept {
  return entry(body_.at({"metadata", "annotations"}), name);
}

std::vector<std::string> DynamicObject::finalizers() const {
  std::vector<std::string> out;
  const Json& list = body_.at({"metadata", "finalizers"});
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list[i].string_or(""));
  return out;
}

ObjectMeta DynamicObject::metadata() const {
  const Json& metadata = body_.at({"metadata"});
  return metadata.is_null() ? ObjectMeta() : from_tree<ObjectMeta>(metadata, what() + ": metadata");
}

std::string DynamicObject::what() const {
  const std::string kind_name(kind().empty() ? "object" : kind());
  const std::string name = key().str();
  return name.empty() ? kind_name : kind_name + " " + name;
}

std::string_view DynamicObject::text(std::initializer_list<std::string_view> path) const noexcept {
  const Json& value = body_.at(path);
  return value.is_string() ? std::string_view(value.as_string()) : std::string_view();
}

std::map<std::string, std::string> DynamicObject::texts(std::string_view member) const {
  std::map<std::string, std::string> out;
  const Json& map = body_.at({"metadata", member});
  if (!map.is_object()) return out;
  for (const auto& [name, value] : map.as_object()) out.emplace(name, value.string_or(""));
  return out;
}

}  // namespace v0
}  // namespace evenkeel
