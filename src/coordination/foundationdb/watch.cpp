// SPDX-License-Identifier: Apache-2.0
#include "coordination/foundationdb/watch.hpp"

#include <chrono>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

// Time between two tries while the database does not answer.
constexpr Duration retry_delay = std::chrono::seconds{1};

}  // namespace

FdbWatch::FdbWatch(FDBDatabase* database, FoundationDbStoreOptions options, std::string key,
                   std::function<void()> hint)
    : database_(database),
      options_(std::move(options)),
      key_(std::move(key)),
      hint_(std::move(hint)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

FdbWatch::~FdbWatch() = default;

void FdbWatch::run(const std::stop_token& stop) {
  const RealClock clock;
  while (!stop.stop_requested()) {
    try {
      look_and_wait(stop);
    } catch (const Error&) {
      // The next look finds what has changed until then.
      sleep_until(clock, clock.now() + retry_delay, stop);
    }
  }
}

void FdbWatch::look_and_wait(const std::stop_token& stop) {
  FdbFuture changed;
  {
    const FdbTransaction transaction(database_, options_, stop);
    const std::optional<Entry> entry = transaction.read(key_);
    const Version version = entry ? entry->version : 0;
    if (seen_ && *seen_ != version) hint_();
    seen_ = version;
    changed = transaction.watch(key_);
    transaction.commit();
  }
  const auto cancel = [&changed] { fdb_future_cancel(changed.get()); };
  const std::stop_callback on_stop(stop, cancel);
  check(fdb_future_block_until_ready(changed.get()));
  check(fdb_future_get_error(changed.get()));
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
