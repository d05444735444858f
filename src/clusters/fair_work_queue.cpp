// SPDX-License-Identifier: Apache-2.0
#include "clusters/fair_work_queue.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

void FairWorkQueue::add(Owner owner, Work work) {
  Entry& entry = owners_[owner];
  if (!entry.runs && entry.work.empty()) ready_.push_back(owner);
  entry.work.push_back(std::move(work));
}

std::optional<FairWorkQueue::Turn> FairWorkQueue::next_turn() {
  if (ready_.empty()) return std::nullopt;
  const Owner owner = ready_.front();
  ready_.pop_front();
  Entry& entry = owners_.at(owner);
  Turn turn{.owner = owner, .work = std::move(entry.work.front())};
  entry.work.pop_front();
  entry.runs = true;
  return turn;
}

void FairWorkQueue::on_done(Owner owner) {
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return;
  if (found->second.work.empty()) {
    owners_.erase(found);
    return;
  }
  found->second.runs = false;
  ready_.push_back(owner);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
