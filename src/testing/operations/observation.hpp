// SPDX-License-Identifier: Apache-2.0
// The facts about one stage of a run: after a creation, a change, or a change back.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "testing/explore/end_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct Observation {
  std::optional<apiserver::World> world = {};
  bool settled = false;
  std::string unsettled_reason = {};  ///< Why the operator has not settled; empty if it has.
  std::string failure = {};           ///< The error of a key whose last run failed; empty if there is none.
  /// Objects that the operator deleted or scaled down, and that were there before the stage.
  std::vector<std::string> losses = {};
};

/// The state that belongs to an observation.
struct Seen {
  Observation facts = {};
  EndState state = {};
  std::set<std::string> warnings = {};  ///< Warning Events about the object: reason and message.
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
