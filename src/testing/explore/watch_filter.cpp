// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/watch_filter.hpp"

#include <algorithm>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Changes of one object.
struct Changes {
  std::string key = {};
  bool is_new = false;
  Json last = {};  // event
};

std::string key_in(const Json& event) {
  const Json& metadata = event["object"]["metadata"];
  return metadata["namespace"].string_or("") + "/" + metadata["name"].string_or("");
}

void add(std::vector<Changes>& all, Json event) {
  const std::string key = key_in(event);
  const auto found =
      std::find_if(all.begin(), all.end(), [&key](const Changes& one) { return one.key == key; });
  Changes changes{.key = key, .is_new = event["type"] == Json("ADDED")};
  if (found != all.end()) {
    changes.is_new = found->is_new;
    all.erase(found);
  }
  changes.last = std::move(event);
  all.push_back(std::move(changes));
}

}  // namespace

std::string merged_events(std::string_view events) {
  std::vector<Changes> all;
  std::string bookmark;
  while (!events.empty()) {
    const std::size_t end = std::min(events.find('\n'), events.size());
    Json event = Json::parse(events.substr(0, end));
    if (event["type"] == Json("BOOKMARK")) {
      bookmark = event.dump() + "\n";
    } else {
      add(all, std::move(event));
    }
    events.remove_prefix(std::min(end + 1, events.size()));
  }
  std::string text;
  for (Changes& changes : all) {
    const bool gone = changes.last["type"] == Json("DELETED");
    if (gone && changes.is_new) continue;
    if (!gone) changes.last["type"] = Json(changes.is_new ? "ADDED" : "MODIFIED");
    text += changes.last.dump() + "\n";
  }
  return text + bookmark;
}

void WatchFilter::deliver(std::string_view piece) {
  if (seen_) seen_(resource_, piece);
  const bool complete = piece.find("k8s.io/initial-events-end") != std::string_view::npos;
  if (content_ == Content::list_and_events && complete) content_ = Content::events;
  inner_->on_data(piece);
}

void WatchFilter::release(WithheldDelivery delivery) {
  const std::string kept = std::exchange(kept_, {});
  if (delivery == WithheldDelivery::late) {
    if (!kept.empty()) deliver(kept);
  } else if (const std::string merged = merged_events(kept); !merged.empty()) {
    deliver(merged);
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
