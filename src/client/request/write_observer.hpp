// SPDX-License-Identifier: Apache-2.0
// Observers of the writes of a client and its copies, by which caches show them at once.
// Shared with floors above.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The end of a write that may have changed something, or that shows that somebody else did.
struct ObservedWrite {
  const RestRequest& request;
  int status = 0;              ///< HTTP status; 0: there was no response, but the request may have arrived.
  std::string_view body = {};  ///< Body of the response.
};

class EVENKEEL_API WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Called before the caller of the write gets the answer, on the thread that received it. Must neither
  /// block nor write.
  virtual void on_write(const ObservedWrite& write) noexcept = 0;
};

/// The observers of a client and its copies.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API WriteObservers {
 public:
  /// Does nothing if it was added before. Observers that do not exist any more are dropped.
  void add(std::weak_ptr<WriteObserver> observer) EVENKEEL_EXCLUDES(mutex_);
  /// Reports the end of a request. Ignores reads, dry runs, and errors after which nothing was changed and
  /// nothing is out of date: other than 404, 409 and 5xx.
  void on_end(const RestRequest& request, int status, std::string_view body) EVENKEEL_EXCLUDES(mutex_);

 private:
  std::atomic<bool> any_ = false;  // orders nothing: what is written before it is seen is not observed
  Mutex mutex_;
  std::vector<std::weak_ptr<WriteObserver>> observers_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
