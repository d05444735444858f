// SPDX-License-Identifier: Apache-2.0
// Two thousand reconciles that wait for each other, on two threads: each asks the server, and returns only
// when all of them have its answer. Exits with 1 if they did not meet.
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

namespace {

constexpr std::size_t objects = 2000;

// The place where the reconciles meet. A wait here suspends a fiber, as every wait of the library does.
class MeetingPoint {
 public:
  void arrive_and_wait(const std::stop_token& stop) {
    const ek::StopWaker waker(stop, mutex_, all_here_);
    ek::MutexLock lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    if (++here_ == objects) all_here_.notify_all();
    while (here_ < objects && !stop.stop_requested()) all_here_.wait(lock);
  }
  // Returns the number of threads on which the reconciles ran.
  std::size_t wait_for_all() {
    ek::MutexLock lock(mutex_);
    while (here_ < objects) all_here_.wait(lock);
    return threads_.size();
  }

 private:
  ek::Mutex mutex_;
  ek::CondVar all_here_;
  std::size_t here_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::set<std::thread::id> threads_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace

int main() {
  const auto server = std::make_shared<ek::apiserver::InProcessTransport>();
  const ek::Client client({.server = "http://cluster"}, {.transport = server});
  for (std::size_t i = 0; i < objects; ++i) {
    client.create(ek::ConfigMap{.metadata = {.name = "map-" + std::to_string(i), .namespace_ = "default"}});
  }

  MeetingPoint meeting_point;
  ek::Manager manager(client);
  const auto& controller =
      manager.add(ek::controller_for<ek::ConfigMap>([&](ek::Context& context, const ek::ConfigMap&) {
                    context.client().get<ek::ConfigMap>(context.key());  // blocks the fiber, not the thread
                    meeting_point.arrive_and_wait(context.stop());
                  }).with({.workers = 2, .in_flight = objects}));
  std::jthread running([&](const std::stop_token& stop) { manager.run(stop); });

  const std::size_t threads = meeting_point.wait_for_all();
  running.request_stop();
  running.join();
  std::printf("%zu reconciles met, on %s\n", objects, threads <= 2 ? "two threads" : "too many threads");
  return threads <= 2 && controller.counts().error == 0 ? 0 : 1;
}
