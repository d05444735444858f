// SPDX-License-Identifier: Apache-2.0
#include "programs/coordctl/commands.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/janitor.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/overview.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/coordination/store_url.hpp>

#include "base/shown_text.hpp"
#include "programs/coordctl/gates.hpp"

namespace evenkeel::program {
namespace {

namespace co = coordination;

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::shared_ptr<co::Store> open(const CoordFlags& flags) {
  // On the heap: g++ 12 warns that options on the stack are uninitialised when it inlines their destructor.
  const auto options = std::make_unique<co::StoreUrlOptions>();
  options->root = flags.root;
  options->schemes = flags.schemes;
  options->kubeconfig = flags.kubeconfig;
  options->tls.ca_file = flags.ca_file;
  options->credentials_in_clear = flags.credentials_in_clear;
  return co::open_store(flags.store, *options);
}

// Prints one line. Scopes and reasons are what other instances wrote.
void print_line(const std::string& text) {
  print(detail::shown_text(text) + "\n");
}

int refuse(const std::string& why) {
  show_problem(why);
  return refused;
}

Duration duration_of(const std::string& text, const char* flag) {
  const std::optional<Duration> duration = parse_duration(text);
  if (duration && *duration > Duration::zero()) return *duration;
  throw std::invalid_argument(std::string(flag) + ": \"" + text + "\" is not a duration such as 30s or 10m");
}

/// Waits until something may have changed, or `interval` has passed.
class ChangeSignal {
 public:
  ChangeSignal(co::Store& store, const co::KeyRange& range)
      : watch_(store.watch(range, [this] {
          MutexLock guard(mutex_);
          signaled_ = true;
          condition_.notify_all();
        })) {}

  void wait(Duration interval) EVENKEEL_EXCLUDES(mutex_) {
    const Clock& clock = *real_clock();
    const TimePoint deadline = deadline_after(clock.now(), interval);
    MutexLock guard(mutex_);
    while (!signaled_ && clock.now() < deadline) clock.wait_until(condition_, guard, deadline);
    signaled_ = false;
  }

 private:
  Mutex mutex_;
  CondVar condition_;
  bool signaled_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<co::StoreWatch> watch_;  // last, as its callback uses the other members
};

/// Reads until `scope` was silent for as long as the janitor requires; returns false if it wrote during that
/// time.
bool wait_for_silence(co::Janitor& janitor, const std::string& scope, Duration silence) {
  std::optional<co::Version> first;
  const Clock& clock = *real_clock();
  while (true) {
    const std::vector<co::ScopeReport> reports = janitor.report();
    const auto is_it = [&](const co::ScopeReport& one) { return one.instance.scope == scope; };
    const auto found = std::find_if(reports.begin(), reports.end(), is_it);
    if (found == reports.end() || found->instance.presence != co::Presence::live) return true;
    if (!first) first = found->instance.version;
    if (*first != found->instance.version) return false;
    sleep_until(
        clock,
        deadline_after(clock.now(), silence - found->instance.unchanged + std::chrono::milliseconds{10}),
        std::stop_token());
  }
}

/// Prints the overview and the gate's decisions for the watch command.
class WatchRenderer {
 public:
  WatchRenderer(const Target& target, const CoordFlags& flags)
      : WatchRenderer(target, duration_of(flags.quiet_window, "--quiet-window"),
                      {.silence = duration_of(flags.silent_after, "--silent-after")}) {}

  std::string render() {
    const Clock& clock = *real_clock();
    const std::unique_ptr<co::StoreSnapshot> snapshot = target_.store->snapshot();
    const TimePoint now = clock.now();
    const co::Overview overview = overviewer_.take(*snapshot, now);
    std::string text = co::text_of(overview, clock.wall_now());
    for (const std::string& line : gates_.lines(*snapshot, actions_of(overview.sets), now)) {
      text += "gate   " + detail::shown_text(line) + "\n";
    }
    return text;
  }

 private:
  WatchRenderer(const Target& target, Duration quiet_window, co::LivenessOptions liveness)
      : target_(target),
        overviewer_(target.layout, liveness),
        gates_(target.layout, quiet_window, liveness) {}

  const Target& target_;
  co::Overviewer overviewer_;
  Gates gates_;
};

std::string entries_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}

int print_swept(const co::Swept& swept, const std::string& scope) {
  if (!swept.removed) return refuse(swept.why);
  print_line("removed " + entries_text(swept.entries) + " of " + scope);
  return done;
}

void print_orphans(const std::vector<co::ScopeReport>& reports) {
  std::size_t orphans = 0;
  for (const co::ScopeReport& one : reports) {
    if (!one.moving_to.empty()) {
      print_line(one.instance.scope + ": is being moved to " + one.moving_to + " (migrate " +
                 one.instance.scope + " " + one.moving_to + " --any-owner completes that)");
    }
    if (!one.orphan) continue;
    ++orphans;
    print_line(one.instance.scope + ": " + entries_text(one.entries) + ", " +
               std::string(co::text_of(one.instance.presence)));
  }
  if (orphans == 0) print("every scope has a live instance\n");
}

int print_denied(const std::vector<co::Denied>& list) {
  std::string text = "denied:";
  for (const co::Denied& one : list) text += " " + one.scope;
  print_line(text + (list.empty() ? " none" : ""));
  return done;
}

}  // namespace

void show_problem(const std::string& problem) {
  std::fprintf(stderr, "coordctl: %s\n", detail::shown_text(problem).c_str());
}

Target::Target(const CoordFlags& flags) : store(open(flags)), layout(flags.root) {}

int show(const CoordFlags& flags) {
  const Target target(flags);
  co::Overviewer overviewer(target.layout);
  const Clock& clock = *real_clock();
  const co::Overview overview = overviewer.take(*target.store->snapshot(), clock.now());
  print(flags.json ? co::json_of(overview).dump(2) + "\n" : co::text_of(overview, clock.wall_now()));
  return done;
}

int watch(const CoordFlags& flags) {
  const Duration interval = duration_of(flags.interval, "--interval");
  const Target target(flags);
  WatchRenderer renderer(target, flags);
  ChangeSignal changes(*target.store, co::prefix_range(target.layout.all_prefix()));
  std::string last;
  for (std::size_t printed = 0; flags.times == 0 || printed < flags.times;) {
    std::string text;
    try {
      text = renderer.render();
    } catch (const co::StoreUnavailable& error) {
      text = detail::shown_text(std::string("store unavailable: ") + error.what()) + "\n";
    }
    if (text != last) {
      print((last.empty() ? "" : "\n") + text);
      last = text;
      ++printed;
      if (printed == flags.times) break;
    }
    changes.wait(interval);
  }
  return done;
}

int deny(const CoordFlags& flags) {
  const Target target(flags);
  co::DenyList list(*target.store, target.layout, flags.writer);
  return print_denied(list.apply({{.scope = flags.scope}}, flags.reason));
}

int allow(const CoordFlags& flags) {
  const Target target(flags);
  co::DenyList list(*target.store, target.layout, flags.writer);
  return print_denied(list.apply({{.scope = flags.scope, .allow = true}}));
}

int unlock(const CoordFlags& flags) {
  const Target target(flags);
  const co::LockRecord lock = co::free_lock(*target.store, target.layout, flags.writer);
  print("the lock is free, epoch " + std::to_string(lock.epoch) + "\n");
  return done;
}

int drain(const CoordFlags& flags) {
  const Target target(flags);
  co::Janitor janitor(*target.store, target.layout, flags.writer);
  return print_swept(janitor.drain(flags.scope), flags.scope);
}

int migrate(const CoordFlags& flags) {
  const Target target(flags);
  // A person is not an instance: migrated records keep their instance.
  const co::Identity writer{flags.to, flags.writer, flags.writer};
  co::ScopeMigrator migrator(*target.store, target.layout, writer, {.any_owner = flags.any_owner});
  const co::Migration migration = migrator.migrate(flags.scope);
  switch (migration.outcome) {
    case co::MigrationOutcome::moved:
      print_line("moved " + entries_text(migration.members) + " of " + flags.scope + " to " + flags.to +
                 ", transactions: " + std::to_string(migration.transactions));
      return done;
    case co::MigrationOutcome::nothing:
      print_line(flags.scope + " has no entries");
      return done;
    case co::MigrationOutcome::refused:
      return refuse(migration.why);
    case co::MigrationOutcome::unavailable:
      break;
  }
  throw co::StoreUnavailable(migration.why);
}

int janitor(const CoordFlags& flags) {
  const Duration silence = duration_of(flags.silence, "--silence");
  const Target target(flags);
  co::Janitor janitor(*target.store, target.layout, flags.writer, {.silence = silence});
  if (flags.scope.empty()) {
    print_orphans(janitor.report());
    return done;
  }
  if (flags.wait && !wait_for_silence(janitor, flags.scope, silence)) {
    return refuse("the instance of " + flags.scope + " is live: it renewed its record");
  }
  return print_swept(janitor.sweep(flags.scope), flags.scope);
}

}  // namespace evenkeel::program
