// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/conversion_desk.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using namespace std::chrono_literals;

constexpr auto pause = 1s;
constexpr auto longest_trouble = 30s;
constexpr auto quiet = 1min;

}  // namespace

bool ConversionPatience::tries_again(WallTime now) {
  if (!first_ || now - last_ >= quiet) first_ = now;
  last_ = now;
  if (now - *first_ <= longest_trouble) return true;
  first_.reset();
  return false;
}

ConvertedPtr ConversionDesk::order(const ResourceTypePtr& type, const StoredPtr& object) {
  if (!type->converts(*object)) {
    auto same = std::make_shared<ConvertedObject>();
    same->object = object;
    return same;
  }
  Ordered& known = known_[{type.get(), object.get()}];
  if (auto present = known.target.lock()) return present;
  auto made = std::make_shared<ConvertedObject>();
  known = {.type = type, .object = object, .target = made};
  waiting_.push_back(known);
  forget_unused();
  return made;
}

/// Frees what no watch needs any more, at times that make it cheap.
void ConversionDesk::forget_unused() {
  if (known_.size() < forget_at_) return;
  std::erase_if(known_, [](const auto& entry) { return entry.second.target.expired(); });
  forget_at_ = std::max<std::size_t>(64, 2 * known_.size());
}

void ConversionDesk::fail(std::vector<Ordered> parts, const StatusError& error, WallTime now) {
  const ResourceType& type = *parts.front().type;
  const bool again = patience_[{type.collection, type.version}].tries_again(now);
  failed_ = failed_ || !again;
  for (Ordered& part : parts) {
    if (again)
      postponed_.push_back({.due = now + pause, .ordered = std::move(part)});
    else if (const auto target = part.target.lock())
      target->failure = error;
  }
}

void ConversionDesk::add_call(Asked asked, std::vector<WatchWebhookCall>& calls, WallTime now) {
  asked.order.uid = identity_.uid();
  try {
    calls.push_back({.id = ++last_call_, .call = conversion_call(asked.order)});
    asked_.emplace(last_call_, std::move(asked));
  } catch (const StatusError& error) {
    fail(std::move(asked.parts), error, now);
  }
}

void ConversionDesk::on_timeout(WallTime now) {
  for (Postponed& each : std::exchange(postponed_, {})) {
    if (each.due <= now)
      waiting_.push_back(std::move(each.ordered));
    else
      postponed_.push_back(std::move(each));
  }
}

std::optional<WallTime> ConversionDesk::next_due() const {
  std::optional<WallTime> next;
  for (const Postponed& each : postponed_)
    if (!next || each.due < *next) next = each.due;
  return next;
}

std::vector<WatchWebhookCall> ConversionDesk::take_calls(WallTime now) {
  on_timeout(now);
  std::vector<WatchWebhookCall> calls;
  Asked next;
  std::size_t bytes = 0;
  for (Ordered& ordered : std::exchange(waiting_, {})) {
    if (ordered.target.expired()) continue;
    const bool full = next.parts.size() >= most_objects_in_a_review || bytes > most_bytes_in_a_review ||
                      ordered.alone || (!next.parts.empty() && next.parts.front().alone);
    if (!next.parts.empty() && (full || next.order.type != ordered.type)) {
      add_call(std::exchange(next, {}), calls, now);
      bytes = 0;
    }
    Json document = ordered.type->document_as_stored(*ordered.object);
    document["metadata"].erase("resourceVersion");
    bytes += ordered.object->text().size();
    next.order.type = ordered.type;
    next.order.version = ordered.type->version;
    next.order.objects.push_back(std::move(document));
    next.parts.push_back(std::move(ordered));
  }
  if (!next.parts.empty()) add_call(std::move(next), calls, now);
  return calls;
}

bool ConversionDesk::on_answer(std::uint64_t id, const WebhookAnswer& answer, WallTime now) {
  const auto at = asked_.find(id);
  if (at == asked_.end()) return false;
  Asked asked = std::move(at->second);
  asked_.erase(at);
  try {
    std::vector<Json> documents = converted_by(asked.order, answer);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Ordered& part = asked.parts[i];
      if (const auto target = part.target.lock())
        target->object = stored_in(*part.type, std::move(documents[i]), part.object->version());
    }
  } catch (const StatusError& error) {
    if (!is_about_its_objects(asked.order, answer)) {
      fail(std::move(asked.parts), error, now);
      return true;
    }
    for (Ordered& part : asked.parts) {
      part.alone = true;
      postponed_.push_back({.due = now, .ordered = std::move(part)});
    }
  }
  return true;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
