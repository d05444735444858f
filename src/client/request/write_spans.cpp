// SPDX-License-Identifier: Apache-2.0
#include "client/request/write_spans.hpp"

#include <algorithm>
#include <utility>

#include "client/request/write_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string version_key(std::string_view uid, std::string_view version) {
  return std::string(uid) + "/" + std::string(version);
}

}  // namespace

void WriteSpans::on_answer(const RestRequest& request, std::string_view answer, const SpanContext& span) {
  if (!span.sampled || request.method == http::Method::get || is_dry_run(request)) return;
  const AnsweredVersion now = version_in(answer);
  if (now.uid.empty() || now.version.empty()) return;
  std::string key = version_key(now.uid, now.version);
  MutexLock lock(mutex_);
  // A write without an effect is answered with the version of an earlier one, whose span stays.
  if (!spans_.emplace(key, span).second) return;
  order_.push_back(std::move(key));
  if (order_.size() <= max_writes) return;
  spans_.erase(order_.front());
  order_.pop_front();
}

SpanContext WriteSpans::find(std::string_view uid, std::string_view version) const {
  const std::string key = version_key(uid, version);
  MutexLock lock(mutex_);
  const auto found = spans_.find(key);
  return found == spans_.end() ? SpanContext() : found->second;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
