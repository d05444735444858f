// SPDX-License-Identifier: Apache-2.0
#include "manager/console_shell.hpp"

#include <utility>
#include <vector>

#include "manager/console_sample.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

ConsoleShell::ConsoleShell(ConsoleSources sources, ConsoleHistoryOptions options)
    : sources_(std::move(sources)), history_(options) {}

void ConsoleShell::start() {
  thread_ = std::thread([this] {
    if (sources_.on_thread_start) sources_.on_thread_start("console");
    run();
  });
}

void ConsoleShell::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void ConsoleShell::run() {
  while (true) {
    sample();
    MutexLock lock(mutex_);
    while (!stopped_ && sources_.clock->now() < history_.next_due()) {
      sources_.clock->wait_until(changed_, lock, history_.next_due());
    }
    if (stopped_) return;
  }
}

// Controllers are read without the lock: theirs are taken for it.
void ConsoleShell::sample() {
  std::vector<ControllerSample> samples;
  for (const Controller* controller : sources_.controllers()) samples.push_back(sample_of(*controller));
  MutexLock lock(mutex_);
  history_.on_sample(sources_.clock->now(), samples);
}

http::Response ConsoleShell::answer(const http::ServerCall& call) const {
  ConsoleSubjects subjects = sources_.subjects();
  if (call.rest == "sections") subjects.section_contents = read_sections(subjects.sections);
  MutexLock lock(mutex_);
  return answer_console(call.rest, call.target, subjects, history_);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
