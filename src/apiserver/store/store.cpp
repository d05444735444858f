// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/store.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/text/member_path.hpp"
#include "base/json_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

void ParsedBodies::add(const Stored& object) {
  entries_.push_back({object.weak_from_this(), object.text().size()});
  bytes_ += object.text().size();
}

void ParsedBodies::trim() {
  while (bytes_ > limit_) {
    if (const StoredPtr object = entries_.front().object.lock()) object->body_.reset();
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
  }
}

StoredPtr Stored::make(Json body, std::uint64_t version, std::uint64_t shape,
                       std::shared_ptr<ParsedBodies> parsed) {
  const auto object = std::make_shared<const Stored>(std::move(body), version, shape, std::move(parsed));
  object->parsed_->add(*object);
  return object;
}

Stored::Stored(Json body, std::uint64_t version, std::uint64_t shape, std::shared_ptr<ParsedBodies> parsed)
    : version_(version),
      shape_(shape),
      parsed_(std::move(parsed)),
      body_(std::make_unique<const Json>(std::move(body))) {
  const Json& metadata = (*body_)["metadata"];
  name_ = metadata["name"].string_or("");
  space_ = metadata["namespace"].string_or("");
  uid_ = metadata["uid"].string_or("");
  write_text();
}

void Stored::begin_member(std::string_view name) {
  if (!text_.empty() && text_.back() != '{') text_ += ',';
  append_json_string(text_, name);
  text_ += ':';
}

void Stored::write_text() {
  for (const auto& [name, value] : body_->as_object()) {
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
    const std::size_t start = text_.size();
    value.dump_to(text_);
    if (name != "labels" || !value.is_object()) continue;
    labels_ = static_cast<std::uint32_t>(start + 1);
    labels_size_ = static_cast<std::uint32_t>(text_.size() - start - 2);
  }
  text_ += '}';
}

const Json& Stored::body() const {
  if (!body_) {
    body_ = std::make_unique<const Json>(copy());
    parsed_->add(*this);
  }
  return *body_;
}

Json Stored::copy() const {
  return body_ ? *body_ : Json::parse("{" + text_ + "}");
}

Json Stored::part(std::string_view path) const {
  if (body_) return value_at(*body_, path);
  // Most of the text is before spec and status.
  const bool late = path.substr(0, path.find('.')) > "metadata";
  return value_in_text(std::string_view(text_).substr(late ? rest_ : 0), path);
}

Json Stored::label(std::string_view name) const {
  return member_in_text(std::string_view(text_).substr(labels_, labels_size_), name);
}

StoredPtr Stored::with_version(std::uint64_t version) const {
  Json body = copy();
  body["metadata"]["resourceVersion"] = std::to_string(version);
  return make(std::move(body), version, 0, parsed_);
}

std::string Collection::key_of(std::string_view namespace_, std::string_view name) const {
  if (!namespaced) return std::string(name);
  std::string key;
  key.reserve(namespace_.size() + name.size() + 1);
  return key.append(namespace_).append(1, '/').append(name);
}

const StoredPtr& Change::departed() const {
  if (!departed_once) departed_once = before->with_version(version);
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
  change.after = Stored::make(std::move(body), change.version, shape, parsed_);
  change.key = collection.key_of(change.after->namespace_(), change.after->name());
  StoredPtr& slot = collection.objects[change.key];
  change.before = std::exchange(slot, change.after);
  StoredPtr result = change.after;
  record(collection, std::move(change));
  return result;
}

StoredPtr Store::erase(Collection& collection, std::string_view key) {
  const auto at = collection.objects.find(key);
  if (at == collection.objects.end()) return nullptr;
  Change change{.version = ++version_, .collection = &collection, .key = at->first, .before = at->second};
  collection.objects.erase(at);
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

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
