// SPDX-License-Identifier: Apache-2.0
#include "coordination/overview_feed.hpp"

#include "coordination/overview_section.hpp"
#include "coordination/record_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

OverviewFeed::OverviewFeed(std::string_view store, std::string_view root, Duration interval)
    : store_(shortened(store)), root_(shortened(root)), interval_(interval) {}

bool OverviewFeed::on_look(TimePoint now) {
  const Idle* const idle = std::get_if<Idle>(&phase_);
  if (idle == nullptr || now < idle->due) return false;
  phase_ = Reading{now};
  return true;
}

void OverviewFeed::on_read(Json blocks, Version version, TimePoint now) {
  phase_ = Idle{deadline_after(now, interval_)};
  failure_.clear();
  read_ = {now, version};
  blocks_ = std::move(blocks);
}

void OverviewFeed::on_failure(std::string_view problem, TimePoint now) {
  phase_ = Idle{deadline_after(now, interval_)};
  failure_ = shortened(problem);
}

std::string OverviewFeed::problem(TimePoint now) const {
  const Reading* const reading = std::get_if<Reading>(&phase_);
  if (reading == nullptr || now - reading->since < interval_) return failure_;
  return "the store has not answered for " + seconds_text(now - reading->since);
}

Json OverviewFeed::latest(TimePoint now) const {
  Json store = Json::object({{"store", store_}, {"keys below", root_}});
  if (std::string text = problem(now); !text.empty()) store["problem"] = std::move(text);
  store["read"] = read_ ? seconds_text(now - read_->first) + " ago" : "not yet";
  if (read_) store["version"] = read_->second;
  Json::Array all{Json::object({{"title", "Store"}, {"content", std::move(store)}})};
  for (const Json& block : blocks_.as_array()) all.push_back(block);
  return all;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
