// SPDX-License-Identifier: Apache-2.0
// The gate's decision for each action, for people: the remaining quiet window, or the units that are waited
// for.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/gate.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::program {

/// Returns "restart: quiet window, 12s left", "restart: waits for dc3 (16 not ready)", or "restart: open for
/// 32 units; without dc3: silent for 2m0s".
std::string gate_line(const coordination::View& view, const coordination::Verdict& verdict, TimePoint now);

/// Evaluates the gate repeatedly, like an instance in mode global that waits for all units to be ready.
/// Windows and silence are measured from the first observation of this object.
/// Thread safety: one thread at a time.
class Gates {
 public:
  Gates(coordination::Layout layout, Duration quiet_window, coordination::LivenessOptions liveness);
  /// Returns a line for each action that some unit needs. Throws as StoreSnapshot does.
  std::vector<std::string> lines(coordination::StoreSnapshot& snapshot,
                                 const std::vector<std::string>& actions, TimePoint now);

 private:
  const coordination::Layout layout_;
  const Duration quiet_window_;
  coordination::Viewer viewer_;
  coordination::ViewCache cache_;
};

/// Returns "restart" for "readyForRestart": the actions for which `sets` contains ready units.
std::vector<std::string> actions_of(const std::vector<std::string>& sets);

}  // namespace evenkeel::program
