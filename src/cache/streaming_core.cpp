// SPDX-License-Identifier: Apache-2.0
#include "cache/streaming_core.hpp"

#include <set>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

StreamingCore::Advice StreamingCore::on_request(const ResourceId& resource, TimePoint now) {
  Kind& kind = kinds_[key_of(resource)];
  if (kind.works) return Advice::stream;
  if (now < kind.lacks_until || now < server_lacks_until_) return Advice::list;
  return std::exchange(kind.trying, true) ? Advice::wait : Advice::stream;
}

bool StreamingCore::on_complete(const ResourceId& resource) {
  Kind& kind = kinds_[key_of(resource)];
  const bool changed = kind.lacks;
  kind = {.works = true};
  server_lacks_until_ = TimePoint::min();
  return changed;
}

StreamingCore::News StreamingCore::on_unsupported(const ResourceId& resource, TimePoint now) {
  Kind& kind = kinds_[key_of(resource)];
  const bool known = now < kind.lacks_until || now < server_lacks_until_;
  kind = {.lacks = true, .lacks_until = deadline_after(now, retry_after)};
  if (known || !server_lacks(now)) return known ? News::none : News::kind;
  server_lacks_until_ = kind.lacks_until;
  return News::server;
}

void StreamingCore::on_failed(const ResourceId& resource) {
  kinds_[key_of(resource)].trying = false;
}

bool StreamingCore::server_lacks(TimePoint now) const {
  std::set<std::string> groups;
  for (const auto& [key, kind] : kinds_) {
    if (kind.works) return false;
    if (now < kind.lacks_until) groups.insert(std::get<0>(key));
  }
  return groups.size() > 1;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
