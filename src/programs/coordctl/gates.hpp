// SPDX-License-Identifier: Apache-2.0
// What the gate says of each action, for who watches: how long the quiet window still is, or who is waited
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

/// "restart: quiet window, 12s left", "restart: waits for dc3 (16 not ready)", "restart: open for 32 units;
/// without dc3: silent for 2m0s".
std::string gate_line(const coordination::View& view, const coordination::Verdict& verdict, TimePoint now);

/// Asks the gate again and again, as an instance in mode global would that waits for everybody to be ready.
/// Windows and silence count from what this object saw first. Thread safety: one thread at a time.
class Gates {
 public:
  Gates(coordination::Layout layout, Duration quiet_window, coordination::LivenessOptions liveness);
  /// A line for each of the actions that somebody needs. Throws as StoreSnapshot does.
  std::vector<std::string> lines(coordination::StoreSnapshot& snapshot,
                                 const std::vector<std::string>& actions, TimePoint now);

 private:
  const coordination::Layout layout_;
  const Duration quiet_window_;
  coordination::Viewer viewer_;
  coordination::ViewCache cache_;
};

/// "restart" for "readyForRestart": the actions that somebody among `sets` is ready for.
std::vector<std::string> actions_of(const std::vector<std::string>& sets);

}  // namespace evenkeel::program
