// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/store.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "apiserver/text/member_path.hpp"
#include "base/json_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

const Json& ParsedBodies::body(const StoredPtr& object) {
  const auto known = bodies_.find(object);
  if (known != bodies_.end()) return known->second;
  add(object, object->document());
  return bodies_.find(object)->second;
}

void ParsedBodies::add(StoredPtr object, Json body) {
  bytes_ += object->text().size();
  order_.push_back(object);
  bodies_.emplace(std::move(object), std::move(body));
}

void ParsedBodies::trim() {
  while (bytes_ > limit_) {
    bytes_ -= order_.front()->text().size();
    bodies_.erase(order_.front());
    order_.pop_front();
  }
}

Stored::Stored(const Json& body, std::uint64_t version, StoredForm form)
    : version_(version), form_(std::move(form)) {
  const Json& metadata = body["metadata"];
  name_ = metadata["name"].string_or("");
  space_ = metadata["namespace"].string_or("");
  uid_ = metadata["uid"].string_or("");
  deleting_ = !metadata["deletionTimestamp"].is_null();
  write_text(body);
}

void Stored::begin_member(std::string_view name) {
  if (!text_.empty() && text_.back() != '{') text_ += ',';
  append_json_string(text_, name);
  text_ += ':';
}

void Stored::write_text(const Json& body) {
  for (const auto& [name, value] : body.as_object()) {
    begin_member(name);
    if (name == "metadata" && value.is_object())
      write_metadata(value.as_object());
    else
      value.dump_to(text_);
    if (name <= "metadata") rest_ = static_cast<std::uint32_t>(text_.size() + 1);
  }
  rest_ = std::min(rest_, static_cast<std::uint32_t>(text_.size()));
  text_.shrink_to_fit();
}

void Stored::write_metadata(const Json::Object& metadata) {
  text_ += '{';
  for (const auto& [name, value] : metadata) {
    begin_member(name);
    const auto start = static_cast<std::uint32_t>(text_.size());
    value.dump_to(text_);
    const auto size = static_cast<std::uint32_t>(text_.size()) - start;
    if (name == "labels" && value.is_object()) labels_ = {start + 1, size - 2};
    if (name == "ownerReferences" && !value.is_null()) owners_ = {start, size};
  }
  text_ += '}';
}

Json Stored::document() const {
  return Json::parse("{" + text_ + "}");
}

Json Stored::part(std::string_view path) const {
  // Most of the text is before spec and status.
  const bool late = path.substr(0, path.find('.')) > "metadata";
  return value_in_text(std::string_view(text_).substr(late ? rest_ : 0), path);
}

Json Stored::label(std::string_view name) const {
  return member_in_text(view(labels_), name);
}

Json Stored::owners() const {
  return owners_.size == 0 ? Json() : Json::parse(owners_text());
}

StoredPtr Stored::with_version(std::uint64_t version) const {
  Json body = document();
  body["metadata"]["resourceVersion"] = std::to_string(version);
  return std::make_shared<const Stored>(body, version, StoredForm{.version = form_.version});
}

std::string Collection::key_of(std::string_view namespace_, std::string_view name) const {
  if (!namespaced) return std::string(name);
  std::string key;
  key.reserve(namespace_.size() + name.size() + 1);
  return key.append(namespace_).append(1, '/').append(name);
}

const StoredPtr& Change::departed() const {
  const StoredPtr* known = departed_.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto made = std::make_unique<const StoredPtr>(before->with_version(version));
  // Another thread may have been first: its object stays.
  if (departed_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return *known;
}

Store::Store(const FrozenStore& from)
    : limit_(from.limit),
      version_(from.version),
      oldest_(from.oldest),
      now_(from.now),
      ids_(from.ids),
      history_(from.history) {
  for (const FrozenStore::Part& part : from.collections)
    collections_.push_back({.id = {static_cast<std::uint32_t>(collections_.size())},
                            .names = part.names,
                            .namespaced = part.namespaced,
                            .objects = ObjectMap(part.objects),
                            .changed = part.changed});
}

FrozenStore Store::freeze() {
  FrozenStore out{.limit = limit_,
                  .version = version_,
                  .oldest = oldest_,
                  .now = now_,
                  .ids = ids_.freeze(),
                  .history = history_.freeze()};
  out.collections.reserve(collections_.size());
  for (Collection& each : collections_)
    out.collections.push_back({each.names, each.namespaced, each.objects.freeze(), each.changed});
  return out;
}

Collection& Store::collection(std::string_view group, std::string_view plural, bool namespaced) {
  CollectionName names{std::string(group), std::string(plural)};
  const auto known = ids_.find(names);
  const CollectionId id =
      known != ids_.end() ? known->second : CollectionId{static_cast<std::uint32_t>(collections_.size())};
  if (known == ids_.end()) {
    collections_.push_back({.id = id, .names = std::make_shared<const CollectionName>(names)});
    ids_.exchange(std::move(names), id);
  }
  Collection& found = at(id);
  if (found.objects.empty()) found.namespaced = namespaced;
  return found;
}

std::vector<CollectionId> Store::collections() const {
  std::vector<CollectionId> out;
  out.reserve(ids_.size());
  for (const auto& [names, id] : ids_) out.push_back(id);
  return out;
}

StoredPtr Store::find(const Collection& collection, std::string_view key) const {
  const auto at = collection.objects.find(key);
  return at == collection.objects.end() ? nullptr : at->second;
}

StoredPtr Store::put(Collection& collection, Json body, StoredForm form) {
  const auto change = std::make_shared<Change>();
  change->version = ++version_;
  body["metadata"]["resourceVersion"] = std::to_string(version_);
  body.erase("apiVersion");
  body.erase("kind");
  StoredPtr object = std::make_shared<const Stored>(body, version_, std::move(form));
  parsed_.add(object, std::move(body));
  change->after = object;
  change->key = collection.key_of(object->namespace_(), object->name());
  change->before = collection.objects.exchange(change->key, object);
  record(collection, change);
  return object;
}

StoredPtr Store::erase(Collection& collection, std::string_view key) {
  const auto change = std::make_shared<Change>();
  change->key = std::string(key);
  std::optional<StoredPtr> object = collection.objects.extract(change->key);
  if (!object) return nullptr;
  change->version = ++version_;
  change->before = *object;
  record(collection, change);
  return *std::move(object);
}

void Store::record(Collection& collection, const std::shared_ptr<Change>& change) {
  collection.changed = change->version;
  change->collection = collection.id;
  change->at = now_;
  history_.exchange(change->version, change);
  while (history_.size() > limit_) {
    oldest_ = history_.front().first;
    history_.extract(oldest_);
  }
  for (const Listener& listener : listeners_) listener(change);
}

std::uint64_t Store::version_at(WallTime time) const {
  // From the end: clocks may jump back, and requests are usually for recent times.
  for (auto at = history_.end(); at != history_.begin();)
    if ((--at)->second->at <= time) return at->first;
  return oldest_;
}

std::vector<ChangePtr> Store::changes_since(std::uint64_t version) const {
  std::vector<ChangePtr> out;
  for (auto at = history_.upper_bound(version); at != history_.end(); ++at) out.push_back(at->second);
  return out;
}

std::vector<StoredPtr> Store::snapshot(const Collection& collection, std::string_view prefix,
                                       std::uint64_t version) const {
  const auto in_range = [prefix](std::string_view key) { return key.substr(0, prefix.size()) == prefix; };
  const auto first = collection.objects.lower_bound(prefix);
  std::vector<StoredPtr> out;
  if (collection.changed <= version) {
    for (auto at = first; at != collection.objects.end() && in_range(at->first); ++at)
      out.push_back(at->second);
    return out;
  }
  std::map<std::string_view, StoredPtr> objects;
  for (auto at = first; at != collection.objects.end() && in_range(at->first); ++at)
    objects.emplace(at->first, at->second);
  const auto first_after = history_.upper_bound(version);
  for (auto at = history_.end(); at != first_after;) {
    const Change& change = *(--at)->second;
    if (change.collection != collection.id || !in_range(change.key)) continue;
    if (change.before)
      objects[change.key] = change.before;
    else
      objects.erase(change.key);
  }
  for (auto& [key, object] : objects) out.push_back(std::move(object));
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
