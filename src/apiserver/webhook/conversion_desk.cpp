// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/conversion_desk.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

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

void ConversionDesk::fail(const std::vector<Ordered>& parts, const StatusError& error) {
  for (const Ordered& part : parts)
    if (const auto target = part.target.lock()) target->failure = error;
}

void ConversionDesk::add_call(Asked asked, std::vector<WatchWebhookCall>& calls) {
  asked.order.uid = identity_.uid();
  try {
    calls.push_back({.id = ++last_call_, .call = conversion_call(asked.order)});
    asked_.emplace(last_call_, std::move(asked));
  } catch (const StatusError& error) {
    fail(asked.parts, error);
  }
}

std::vector<WatchWebhookCall> ConversionDesk::take_calls() {
  std::vector<WatchWebhookCall> calls;
  Asked next;
  std::size_t bytes = 0;
  for (Ordered& ordered : std::exchange(waiting_, {})) {
    if (ordered.target.expired()) continue;
    const bool full = next.parts.size() >= most_objects_in_a_review || bytes > most_bytes_in_a_review;
    if (!next.parts.empty() && (full || next.order.type != ordered.type)) {
      add_call(std::exchange(next, {}), calls);
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
  if (!next.parts.empty()) add_call(std::move(next), calls);
  return calls;
}

bool ConversionDesk::on_answer(std::uint64_t id, const WebhookAnswer& answer) {
  const auto at = asked_.find(id);
  if (at == asked_.end()) return false;
  const Asked asked = std::move(at->second);
  asked_.erase(at);
  try {
    std::vector<Json> documents = converted_by(asked.order, answer);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Ordered& part = asked.parts[i];
      if (const auto target = part.target.lock())
        target->object = stored_in(*part.type, std::move(documents[i]), part.object->version());
    }
  } catch (const StatusError& error) {
    fail(asked.parts, error);
  }
  return true;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
