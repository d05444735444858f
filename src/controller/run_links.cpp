// SPDX-License-Identifier: Apache-2.0
#include "controller/run_links.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

// A missing link does no harm, so a lack of memory is ignored.
void RunLinks::key_added(const KeyAdded& added) noexcept {
  if (!added.key.cluster().empty()) return;  // the spans are those of writes in the home cluster
  if (added.event == nullptr || added.event->initial || added.event->resync) return;
  try {
    const WireObject& object = *added.event->object;
    const SpanContext write = writes_->find(object.uid(), object.resource_version());
    if (!write.is_valid()) return;
    MutexLock lock(mutex_);
    if (links_.size() >= max_keys && !links_.contains(added.key)) return;
    std::vector<SpanLink>& links = links_[added.key];
    const bool known = std::any_of(links.begin(), links.end(),
                                   [&write](const SpanLink& link) { return link.context == write; });
    if (known || links.size() >= max_links) return;
    links.push_back({.context = write,
                     .attributes = {{"evenkeel.source", std::string(added.source)},
                                    {"k8s.object.name", object.key().str()}}});
  } catch (const std::bad_alloc&) {
  }
}

std::vector<SpanLink> RunLinks::take(const RequestKey& key) {
  MutexLock lock(mutex_);
  const auto node = links_.extract(key);
  return node ? std::move(node.mapped()) : std::vector<SpanLink>();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
