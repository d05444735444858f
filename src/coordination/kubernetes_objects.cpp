// SPDX-License-Identifier: Apache-2.0
#include "coordination/kubernetes_objects.hpp"

#include <algorithm>
#include <stdexcept>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/errors.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

// Up to this size a full list is the fastest.
constexpr std::size_t worth_a_second_request = 32UL * 1024;
// Maximum number of requests for single objects instead of a full list.
constexpr std::size_t most_single_reads = 4;
constexpr std::size_t kept_snapshots = 16;

std::size_t bytes_of(const KubernetesObjectSet& objects) {
  std::size_t bytes = 0;
  for (const auto& [name, object] : objects) {
    for (const auto& [key, entry] : object->shard.entries) bytes += key.size() + entry.value.size();
  }
  return bytes;
}

/// Returns the entries of `range`.
auto within(const Entries& entries, const KeyRange& range) {
  const auto begin = entries.lower_bound(range.begin);
  const auto end = range.end.empty() ? entries.end() : entries.lower_bound(std::max(range.begin, range.end));
  return std::pair(begin, end);
}

bool differs(const Entries& before, const Entries& now, const KeyRange& range) {
  const auto [old_begin, old_end] = within(before, range);
  const auto [new_begin, new_end] = within(now, range);
  return !std::equal(old_begin, old_end, new_begin, new_end, [](const auto& left, const auto& right) {
    return left.first == right.first && left.second.version == right.second.version;
  });
}

/// Returns the entries of the object `name`; none if it does not exist.
const Entries& entries_of(const KubernetesObjectSet& objects, const std::string& name) {
  static const Entries none;
  const auto found = objects.find(name);
  return found == objects.end() ? none : found->second->shard.entries;
}

bool differs(const KubernetesObjectSet& before, const KubernetesObjectSet& now, const KeyRange& range) {
  const auto in_now = [&](const auto& one) {
    const Entries& present = entries_of(now, one.first);
    return &present != &one.second->shard.entries && differs(one.second->shard.entries, present, range);
  };
  const auto is_new = [&](const auto& one) {
    return !before.contains(one.first) && differs({}, one.second->shard.entries, range);
  };
  return std::ranges::any_of(before, in_now) || std::ranges::any_of(now, is_new);
}

}  // namespace

/// Rejects keys of another scope: write access to one object must not give access to the scope of another.
KubernetesObject KubernetesObjectReader::decoded(const ConfigMap& map) const {
  const std::string& name = map.metadata.name;
  KubernetesObject object{.metadata = map.metadata, .shard = decode_shard(map.data, "ConfigMap " + name)};
  object.metadata.managed_fields.clear();  // not needed; the server maintains it
  const auto ours = within(object.shard.entries, prefix_range(options_.root + "/"));
  for (auto entry = ours.first; entry != ours.second; ++entry) {
    const std::string where = "ConfigMap " + name + ": data.entries: " + entry->first;
    std::string home;
    try {
      home = names_.object_of(entry->first);
    } catch (const std::invalid_argument& error) {
      throw StoreUnavailable(where + ": " + error.what());
    }
    if (home != name) throw StoreUnavailable(where + " belongs in " + home);
  }
  return object;
}

KubernetesObject KubernetesObjectReader::find(const Client& client, const std::string& name) const {
  const auto map = client.find<ConfigMap>({options_.namespace_, name});
  return map ? decoded(*map) : KubernetesObject();
}

KubernetesObjectSet KubernetesObjectReader::list(const Client& client) {
  KubernetesObjectSet known;
  {
    MutexLock lock(mutex_);
    known = known_;
  }
  std::optional<KubernetesObjectSet> now;
  if (bytes_of(known) >= worth_a_second_request) now = list_changed(client, known);
  if (!now) now = list_all(client);
  MutexLock lock(mutex_);
  known_ = *now;
  return *std::move(now);
}

KubernetesObjectSet KubernetesObjectReader::list_all(const Client& client) const {
  KubernetesObjectSet objects;
  const auto maps = client.list<ConfigMap>({.namespace_ = options_.namespace_, .label_selector = selector()});
  for (const auto& map : maps.items) {
    objects.emplace(map->metadata.name, std::make_shared<const KubernetesObject>(decoded(*map)));
  }
  return objects;
}

/// Returns the resourceVersions of all objects by name, from one consistent list.
KubernetesObjectReader::Versions KubernetesObjectReader::list_versions(const Client& client) const {
  const http::Response answer = client.raw(
      {.resource = ConfigMap::resource,
       .namespace_ = options_.namespace_,
       .query = {{"labelSelector", selector()}},
       .accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"});
  Versions versions;
  const Json list = Json::parse(answer.body, "the list of ConfigMaps");
  for (const Json& item : list["items"].as_array()) {
    const Json& metadata = item["metadata"];
    versions[metadata["name"].as_string()] = metadata["resourceVersion"].as_string();
  }
  return versions;
}

/// Returns nullopt if too many objects have changed, or one changes during the call.
std::optional<KubernetesObjectSet> KubernetesObjectReader::list_changed(
    const Client& client, const KubernetesObjectSet& known) const {
  KubernetesObjectSet now;
  std::size_t reads = 0;
  for (const auto& [name, version] : list_versions(client)) {
    const auto found = known.find(name);
    if (found != known.end() && found->second->metadata.resource_version == version) {
      now.insert(*found);
      continue;
    }
    if (++reads > most_single_reads) return std::nullopt;
    auto object = std::make_shared<const KubernetesObject>(find(client, name));
    if (object->metadata.resource_version != version) return std::nullopt;
    now.emplace(name, std::move(object));
  }
  return now;
}

void KubernetesSnapshots::keep(Version version, KubernetesObjectSet objects) {
  MutexLock lock(mutex_);
  std::erase_if(kept_, [version](const auto& one) { return one.first == version; });
  kept_.emplace_back(version, std::move(objects));
  if (kept_.size() > kept_snapshots) kept_.pop_front();
}

std::optional<std::string> KubernetesSnapshots::range_conflict(const std::vector<KeyRange>& ranges,
                                                               Version since,
                                                               const KubernetesObjectSet& now) {
  if (ranges.empty()) return std::nullopt;
  std::optional<KubernetesObjectSet> before;
  {
    MutexLock lock(mutex_);
    const auto found = std::ranges::find(kept_, since, [](const auto& one) { return one.first; });
    if (found != kept_.end()) before = found->second;
  }
  for (const KeyRange& range : ranges) {
    if (!before || differs(*before, now, range)) return range.begin;
  }
  return std::nullopt;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
