// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/wait.hpp>

#include "client/call/chained_call.hpp"
#include "client/request/bound_limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string selector_of(const ObjectKey& key) {
  return "metadata.name=" + key.name;
}

RawState state_of(const RawList& list) {
  if (list.items.empty()) return {};
  return {.frame = list.bodies.front(), .object = list.items.front()};
}

RawState state_of(RawWatchEvent event) {
  if (event.type == WatchEventType::deleted) return {};
  return {.frame = std::move(event.frame), .object = event.object};
}

/// A list, then a watch; after `gone` again a list, from which the watch continues. Kept alive by the request
/// that is in flight. Its callbacks come one at a time, except that the watch may end while a list is in
/// flight.
class Wait final : public std::enable_shared_from_this<Wait> {
 public:
  Wait(const Client& client, const ResourceId& resource, const ObjectKey& key,
       std::function<bool(RawState)> is_met, std::function<void(std::exception_ptr)> done)
      : client_(client),
        resource_(resource),
        namespace_(key.namespace_),
        selector_(selector_of(key)),
        is_met_(std::move(is_met)),
        done_(std::move(done)) {}

  std::shared_ptr<http::Call> start() {
    const std::shared_ptr<ChainedCall> handle = handle_;
    list();
    return handle;
  }

 private:
  void list() {
    handle_->step([this] {
      return client_->start(
          calls::list_raw(resource_, {.namespace_ = namespace_, .field_selector = selector_}),
          [self = shared_from_this()](Outcome<RawList> outcome) { self->on_list(std::move(outcome)); });
    });
  }

  void on_list(Outcome<RawList> outcome) {
    if (is_over()) return;  // the watch has ended
    if (!outcome.ok()) return end(outcome.error());
    const RawList& list = outcome.value();
    if (look(state_of(list))) return;
    std::shared_ptr<WatchCall> watch;
    {
      MutexLock lock(mutex_);
      if (over_) return;
      watch = watch_;
      if (watching_ && !watch) {
        restart_at_ = list.resource_version;
        return;
      }
    }
    if (!watch) return start_watch(list.resource_version);
    handle_->step([&] {
      watch->restart(list.resource_version);
      return watch;
    });
  }

  void start_watch(const std::string& version) {
    {
      MutexLock lock(mutex_);
      watching_ = true;
    }
    handle_->step([&] {
      auto watch = start_raw_watch(
          *client_, resource_,
          {.namespace_ = namespace_, .field_selector = selector_, .resource_version = version},
          {.on_event = [self = shared_from_this()](RawWatchEvent event) { self->on_event(std::move(event)); },
           .on_end = [self = shared_from_this()](const std::exception_ptr& error) { self->on_end(error); }});
      bool over = false;
      std::optional<std::string> restart_at;
      {
        MutexLock lock(mutex_);
        if (watching_) watch_ = watch;  // otherwise it has ended already
        over = over_;
        restart_at = std::exchange(restart_at_, std::nullopt);
      }
      if (over) {
        watch->cancel();
      } else if (restart_at) {
        watch->restart(std::move(*restart_at));
      }
      return watch;
    });
  }

  void on_event(RawWatchEvent event) {
    if (is_over()) return;
    if (event.type == WatchEventType::gone) return list();
    look(state_of(std::move(event)));
  }

  /// Returns true if the wait is over.
  bool look(RawState state) {
    try {
      if (!is_met_(std::move(state))) return false;
      end(nullptr);
    } catch (...) {
      end(std::current_exception());
    }
    return true;
  }

  bool is_over() {
    MutexLock lock(mutex_);
    return over_;
  }

  /// Ends with `error`; if there is a watch, as soon as that has ended.
  void end(const std::exception_ptr& error) {
    std::shared_ptr<WatchCall> watch;
    bool watching = false;
    {
      MutexLock lock(mutex_);
      over_ = true;
      error_ = error;
      watch = watch_;
      watching = watching_;
    }
    if (watch) watch->cancel();
    if (!watching) finish(error);
  }

  void on_end(std::exception_ptr error) {
    {
      MutexLock lock(mutex_);
      watching_ = false;
      watch_.reset();
      if (std::exchange(over_, true)) error = error_;
    }
    finish(error);
  }

  void finish(const std::exception_ptr& error) {
    {
      MutexLock lock(mutex_);
      if (std::exchange(finished_, true)) return;
    }
    // Before the completion: its callee may drop the client.
    client_.reset();
    const auto done = std::move(done_);
    done(error);
  }

  std::optional<Client> client_;
  const ResourceId resource_;
  const std::string namespace_;
  const std::string selector_;
  const std::function<bool(RawState)> is_met_;
  std::function<void(std::exception_ptr)> done_;
  const std::shared_ptr<ChainedCall> handle_ = std::make_shared<ChainedCall>();
  Mutex mutex_;
  std::shared_ptr<WatchCall> watch_ EVENKEEL_GUARDED_BY(mutex_);
  bool watching_ EVENKEEL_GUARDED_BY(mutex_) = false;  // there is a watch that has not ended
  std::optional<std::string> restart_at_
      EVENKEEL_GUARDED_BY(mutex_);  // for a watch whose start has not returned
  bool over_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool finished_ EVENKEEL_GUARDED_BY(mutex_) = false;     // `done_` was called
  std::exception_ptr error_ EVENKEEL_GUARDED_BY(mutex_);  // of a wait that is over, or null
};

}  // namespace

bool wait_raw(const Client& client, const ResourceId& resource, const ObjectKey& key,
              const std::function<bool(RawState)>& is_met, const std::stop_token& stop) {
  const EitherStop either(BoundLimits(client).stop(), stop);
  const Client stoppable = client.with({.stop = either.token()});
  RawList list;
  // Returns false if `stop` ended the list.
  const auto read = [&] {
    try {
      list = stoppable.run(
          calls::list_raw(resource, {.namespace_ = key.namespace_, .field_selector = selector_of(key)}));
      return true;
    } catch (const Cancelled&) {
      if (!stop.stop_requested()) throw;
      return false;
    }
  };
  if (!read()) return false;
  if (is_met(state_of(list))) return true;
  RawWatch watch(client, resource,
                 {.namespace_ = key.namespace_,
                  .field_selector = selector_of(key),
                  .resource_version = list.resource_version});
  while (auto event = watch.next(stop)) {
    const bool gone = event->type == WatchEventType::gone;
    if (gone && !read()) return false;
    if (is_met(gone ? state_of(list) : state_of(std::move(*event)))) return true;
    if (gone) watch.restart(list.resource_version);
  }
  return false;
}

std::shared_ptr<http::Call> start_raw_wait(const Client& client, const ResourceId& resource,
                                           const ObjectKey& key, std::function<bool(RawState)> is_met,
                                           std::function<void(std::exception_ptr)> done) {
  return std::make_shared<Wait>(client, resource, key, std::move(is_met), std::move(done))->start();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
