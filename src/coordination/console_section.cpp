// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/coordination/console_section.hpp>
#include <evenkeel/coordination/overview.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "base/caught.hpp"
#include "coordination/bounded_snapshot.hpp"
#include "coordination/overview_feed.hpp"
#include "coordination/overview_section.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

ConsoleSectionOptions checked(ConsoleSectionOptions options) {
  if (options.interval <= Duration::zero()) {
    throw std::invalid_argument("ConsoleSectionOptions: interval must be positive");
  }
  if (options.most_bytes == 0) {
    throw std::invalid_argument("ConsoleSectionOptions: most_bytes must be positive");
  }
  return options;
}

/// Shell of OverviewFeed: the thread that reads.
class SectionReader final : public evenkeel::detail::Job {
 public:
  SectionReader(Store& store, const Layout& layout, ConsoleSectionOptions options)
      : store_(store),
        options_(checked(std::move(options))),
        overviewer_(layout, options_.liveness),
        feed_(store.name(), layout.root(), options_.interval) {}
  ~SectionReader() override {
    stop_.request_stop();
    if (runner_) runner_->forget(*this);
  }
  SectionReader(const SectionReader&) = delete;
  SectionReader& operator=(const SectionReader&) = delete;

  Json look() EVENKEEL_EXCLUDES(mutex_) {
    const TimePoint now = options_.clock->now();
    MutexLock lock(mutex_);
    if (!runner_) runner_.emplace(options_.clock, 1);  // before a read counts as begun: it may throw
    if (feed_.on_look(now)) runner_->wake(*this);
    return feed_.latest(now);
  }

  void run() noexcept override EVENKEEL_EXCLUDES(mutex_) {
    std::string problem;
    try {
      return read();
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
      problem = evenkeel::detail::foreign_exception;
    }
    MutexLock lock(mutex_);
    feed_.on_failure(problem, options_.clock->now());
  }

 private:
  void read() EVENKEEL_EXCLUDES(mutex_) {
    const std::unique_ptr<StoreSnapshot> snapshot = store_.snapshot(stop_.get_token());
    detail::BoundedSnapshot bounded(*snapshot, options_.most_bytes);
    const Overview overview = overviewer_.take(bounded, options_.clock->now());
    Json blocks = detail::blocks_of(overview, options_.clock->wall_now());
    MutexLock lock(mutex_);
    feed_.on_read(std::move(blocks), overview.version, options_.clock->now());
  }

  Store& store_;
  const ConsoleSectionOptions options_;
  Overviewer overviewer_;  // of the reading thread
  std::stop_source stop_;
  Mutex mutex_;
  detail::OverviewFeed feed_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<evenkeel::detail::JobRunner>
      runner_;  // set under mutex_; last, as its thread uses the others
};

}  // namespace

std::function<Json()> console_section(Store& store, const Layout& layout, ConsoleSectionOptions options) {
  return [reader = std::make_shared<SectionReader>(store, layout, std::move(options))] {
    return reader->look();
  };
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
