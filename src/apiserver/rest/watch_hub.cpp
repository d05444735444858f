// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/watch_hub.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "apiserver/webhook/conversions.hpp"
#include "base/earlier.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using evenkeel::detail::earlier;

constexpr std::array<std::string_view, 3> event_names = {"ADDED", "MODIFIED", "DELETED"};

std::string event_line(std::string_view type, std::string_view object) {
  std::string out = "{\"type\":\"";
  out.append(type).append("\",\"object\":").append(object).append("}\n");
  return out;
}

}  // namespace

bool WatchHub::Watch::converts() const {
  return std::any_of(pending.begin(), pending.end(),
                     [](const Pending& event) { return event.conversion.has_value(); });
}

WatchId WatchHub::open(WatchRequest request, WallTime now) {
  const WatchId id{++last_id_};
  Watch watch{.request = std::move(request)};
  if (watch.request.bookmarks) watch.next_bookmark = bookmark_after(now, watch.request);
  now_ = std::max(now_, now);  // a request that waited for a webhook began earlier
  by_collection_[watch.request.type->collection].push_back(id);
  if (watch.request.held_versions > 0) held_by_version_.push_back(id);
  next_ = earlier(next_, earlier(watch.next_bookmark, watch.request.ends));
  watches_.emplace(id, std::move(watch));
  return id;
}

void WatchHub::announce(WatchId id, Watch& watch) {
  if (watch.announced) return;
  watch.announced = true;
  ready_.push_back(id);
}

void WatchHub::hold(const Watch& watch, Pending& event, WallTime from, std::uint64_t version) const {
  if (watch.request.held_for.count() > 0) event.due = from + watch.request.held_for;
  if (watch.request.held_versions > 0) event.due_version = version + watch.request.held_versions;
}

// Announces the watch if its next event is due, and schedules it otherwise.
void WatchHub::release(WatchId id, Watch& watch) {
  if (watch.pending.empty()) return;
  const Pending& first = watch.pending.front();
  if (is_due(first)) return announce(id, watch);
  if (first.due > now_) next_ = earlier(next_, first.due);
}

void WatchHub::catch_up(WatchId id) {
  const auto at = watches_.find(id);
  if (at == watches_.end()) return;
  Watch& watch = at->second;
  watch.request.held_for = {};
  watch.request.held_versions = 0;
  std::erase(held_by_version_, id);
  for (Pending& event : watch.pending) {
    event.due = {};
    event.due_version = 0;
  }
  release(id, watch);
}

void WatchHub::queue(WatchId id, Watch& watch, Pending event) {
  if (watch.ended) return;
  watch.unread += event.size();
  if (event.present) watch.unread_present += event.size();
  watch.pending.push_back(std::move(event));
  if (watch.unread - watch.unread_present > max_unread_) {
    watch.pending.clear();
    return end(id, watch);
  }
  release(id, watch);
}

void WatchHub::end(WatchId id, Watch& watch) {
  watch.ended = true;
  announce(id, watch);
}

void WatchHub::add_present(WatchId id, StoredPtr object) {
  Pending event{EventType::added, std::move(object), {}};
  event.present = true;
  queue(id, watches_.at(id), std::move(event));
}

void WatchHub::add_bookmark(WatchId id, std::uint64_t version, Bookmark kind) {
  Watch& watch = watches_.at(id);
  if (version <= watch.request.after) return;
  const ResourceType& type = *watch.request.type;
  Json metadata = Json::object({{"resourceVersion", std::to_string(version)}});
  if (kind == Bookmark::end_of_initial_events)
    metadata["annotations"] = Json::object({{"k8s.io/initial-events-end", "true"}});
  Json object = Json::object({{"kind", type.kind}, {"apiVersion", type.api_version()}});
  object["metadata"] = std::move(metadata);
  switch (watch.request.form.form) {
    case Representation::Form::object:
      break;
    case Representation::Form::partial:
      object = partial_metadata(object, watch.request.form.api_version);
      break;
    case Representation::Form::table: {
      const Json* row = &object;
      const Json list = Json::object({{"resourceVersion", object["metadata"]["resourceVersion"]}});
      object = make_table(*type.table, {&row, 1}, list, watch.request.include, {},
                          TableHeader::without_columns, watch.request.form.api_version);
    }
  }
  Pending bookmark{EventType::text, nullptr, event_line("BOOKMARK", object.dump())};
  // The bookmark that ends the initial events is one of them.
  if (kind == Bookmark::plain) hold(watch, bookmark, now_, version);
  queue(id, watch, std::move(bookmark));
}

void WatchHub::fail(WatchId id, const Json& status) {
  Watch& watch = watches_.at(id);
  queue(id, watch, {EventType::text, nullptr, event_line("ERROR", status.dump())});
  end(id, watch);
}

void WatchHub::deliver(WatchId id, const ChangePtr& change) {
  Watch& watch = watches_.at(id);
  // The history contains changes of all collections.
  if (change->collection == watch.request.type->collection) deliver(id, watch, change);
}

void WatchHub::deliver(WatchId id, Watch& watch, const ChangePtr& change) {
  const WatchRequest& request = watch.request;
  if (watch.ended || watch.closing || change->version <= request.after ||
      std::string_view(change->key).substr(0, request.prefix.size()) != request.prefix)
    return;
  if (request.type->hook && defer(id, watch, change)) return;
  const auto selected = [&](const StoredPtr& object) {
    return object && (request.selection.empty() || request.selection.matches(*object, *request.type));
  };
  const bool was = selected(change->before);
  const bool is = selected(change->after);
  if (!is && !was) return;
  Pending event{EventType::deleted, nullptr, {}};
  if (is) event.type = was ? EventType::modified : EventType::added;
  event.object = is ? change->after : change->departed();
  hold(watch, event, change->at, change->version);
  queue(id, watch, std::move(event));
}

/// Queues a change whose objects a webhook has to convert before they can be selected. Returns false if none
/// has to.
bool WatchHub::defer(WatchId id, Watch& watch, const ChangePtr& change) {
  const WatchRequest& request = watch.request;
  const bool selects = !request.selection.empty();
  const auto converts = [&](const StoredPtr& object) { return object && request.type->converts(*object); };
  if (!converts(change->after) && !converts(change->before)) return false;
  Conversion conversion{.ends = !change->after};
  const StoredPtr& last = change->after ? change->after : change->departed();
  conversion.after = desk_.order(request.type, last);
  if (change->before) {
    // Without a selector, it only matters that there was one; a deletion shows nothing else.
    conversion.before =
        selects && !conversion.ends ? desk_.order(request.type, change->before) : conversion.after;
  }
  Pending event{EventType::modified, last, {}};
  event.conversion = std::move(conversion);
  hold(watch, event, change->at, change->version);
  queue(id, watch, std::move(event));
  if (const auto at = watches_.find(id); at != watches_.end()) settle(id, at->second);
  return true;
}

/// Makes an event of a converted change. Returns false if the watch does not select it.
bool WatchHub::settle(const WatchRequest& request, Pending& event) const {
  const Conversion conversion = *std::exchange(event.conversion, std::nullopt);
  const auto selected = [&](const ConvertedPtr& object) {
    return object && (request.selection.empty() || request.selection.matches(*object->object, *request.type));
  };
  const bool was = selected(conversion.before);
  const bool is = !conversion.ends && selected(conversion.after);
  event.type = !is ? EventType::deleted : was ? EventType::modified : EventType::added;
  // An object that is not selected any more is shown as it was, with the version of the change.
  if (is || conversion.ends) {
    event.object = conversion.after->object;
  } else if (was) {
    event.object = stored_in(*request.type, conversion.before->object->document(), event.object->version());
  }
  return was || is;
}

/// Turns converted changes into events, in their order. A conversion that failed ends all watches of the
/// version.
void WatchHub::settle(WatchId id, Watch& watch) {
  for (auto event = watch.pending.begin(); event != watch.pending.end();) {
    if (!event->conversion) {
      ++event;
      continue;
    }
    if (!event->conversion->settled()) break;
    const Conversion conversion = *event->conversion;
    for (const ConvertedPtr& object : {conversion.before, conversion.after})
      if (object && object->failure) return lose(*watch.request.type);
    watch.unread -= event->size();
    if (settle(watch.request, *event)) {
      watch.unread += event->size();
      ++event;
    } else {
      event = watch.pending.erase(event);
    }
  }
  if (watch.closing && !watch.converts()) return end(id, watch);
  release(id, watch);
}

/// Ends the watches of a version, of all namespaces, after the events that are converted. As with a real
/// server, only the answer to the next watch has the error.
void WatchHub::lose(const ResourceType& type) {
  lost_.add(type, now_);
  for (const WatchId id : by_collection_[type.collection]) {
    Watch& watch = watches_.at(id);
    if (watch.request.type->version != type.version || watch.ended) continue;
    const auto first = std::find_if(watch.pending.begin(), watch.pending.end(),
                                    [](const Pending& event) { return event.conversion.has_value(); });
    for (auto event = first; event != watch.pending.end(); ++event) watch.unread -= event->size();
    watch.pending.erase(first, watch.pending.end());
    end(id, watch);
  }
}

void WatchHub::settle_all() {
  for (auto& [id, watch] : watches_)
    if (watch.request.type->hook && !watch.ended) settle(id, watch);
}

std::vector<WatchWebhookCall> WatchHub::take_calls() {
  std::vector<WatchWebhookCall> calls = desk_.take_calls(now_);
  if (desk_.take_failed()) settle_all();
  return calls;
}

void WatchHub::on_answer(std::uint64_t id, const WebhookAnswer& answer) {
  if (desk_.on_answer(id, answer, now_)) settle_all();
}

std::optional<WallTime> WatchHub::next_due() const {
  return earlier(next_, desk_.next_due());
}

void WatchHub::publish(const ChangePtr& change) {
  now_ = change->at;
  version_ = change->version;
  for (const WatchId id : held_by_version_) release(id, watches_.at(id));
  const auto at = by_collection_.find(change->collection);
  if (at == by_collection_.end()) return;
  for (const WatchId id : at->second) deliver(id, watches_.at(id), change);
}

void WatchHub::end_all(CollectionId collection) {
  const auto at = by_collection_.find(collection);
  if (at == by_collection_.end()) return;
  for (const WatchId id : at->second) {
    Watch& watch = watches_.at(id);
    watch.closing = true;
    if (!watch.converts()) end(id, watch);
  }
}

void WatchHub::close(WatchId id) {
  const auto at = watches_.find(id);
  if (at == watches_.end()) return;
  std::erase(by_collection_[at->second.request.type->collection], id);
  std::erase(ready_, id);
  std::erase(held_by_version_, id);
  watches_.erase(at);
}

Json WatchHub::shaped(Watch& watch, const Stored& object, WallTime now) const {
  const WatchRequest& request = watch.request;
  const Json document = request.type->document(object);
  if (request.form.form == Representation::Form::partial)
    return partial_metadata(document, request.form.api_version);
  const auto header = watch.columns_sent ? TableHeader::without_columns : TableHeader::with_columns;
  watch.columns_sent = true;
  const Json* row = &document;
  return make_table(*request.type->table, {&row, 1},
                    Json::object({{"resourceVersion", std::to_string(object.version())}}), request.include,
                    now, header, request.form.api_version);
}

void WatchHub::append(Watch& watch, const Pending& event, WallTime now, std::string& out) {
  if (event.type == EventType::text) {
    out += event.text;
    return;
  }
  const std::string_view name = event_names[static_cast<std::size_t>(event.type)];
  const ResourceType& type = *watch.request.type;
  if (watch.request.form.form != Representation::Form::object) {
    out += event_line(name, shaped(watch, *event.object, now).dump());
    return;
  }
  out.append("{\"type\":\"").append(name).append("\",\"object\":{").append(type.head()).append(",");
  type.append_members(*event.object, out);
  out += "}}\n";
}

WatchOutput WatchHub::read(WatchId id, WallTime now) {
  const auto at = watches_.find(id);
  if (at == watches_.end()) return {.bytes = {}, .ended = true};
  Watch& watch = at->second;
  now_ = now;
  WatchOutput out{.bytes = {}, .ended = watch.ended};
  out.bytes.reserve(watch.unread + 128 * watch.pending.size());
  auto event = watch.pending.begin();
  for (; event != watch.pending.end() && is_due(*event); ++event) {
    append(watch, *event, now, out.bytes);
    watch.unread -= event->size();
    if (event->present) watch.unread_present -= event->size();
  }
  watch.pending.erase(watch.pending.begin(), event);
  if (out.ended) {
    close(id);
  } else {
    release(id, watch);
  }
  return out;
}

std::vector<WatchId> WatchHub::take_ready() {
  std::vector<WatchId> out = std::exchange(ready_, {});
  std::sort(out.begin(), out.end());
  for (const WatchId id : out) watches_.at(id).announced = false;
  return out;
}

void WatchHub::on_timeout(WallTime now, std::uint64_t version) {
  now_ = now;
  desk_.on_timeout(now);
  if (!next_ || *next_ > now) return;
  for (auto& [id, watch] : watches_) {
    if (watch.ended) continue;
    release(id, watch);
    if (watch.next_bookmark && *watch.next_bookmark <= now) {
      add_bookmark(id, version, Bookmark::plain);
      watch.next_bookmark = bookmark_after(now, watch.request);
    }
    if (watch.request.ends <= now) end(id, watch);
  }
  reschedule();
}

void WatchHub::reschedule() {
  next_.reset();
  for (const auto& [id, watch] : watches_) {
    if (watch.ended) continue;
    next_ = earlier(next_, earlier(watch.next_bookmark, watch.request.ends));
    if (!watch.pending.empty() && watch.pending.front().due > now_)
      next_ = earlier(next_, watch.pending.front().due);
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
