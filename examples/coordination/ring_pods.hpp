// SPDX-License-Identifier: Apache-2.0
// Labels, annotations and formats of Pods that the operator shares with the simulated nodes.
#pragma once

#include <string>
#include <string_view>

/// Labels and annotations of the Pods, read by the operator and by the simulated nodes. The ConfigMap with
/// the name of the cluster has `version` and `arguments` for all of them.
inline constexpr std::string_view cluster_label = "ringdb.evenkeel.dev/cluster";
inline constexpr std::string_view class_label = "ringdb.evenkeel.dev/class";
inline constexpr std::string_view group_label = "ringdb.evenkeel.dev/process-group";
/// The annotation with the text of `configuration` that a node has copied from the ConfigMap to the Pod.
inline constexpr std::string_view synced_annotation = "ringdb.evenkeel.dev/synced";

/// Returns the configuration as text, for ConfigMap and annotation: "7.1.0 --knob_a=1".
inline std::string configuration_text(std::string_view version, std::string_view arguments) {
  return std::string(version) + " " + std::string(arguments);
}
/// Returns the command line of a process: "ringdb-7.1.0 --class=log --locality=dc1-log-1 --knob_a=1".
inline std::string command_line_of(std::string_view version, std::string_view process_class,
                                   std::string_view group, std::string_view arguments) {
  return "ringdb-" + std::string(version) + " --class=" + std::string(process_class) +
         " --locality=" + std::string(group) + (arguments.empty() ? "" : " ") + std::string(arguments);
}
