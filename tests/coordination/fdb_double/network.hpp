// SPDX-License-Identifier: Apache-2.0
// The thread and the futures of the double: as in libfdb_c, all requests are executed in order on the one
// thread that called fdb_run_network().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fdb_double {

/// Thread safety: all members may be called concurrently.
class Network {
 public:
  static Network& instance();

  int select_api_version(int runtime, int header);
  int setup();
  int run();
  int stop();
  int api_version_problem() const;  ///< 0, or the error of any call before fdb_select_api_version().
  bool on_its_thread() const;

  void post(std::function<void()> task);
  void post_at(std::chrono::steady_clock::time_point when, std::function<void()> task);

 private:
  enum class Life : std::uint8_t { unset, selected, ready, running, stopped };

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Life life_ = Life::unset;
  bool stopping_ = false;
  std::thread::id thread_;
  std::deque<std::function<void()>> tasks_;
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> timers_;
};

struct Answer {
  int error = 0;
  std::int64_t number = 0;
  bool present = false;
  std::string value = {};
  std::vector<std::pair<std::string, std::string>> rows = {};
  bool more = false;
};

/// A future, set once on the network's thread; later results are dropped.
class Future {
 public:
  void set(Answer answer);
  void fail(int error) { set({.error = error}); }
  int wait();
  /// Null before it is set.
  const Answer* get() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  bool set_ = false;
  Answer answer_;
};

}  // namespace fdb_double
