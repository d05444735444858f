// SPDX-License-Identifier: Apache-2.0
// The state of a domain as a section of the operator's console (docs/console.md):
//
//     manager.add_console_section("Coordination", coordination::console_section(store, layout));
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

struct ConsoleSectionOptions {
  Duration interval = std::chrono::seconds{5};  ///< Least time from the end of a read to the next one; > 0.
  /// Keys and values of one read; > 0. Of a domain with more, an error is shown.
  std::size_t most_bytes = std::size_t{4} << 20U;
  LivenessOptions liveness = {};  ///< Must equal the liveness options of the domain's instances.
  std::shared_ptr<const Clock> clock = real_clock();
};

/// Returns a function for Manager::add_console_section(), which shows the lock, instances, sets, claims and
/// the deny list. It returns what was read last, with its age, and the problem if the store could not be read
/// since. The store is read in the background while the function is called: by a thread that its first call
/// starts, one read at a time. The function never waits for the store, and its result is bounded: tables have
/// at most 100 rows, cells 240 bytes. Silence of instances counts from the first read. Throws
/// std::invalid_argument for options out of range.
/// Thread safety: the function may be called concurrently.
/// Lifetime: `store` must outlive the function and its copies. The end of the last copy cancels a read in
/// progress and joins the thread.
EVENKEEL_API std::function<Json()> console_section(Store& store, const Layout& layout,
                                                   ConsoleSectionOptions options = {});

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
