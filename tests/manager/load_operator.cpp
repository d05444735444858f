// SPDX-License-Identifier: Apache-2.0
// An operator for tests of processes under load: each ConfigMap with data.wanted gets data.seen. It records
// the keys that it reconciles with times, and fails on request.
//
// Environment: LOAD_JOURNAL, a file that lines are appended to:
//   begin PID TERM NAME NANOSECONDS     start of a reconcile (wall clock)
//   end PID TERM NAME NANOSECONDS       its end
// LOAD_FAILURES: percentage of reconciles that throw. LOAD_PANIC: a name whose reconcile ends the program.
// LOAD_STUCK: a name whose reconcile ignores its stop token and never ends.
// LOAD_WORK_MS: maximum duration of a reconcile; default 10. LOAD_SETUP: error with which the setup fails.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

namespace {

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

class Journal {
 public:
  Journal() {
    if (const char* path = std::getenv("LOAD_JOURNAL"))
      file_ = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }
  // One write, so that lines of several processes are not interleaved.
  void note(const char* what, const ek::Context& context) const {
    if (file_ < 0) return;
    std::array<char, 256> line{};
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const int size = std::snprintf(line.data(), line.size(), "%s %d %llu %s %lld\n", what, ::getpid(),
                                   static_cast<unsigned long long>(context.term().value_or(0)),
                                   context.key().name.c_str(), static_cast<long long>(now.count()));
    if (::write(file_, line.data(), static_cast<std::size_t>(size)) != size) std::abort();
  }

 private:
  int file_ = -1;
};

// Records the end of a reconcile, in whatever way it ends.
class Interval {
 public:
  Interval(const Journal& journal, const ek::Context& context) : journal_(journal), context_(context) {
    journal_.note("begin", context_);
  }
  ~Interval() { journal_.note("end", context_); }
  Interval(const Interval&) = delete;
  Interval& operator=(const Interval&) = delete;

 private:
  const Journal& journal_;
  const ek::Context& context_;
};

std::uint64_t random_number() {
  static std::atomic<std::uint64_t> state = static_cast<std::uint64_t>(::getpid());
  std::uint64_t z = state.fetch_add(0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return (z ^ (z >> 27)) >> 16;
}

void fail_sometimes() {
  static const auto percent = static_cast<std::uint64_t>(number("LOAD_FAILURES", 0));
  if (random_number() % 100 >= percent) return;
  if (random_number() % 2 == 0) throw 42;
  throw std::runtime_error("a failure that was asked for");
}

void work(const ek::Context& context) {
  static const auto most = static_cast<std::uint64_t>(number("LOAD_WORK_MS", 10));
  const auto time = std::chrono::microseconds(random_number() % (most * 1000 + 1));
  ek::sleep_until(context.clock(), context.clock().now() + time, context.stop());
}

ek::Result reconcile(const Journal& journal, ek::Context& context, const ek::ConfigMap& map) {
  const auto wanted = map.data.find("wanted");
  if (wanted == map.data.end()) return ek::done();
  const Interval interval(journal, context);
  if (const char* panic = std::getenv("LOAD_PANIC"); panic != nullptr && map.metadata.name == panic)
    throw std::logic_error("a bug that was asked for");
  if (const char* stuck = std::getenv("LOAD_STUCK"); stuck != nullptr && map.metadata.name == stuck) {
    for (;;) ::pause();
  }
  work(context);
  fail_sometimes();
  const auto seen = map.data.find("seen");
  if (seen != map.data.end() && seen->second == wanted->second) return ek::done();
  context.patch(map, [&](ek::ConfigMap& edited) { edited.data["seen"] = wanted->second; });
  fail_sometimes();
  return ek::done();
}

}  // namespace

int main(int argc, char** argv) {
  const Journal journal;
  ek::RunOptions run{.name = "load-operator"};
  if (std::getenv("LOAD_STUCK") != nullptr)
    run.manager.lifecycle.cancel_period = std::chrono::milliseconds{50};
  return ek::run(argc, argv, run, [&](ek::Manager& manager) {
    if (const char* failure = std::getenv("LOAD_SETUP")) throw std::runtime_error(failure);
    ek::ControllerOptions options{.workers = 4};
    options.limiter = [] {
      return ek::exponential(std::chrono::milliseconds{2}, std::chrono::milliseconds{50});
    };
    if (std::getenv("LOAD_PANIC") != nullptr) options.on_panic = ek::OnPanic::fail;
    manager.add(ek::controller_for<ek::ConfigMap>([&](ek::Context& context, const ek::ConfigMap& map) {
                  return reconcile(journal, context, map);
                }).with(options));
  });
}
