// SPDX-License-Identifier: Apache-2.0
// The steps of a ProcessGroupCoordinator, as steps of a Pipeline.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Maps a resource type to the input and output of the steps. All members are required unless marked
/// optional.
template <ObjectType T>
struct ProcessGroupAdapter {
  /// Returns the coordinator of the object: the same one for each call, because it keeps what it has
  /// observed.
  std::function<std::shared_ptr<ProcessGroupCoordinator>(Context&, const T&)> coordinator = {};
  /// Returns the mode that the object asks for (automationOptions.synchronizationMode of the FoundationDB
  /// operator). It is read in each pass, and may change in any direction at any time. Optional: if unset, the
  /// mode of the coordinator's options applies.
  std::function<Mode(const T&)> mode = {};
  /// Returns the prefix of the object's process group ids, which is the scope. It is read in each pass; what
  /// is in the store is moved when it changes. Optional: if unset, the scope of the coordinator's options
  /// applies.
  std::function<std::string(const T&)> scope = {};
  std::function<ProcessCluster(const T&)> read = {};
  /// Saves process_groups and connection_string if they differ from the result of read().
  std::function<void(Context&, const T&, const ProcessCluster&)> write = {};
  /// See RemoveGroup.
  std::function<RemovalState(Context&, const T&, const ProcessGroup&)> remove = {};
  /// Returns the desired command line of the group's processes. Optional: if unset, set IncorrectCommandLine
  /// yourself.
  std::function<std::string(const T&, const ProcessGroup&)> wanted_command_line = {};
  /// Returns the deny list entries of the resource. Optional.
  std::function<std::vector<DenyListEntry>(const T&)> deny_list = {};
};

namespace detail {

/// Logs the move of a scope that the present pass completed, if there was one.
EVENKEEL_API void log_migration(const Log& log, const ProcessGroupCoordinator& coordinator);

/// Calls `step` with the object's coordinator and cluster, and saves its changes.
template <ObjectType T, class Call>
Step run_process_group_step(const ProcessGroupAdapter<T>& adapter, Context& context, const T& object,
                            const Call& call) {
  const auto coordinator = adapter.coordinator(context, object);
  ProcessCluster cluster = adapter.read(object);
  const auto groups = cluster.process_groups;
  const auto connection = cluster.connection_string;
  Step step = call(*coordinator, cluster);
  if (cluster.process_groups != groups || cluster.connection_string != connection) {
    adapter.write(context, object, cluster);
  }
  return step;
}

}  // namespace detail

/// Adds the steps in the FoundationDB operator's order and with its names: updateStatus,
/// updateLockConfiguration, operatorCoordination, excludeProcesses, changeCoordinators, bounceProcesses,
/// removeProcessGroups, finish. Add your own steps that update the object's status before.
///
///     ek::Pipeline<RingCluster> steps;
///     steps.step("pods", create_pods);
///     ek::coordination::add_process_group_steps(steps, adapter);
///     manager.add(ek::controller_for<RingCluster>(steps));
///
/// Thread safety: that of the adapter's functions; each object is reconciled by one thread at a time.
template <ObjectType T>
void add_process_group_steps(Pipeline<T>& pipeline, ProcessGroupAdapter<T> given) {
  const auto adapter = std::make_shared<const ProcessGroupAdapter<T>>(std::move(given));
  const auto add = [&](std::string name, auto call) {
    pipeline.step(std::move(name), [adapter, call](Context& context, const T& object) {
      return detail::run_process_group_step(*adapter, context, object, [&](auto& coordinator, auto& cluster) {
        return call(*adapter, context, object, coordinator, cluster);
      });
    });
  };
  add("updateStatus", [](auto& ways, Context& context, const T& object, auto& coordinator, auto& cluster) {
    if (ways.mode) coordinator.set_mode(ways.mode(object));
    if (ways.scope) coordinator.set_scope(ways.scope(object));
    ProcessGroupCoordinator::WantedCommandLine wanted;
    if (ways.wanted_command_line) {
      wanted = [&](const ProcessGroup& group) { return ways.wanted_command_line(object, group); };
    }
    return coordinator.update_status(cluster, wanted, context.stop());
  });
  add("updateLockConfiguration", [](auto& ways, Context& context, const T& object, auto& coordinator, auto&) {
    if (!ways.deny_list) return go_on();
    return coordinator.update_lock_configuration(ways.deny_list(object), context.stop());
  });
  add("operatorCoordination", [](auto&, Context& context, const T&, auto& coordinator, auto& cluster) {
    Step step = coordinator.operator_coordination(cluster, context.stop());
    detail::log_migration(context.log(), coordinator);
    return step;
  });
  add("excludeProcesses", [](auto&, Context& context, const T&, auto& coordinator, auto& cluster) {
    return coordinator.exclude_processes(cluster, context.stop());
  });
  add("changeCoordinators", [](auto&, Context& context, const T&, auto& coordinator, auto& cluster) {
    return coordinator.change_coordinators(cluster, context.stop());
  });
  add("bounceProcesses", [](auto&, Context& context, const T&, auto& coordinator, auto& cluster) {
    return coordinator.bounce_processes(cluster, context.stop());
  });
  add("removeProcessGroups", [](auto& ways, Context& context, const T& object, auto& coordinator,
                                auto& cluster) {
    const RemoveGroup remove = [&](const ProcessGroup& group) { return ways.remove(context, object, group); };
    return coordinator.remove_process_groups(cluster, remove, context.stop());
  });
  add("finish", [](auto&, Context& context, const T&, auto& coordinator, auto& cluster) {
    return coordinator.finish(cluster, context.stop());
  });
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
