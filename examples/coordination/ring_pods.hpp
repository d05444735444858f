// SPDX-License-Identifier: Apache-2.0
// What the operator and the simulated nodes agree upon about pods.
#pragma once

#include <string>
#include <string_view>

/// Labels and annotations of the pods, read by the operator and by the simulated nodes. The ConfigMap with
/// the name of the cluster has `version` and `arguments` for all of them.
inline constexpr std::string_view cluster_label = "ringdb.evenkeel.dev/cluster";
inline constexpr std::string_view class_label = "ringdb.evenkeel.dev/class";
inline constexpr std::string_view group_label = "ringdb.evenkeel.dev/process-group";
/// What a node has copied from the ConfigMap of the cluster to its pod: the text of `configuration`.
inline constexpr std::string_view synced_annotation = "ringdb.evenkeel.dev/synced";

/// What ConfigMap and annotation say of the configuration: "7.1.0 --knob_a=1".
inline std::string configuration_text(std::string_view version, std::string_view arguments) {
  return std::string(version) + " " + std::string(arguments);
}
/// With what a process is started: "ringdb-7.1.0 --class=log --locality=dc1-log-1 --knob_a=1".
inline std::string command_line_of(std::string_view version, std::string_view process_class,
                                   std::string_view group, std::string_view arguments) {
  return "ringdb-" + std::string(version) + " --class=" + std::string(process_class) +
         " --locality=" + std::string(group) + (arguments.empty() ? "" : " ") + std::string(arguments);
}
