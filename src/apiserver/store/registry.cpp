// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/registry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

#include <openssl/evp.h>

#include "apiserver/store/builtin_rules.hpp"
#include "apiserver/store/conversion.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Parses v2beta1 into {2, 1, 1}: major, maturity (2 stable, 1 beta, 0 alpha), minor.
std::optional<std::array<int, 3>> parse_version(std::string_view text) {
  if (text.size() < 2 || text[0] != 'v') return std::nullopt;
  std::array<int, 3> parts{0, 2, 0};
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data() + 1, end, parts[0]);
  if (error != std::errc()) return std::nullopt;
  if (at == end) return parts;
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  const bool beta = rest.starts_with("beta");
  if (!beta && !rest.starts_with("alpha")) return std::nullopt;
  parts[1] = beta ? 1 : 0;
  const auto minor = std::from_chars(at + (beta ? 4 : 5), end, parts[2]);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return parts;
}

ResourceType builtin_type(const BuiltinGroupVersion& group_version, const BuiltinResource& entry) {
  ResourceType type;
  type.group = group_version.group;
  type.version = group_version.version;
  type.kind = entry.kind;
  type.list_kind = entry.kind + "List";
  type.plural = entry.name;
  type.singular = entry.singular;
  type.namespaced = entry.namespaced;
  type.verbs = entry.verbs;
  type.short_names = entry.short_names;
  type.categories = entry.categories;
  type.rules = builtin_rules(type.group, type.plural);
  type.selectable_fields = builtin_selectable_fields(type.group, type.plural);
  type.only_known_fields = type.selectable_fields.empty();
  type.registry_key = builtin_registry_key(type.group, type.plural);
  for (const BuiltinResource& other : group_version.resources)
    if (other.name.starts_with(entry.name + "/")) type.subresources.push_back(other);
  type.has_status = type.subresource("status") != nullptr;
  if (type.group.empty() && type.plural == "endpoints")
    type.deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  if (type.subresource("scale")) type.scale = ScalePaths{.selector = ".spec.selector"};
  return type;
}

}  // namespace

bool version_before(std::string_view a, std::string_view b) {
  const auto left = parse_version(a);
  const auto right = parse_version(b);
  if (left && right) {
    // Stable before beta before alpha, then the higher number.
    return std::tuple((*left)[1], (*left)[0], (*left)[2]) > std::tuple((*right)[1], (*right)[0], (*right)[2]);
  }
  if (left || right) return left.has_value();
  return a < b;
}

std::string storage_version_hash(const ResourceType& type) {
  const std::string group = shared_storage(type.group, type.version, type.plural).group.value_or(type.group);
  const std::string text =
      group + "/" + (type.storage_version.empty() ? type.version : type.storage_version) + "/" + type.kind;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 16> encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), 8);
  return {encoded.begin(), encoded.begin() + length};
}

Registry::Registry(SchemaCatalog& catalog, Store& store) : catalog_(catalog), store_(store) {
  GroupVersions order;
  for (const BuiltinGroupVersion& group_version : catalog.data().group_versions()) {
    order.emplace_back(group_version.group, group_version.version);
    add_builtin(group_version);
  }
  order_ = std::make_shared<const GroupVersions>(std::move(order));
}

Registry::Registry(const Frozen& from, SchemaCatalog& catalog, Store& store)
    : catalog_(catalog),
      store_(store),
      types_(from.types_),
      order_(from.order_),
      custom_(from.custom_),
      generation_(from.generation_),
      hooked_(from.hooked_) {}

Registry::Frozen Registry::freeze() {
  Frozen out;
  out.types_ = types_.freeze();
  out.order_ = order_;
  out.custom_ = custom_;
  out.generation_ = generation_;
  out.hooked_ = hooked_;
  return out;
}

void Registry::add_builtin(const BuiltinGroupVersion& group_version) {
  for (const BuiltinResource& entry : group_version.resources) {
    if (entry.name.find('/') != std::string::npos) continue;
    ResourceType type = builtin_type(group_version, entry);
    const SharedStorage shared = shared_storage(type.group, type.version, type.plural);
    type.to_storage = shared.to_storage;
    type.from_storage = shared.from_storage;
    type.storage_version = shared.version;
    type.collection = store_.collection(shared.group.value_or(type.group), type.plural, type.namespaced).id;
    Key key{type.group, type.version, type.plural};
    types_.exchange(std::move(key), std::make_shared<const ResourceType>(std::move(type)));
  }
}

// Types are shared with other servers, so one is completed as a copy.
ResourceTypePtr Registry::completed(const Types::const_iterator& at) {
  if (at->second->schema) return at->second;
  auto type = std::make_shared<ResourceType>(*at->second);
  if (type->custom_kind) {
    type->schema = catalog_.custom(*type->custom_kind);
    type->storage_schema = type->storage_kind ? catalog_.custom(*type->storage_kind) : type->schema;
    type->table = custom_table(*type->custom_kind);
    if (type->hook)
      for (const CustomKind& kind : type->hook->kinds) type->schemas[kind.version] = catalog_.custom(kind);
  } else {
    type->schema = catalog_.builtin(type->group, type->version, type->kind);
    type->table = builtin_table(catalog_.data(), type->api_version(), type->plural);
  }
  types_.exchange(Key(at->first), type);
  return type;
}

ResourceTypePtr Registry::find(std::string_view group, std::string_view version, std::string_view plural) {
  const auto at = types_.find(Key{group, version, plural});
  return at == types_.end() ? nullptr : completed(at);
}

ResourceTypePtr Registry::find_kind(std::string_view group, std::string_view version,
                                    std::string_view kind) const {
  for (const auto& [key, type] : types_)
    if (type->group == group && type->version == version && type->kind == kind) return type;
  return nullptr;
}

ResourceTypePtr Registry::find_any(const Collection& collection) {
  auto best = types_.end();
  for (auto at = types_.begin(); at != types_.end(); ++at) {
    const ResourceType& type = *at->second;
    if (type.collection != collection.id) continue;
    if (type.hook && type.version == type.storage_version) return completed(at);
    if (best == types_.end() ||
        (type.from_storage == nullptr && version_before(type.version, best->second->version)))
      best = at;
  }
  return best == types_.end() ? nullptr : completed(best);
}

bool Registry::is_builtin_group(std::string_view group) const {
  return std::any_of(order_->begin(), order_->end(),
                     [group](const auto& entry) { return entry.first == group; });
}

void Registry::set_custom(const std::string& crd_name, std::vector<ResourceType> versions) {
  remove_custom(crd_name);
  for (ResourceType& type : versions) {
    type.shape = generation_;
    hooked_ += type.hook ? 1U : 0U;
    type.collection = store_.collection(type.group, type.plural, type.namespaced).id;
    const Key& key = custom_[crd_name].emplace_back(type.group, type.version, type.plural);
    types_.exchange(Key(key), std::make_shared<const ResourceType>(std::move(type)));
  }
}

void Registry::remove_custom(const std::string& crd_name) {
  ++generation_;
  const auto at = custom_.find(crd_name);
  if (at == custom_.end()) return;
  for (const Key& key : at->second) {
    hooked_ -= types_.find(key)->second->hook ? 1U : 0U;
    types_.extract(key);
  }
  custom_.erase(at);
}

std::vector<ResourceTypePtr> Registry::custom(const std::string& crd_name) const {
  const auto at = custom_.find(crd_name);
  std::vector<ResourceTypePtr> out;
  if (at == custom_.end()) return out;
  for (const Key& key : at->second) out.push_back(types_.find(key)->second);
  return out;
}

std::vector<ServedVersion> Registry::versions() const {
  std::vector<ServedVersion> out;
  for (const auto& [group, version] : *order_) out.push_back({group, version, {}});
  const std::size_t builtin = out.size();
  for (const auto& [key, type] : types_) {
    const auto same = [&type = type](const ServedVersion& entry) {
      return entry.group == type->group && entry.version == type->version;
    };
    auto at = std::find_if(out.begin(), out.end(), same);
    if (at == out.end()) at = out.insert(out.end(), {type->group, type->version, {}});
    at->resources.push_back(type);
  }
  std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(builtin), out.end(),
                   [](const ServedVersion& a, const ServedVersion& b) {
                     return a.group != b.group ? a.group < b.group : version_before(a.version, b.version);
                   });
  return out;
}

std::vector<CustomKind> Registry::custom_kinds() const {
  std::vector<CustomKind> out;
  for (const auto& [name, keys] : custom_)
    for (const Key& key : keys) out.push_back(*types_.find(key)->second->custom_kind);
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
