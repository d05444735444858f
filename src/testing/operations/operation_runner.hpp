// SPDX-License-Identifier: Apache-2.0
// Runs of operations(): each begins in a harness of its own, from a given state of the server.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/testing/operations.hpp>

#include "testing/explore/interventions.hpp"
#include "testing/operations/observation.hpp"
#include "testing/operations/property_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// The server's answer to a change, without making it.
struct Admission {
  std::string refusal = {};  ///< Empty if it is accepted.
  bool effective = false;    ///< The object would change, to the value given.
  Json document = {};        ///< The object after it, see OperationRunner::document().
};

/// A change and the change back.
struct ChangeRun {
  std::vector<std::string> restless = {};  ///< Writes of the operator between its start and the change.
  Observation before = {};
  Observation after = {};
  std::optional<Observation> rolled_back = {};  ///< If the server accepted the change back.
  std::string timeline = {};
};

/// A creation.
struct CreationRun {
  std::string refusal = {};  ///< Error of the server; empty if it accepted the object.
  Observation after = {};
};

/// Lifetime: keeps references to the arguments of its constructor.
class OperationRunner {
 public:
  using MakeControllers = std::function<std::vector<ControllerSpec>()>;
  OperationRunner(const MakeControllers& make, const OperationSubject& subject,
                  const OperationsOptions& options);

  /// Returns the given object as the server stores it, without status and what the server manages.
  const Json& document() const { return document_; }
  /// Returns the object's key in end states.
  std::string object() const;

  Admission admission(const apiserver::World& world, const PropertyPath& path,
                      const std::optional<Json>& value) const;
  CreationRun create(const Json& document);
  /// Changes the object and changes it back; `tells`: also makes the timeline.
  ChangeRun change(const apiserver::World& world, const PropertyPath& path, const std::optional<Json>& value,
                   bool tells);
  /// Adds the state, as far as objects are known so far, to an observation.
  Seen look_at(Observation facts) const;
  /// Number of resources of which objects were seen; states that were taken with fewer are incomplete.
  std::size_t resources_seen() const { return collections_.size(); }

 private:
  struct Process;
  void prepare();
  std::vector<ControllerSpec> controllers() const;
  HarnessOptions harness_options(const apiserver::World& world) const;
  bool settle_once(Harness& harness) const;
  void settle(Process& process, Observation& facts) const;
  Observation observe(Process& process);
  std::vector<std::string> losses(const Process& process) const;
  void note_collections(const Trace& trace);
  /// False for Events, Leases and what the options leave out.
  bool is_compared(const std::string& resource) const;
  void normalize(Json& object) const;
  bool makes_difference(const TracedWrite& write) const;
  Json objects_at(apiserver::SharedCore& core, const std::string& path) const;

  const MakeControllers& make_;
  const OperationSubject& subject_;
  const OperationsOptions& options_;
  ObjectKey key_;
  std::optional<apiserver::World> world_;  // with the definitions of the kinds
  Json document_;
  std::map<std::string, std::string> collections_;  // paths by resource
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
