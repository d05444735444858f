// SPDX-License-Identifier: Apache-2.0
// Parallel loop, for a reconcile that has to wait for many calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace evenkeel {
inline namespace v0 {

struct ParallelizeOptions {
  std::size_t workers = 8;    ///< Threads, including the calling one; at least 1.
  std::size_t chunk = 1;      ///< Number of consecutive pieces taken at a time; at least 1.
  std::stop_token stop = {};  ///< Once requested, no further chunk is started.
};

/// Calls work(piece) once for every piece from 0 to `pieces` - 1, in no particular order, and returns when
/// all calls have returned. The first exception ends the loop: no further chunk is started, and the exception
/// is rethrown here. Returns true if all pieces were processed, which only a stop prevents.
/// Throws std::invalid_argument for no workers or an empty chunk. Blocks: until the last call returns.
/// Thread safety: work is called on several threads at once.
/// Source: client-go util/workqueue ParallelizeUntil; here the calling thread works, too.
template <class Work>
bool parallelize(std::size_t pieces, const Work& work, const ParallelizeOptions& options = {}) {
  if (options.workers == 0 || options.chunk == 0) {
    throw std::invalid_argument("parallelize: workers and chunk must not be 0");
  }
  std::atomic<std::size_t> next_chunk = 0;
  std::atomic<std::size_t> done = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;  // written once, by the thread that sets failed; read after all threads ended
  const std::size_t chunks = pieces / options.chunk + (pieces % options.chunk == 0 ? 0 : 1);
  const auto run = [&]() noexcept {
    for (std::size_t chunk = next_chunk++; chunk < chunks; chunk = next_chunk++) {
      if (failed || options.stop.stop_requested()) return;
      const std::size_t first = chunk * options.chunk;
      const std::size_t end = pieces - first < options.chunk ? pieces : first + options.chunk;
      try {
        for (std::size_t piece = first; piece < end; ++piece) work(piece);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
        return;
      }
      done += end - first;
    }
  };
  {
    std::vector<std::jthread> threads;  // joined at the end of this scope, even if one cannot be started
    const std::size_t useful = options.workers < chunks ? options.workers : chunks;
    for (std::size_t i = 1; i < useful; ++i) threads.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
  return done == pieces;
}

}  // namespace v0
}  // namespace evenkeel
