// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/store.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

Stored::Stored(Json body, std::uint64_t version, std::uint64_t shape)
    : version_(version), shape_(shape), body_(std::move(body)) {
  const Json& metadata = (*std::as_const(body_))["metadata"];
  name_ = metadata["name"].string_or("");
  space_ = metadata["namespace"].string_or("");
  uid_ = metadata["uid"].string_or("");
}

const Json& Stored::body() const {
  if (!body_) body_ = Json::parse("{" + text_ + "}");
  return *body_;
}

Json Stored::copy() const {
  return body_ ? *body_ : Json::parse("{" + text_ + "}");
}

const std::string& Stored::text() const {
  if (text_.empty()) {
    std::string whole = body_->dump();
    text_ = whole.substr(1, whole.size() - 2);
    text_.shrink_to_fit();
  }
  return text_;
}

void Stored::shrink() const {
  text();
  body_.reset();
}

std::string Collection::key_of(std::string_view namespace_, std::string_view name) const {
  if (!namespaced) return std::string(name);
  std::string key;
  key.reserve(namespace_.size() + name.size() + 1);
  return key.append(namespace_).append(1, '/').append(name);
}

const StoredPtr& Change::departed() const {
  if (!departed_once) {
    Json body = before->copy();
    body["metadata"]["resourceVersion"] = std::to_string(version);
    departed_once = std::make_shared<Stored>(std::move(body), version);
    departed_once->shrink();
  }
  return departed_once;
}

Collection& Store::collection(std::string_view group, std::string_view plural, bool namespaced) {
  const auto [at, added] = collections_.try_emplace({std::string(group), std::string(plural)});
  if (added) {
    at->second.group = group;
    at->second.plural = plural;
  }
  if (at->second.objects.empty()) at->second.namespaced = namespaced;
  return at->second;
}

StoredPtr Store::find(const Collection& collection, std::string_view key) const {
  const auto at = collection.objects.find(key);
  return at == collection.objects.end() ? nullptr : at->second;
}

StoredPtr Store::put(Collection& collection, Json body, std::uint64_t shape) {
  Change change{.version = ++version_, .collection = &collection};
  body["metadata"]["resourceVersion"] = std::to_string(change.version);
  body.erase("apiVersion");
  body.erase("kind");
  change.after = std::make_shared<Stored>(std::move(body), change.version, shape);
  change.key = collection.key_of(change.after->namespace_(), change.after->name());
  StoredPtr& slot = collection.objects[change.key];
  change.before = std::exchange(slot, change.after);
  if (change.before) replaced_.push_back(change.before);
  StoredPtr result = change.after;
  record(collection, std::move(change));
  return result;
}

StoredPtr Store::erase(Collection& collection, std::string_view key) {
  const auto at = collection.objects.find(key);
  if (at == collection.objects.end()) return nullptr;
  Change change{.version = ++version_, .collection = &collection, .key = at->first, .before = at->second};
  collection.objects.erase(at);
  replaced_.push_back(change.before);
  StoredPtr result = change.before;
  record(collection, std::move(change));
  return result;
}

void Store::record(Collection& collection, Change change) {
  collection.changed = change.version;
  change.at = now_;
  ChangePtr shared = std::make_shared<const Change>(std::move(change));
  history_.push_back(shared);
  while (history_.size() > limit_) {
    oldest_ = history_.front()->version;
    history_.pop_front();
  }
  for (const Listener& listener : listeners_) listener(shared);
}

std::uint64_t Store::version_at(WallTime time) const {
  // From the end: clocks may jump back, and requests are usually for recent times.
  for (auto at = history_.rbegin(); at != history_.rend(); ++at)
    if ((*at)->at <= time) return (*at)->version;
  return oldest_;
}

std::deque<ChangePtr>::const_iterator Store::after(std::uint64_t version) const {
  return std::upper_bound(
      history_.begin(), history_.end(), version,
      [](std::uint64_t wanted, const ChangePtr& change) { return wanted < change->version; });
}

std::vector<ChangePtr> Store::changes_since(std::uint64_t version) const {
  return {after(version), history_.end()};
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
  const auto stop = std::make_reverse_iterator(after(version));
  for (auto at = history_.rbegin(); at != stop; ++at) {
    const Change& change = **at;
    if (change.collection != &collection || !in_range(change.key)) continue;
    if (change.before)
      objects[change.key] = change.before;
    else
      objects.erase(change.key);
  }
  for (auto& [key, object] : objects) out.push_back(std::move(object));
  return out;
}

void Store::shrink() {
  for (const StoredPtr& object : replaced_) object->shrink();
  replaced_.clear();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
