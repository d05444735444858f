// SPDX-License-Identifier: Apache-2.0
#include "client/request/write_observer.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

bool may_write(const RestRequest& request) {
  if (request.method == http::Method::get) return false;
  if (std::any_of(request.query.begin(), request.query.end(),
                  [](const auto& parameter) { return parameter.first == "dryRun"; }))
    return false;
  // Deletions and evictions may carry the option in their body.
  const bool has_options = request.method == http::Method::delete_ || request.subresource == "eviction";
  return !has_options || request.body.find("\"dryRun\"") == std::string::npos;
}

bool matters(int status) {
  return status < 300 || status == 404 || status == 409 || status >= 500;
}

}  // namespace

void WriteObservers::add(std::weak_ptr<WriteObserver> observer) {
  MutexLock lock(mutex_);
  std::erase_if(observers_, [&](const auto& one) {
    return one.expired() || (!one.owner_before(observer) && !observer.owner_before(one));
  });
  observers_.push_back(std::move(observer));
  any_.store(true, std::memory_order_relaxed);
}

void WriteObservers::on_end(const RestRequest& request, int status, std::string_view body) {
  if (!any_.load(std::memory_order_relaxed) || !may_write(request) || !matters(status)) return;
  std::vector<std::shared_ptr<WriteObserver>> observers;
  {
    MutexLock lock(mutex_);
    for (const auto& one : observers_) {
      if (auto observer = one.lock()) observers.push_back(std::move(observer));
    }
  }
  for (const auto& observer : observers) observer->on_write({request, status, body});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
