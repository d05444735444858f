// SPDX-License-Identifier: Apache-2.0
// Work on the numbers below a count, shared by a few threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Calls `work` with each number below `count`, on `threads` threads of which the caller's is one. Rethrows
/// an exception of `work` when all threads have ended; the thread that threw takes no further numbers.
template <class Work>
void for_each_index(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> errors(threads);
  const auto run = [&](std::size_t worker) {
    try {
      for (std::size_t at = next++; at < count; at = next++) work(at);
    } catch (...) {
      errors[worker] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t worker = 1; worker < threads; ++worker) others.emplace_back(run, worker);
  run(0);
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
