// SPDX-License-Identifier: Apache-2.0
// The writes of a run, by the operator and by its workload, its explore points, the reads of its caches, and
// the texts by which plans name writes and points.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/plan.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct TracedWrite {
  Moment moment = {};
  bool of_workload = false;
  std::string resource = {};    ///< With group, without subresource: "demos.demo.evenkeel.dev".
  std::string collection = {};  ///< Path of all objects of the resource; empty if it is not known.
  std::string object = {};      ///< Resource and key; a generated name is its prefix and '*'.
  ObjectKey key = {};           ///< With a generated name as it is; without name: a collection.
  Json before = {};
  Json after = {};
  bool ok = false;
  bool effective = false;  ///< The object changed, beyond what the server manages.
  bool of_leader = false;  ///< Belongs to a controller that only the leader runs.
  bool versioned = false;  ///< It demands a resourceVersion or uid, so that it can meet a conflict.
  std::size_t runs = 0;    ///< Number of runs that had begun.
  std::size_t idles = 0;   ///< Number of times at which the operator had had nothing left to do.
  Duration at = {};        ///< Virtual time.
  std::optional<apiserver::World> world = {};  ///< Before the write; only in a reference.

  bool creates() const { return before.is_null() && !after.is_null(); }
  /// Returns true if the object is gone or begins to be deleted.
  bool deletes() const;
  /// Returns true if the server may delete other objects because of it.
  bool removes() const { return after.is_null() || deletes(); }
};

/// An explore point that was reached.
struct TracedPoint {
  Moment moment = {};
  std::size_t writes = 0;  ///< Number of writes before it.
  std::size_t runs = 0;    ///< Number of runs that had begun.
  bool of_leader = false;  ///< Belongs to a controller that only the leader runs.
};

/// The reads of the caches by the operator.
struct TracedReads {
  std::set<std::pair<std::string, ObjectKey>> objects = {};  ///< By resource and key, also of absent ones.
  std::set<std::pair<std::string, std::string>> lists = {};  ///< By resource and namespace; empty: all.
};

struct Trace {
  std::vector<TracedWrite> writes = {};
  std::vector<TracedPoint> points = {};
  TracedReads reads = {};  ///< Only in a reference.

  const TracedWrite* find(const Moment& moment) const;
};

/// Returns the text of a write in moments, without a prefix for the workload.
std::string text_of(const Write& write);
/// Returns the entry of a write that was answered; `moment` and the members after `versioned` are not set.
TracedWrite traced(const Write& write);
/// Returns true for the resources that no plan is about: Events and Leases.
bool is_incidental(const std::string& resource);
/// Returns "demos.demo.evenkeel.dev" for "demos.demo.evenkeel.dev/status".
std::string without_subresource(const std::string& resource);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
