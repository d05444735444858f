// SPDX-License-Identifier: Apache-2.0
// The cells of built-in kinds, as kubectl get shows them.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/store/table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the function that makes the cells of a built-in resource; nullptr if it has none.
/// Source: kubernetes pkg/printers/internalversion/printers.go.
TableCells builtin_cells(std::string_view resource);

/// Helpers for cells.
inline Json name_of(const Json& object) {
  return object.at({"metadata", "name"}).string_or("");
}
inline std::string age_of(const Json& object, WallTime now) {
  return age(object.at({"metadata", "creationTimestamp"}), now);
}
/// Returns the text, or `otherwise` if it is empty.
std::string text_or(const Json& value, std::string_view otherwise);
/// Joins texts with commas; "<none>" if there are none.
std::string joined(const std::vector<std::string>& parts);
/// Formats {"a": "b"} as "a=b,...", "<none>" if empty.
std::string labels_text(const Json& labels);
/// Formats a LabelSelector as kubectl does: "a=b,c in (d,e),!f".
std::string selector_text(const Json& selector);
/// Return the names, and the images, of a pod spec's containers.
std::string container_names(const Json& pod_spec);
std::string container_images(const Json& pod_spec);

/// Rows of pods and workloads.
namespace rows {
Json::Array pod(const Json& object, WallTime now);
Json::Array deployment(const Json& object, WallTime now);
Json::Array replica_set(const Json& object, WallTime now);
Json::Array replication_controller(const Json& object, WallTime now);
Json::Array stateful_set(const Json& object, WallTime now);
Json::Array daemon_set(const Json& object, WallTime now);
Json::Array job(const Json& object, WallTime now);
Json::Array cron_job(const Json& object, WallTime now);
Json::Array pod_template(const Json& object, WallTime now);
Json::Array controller_revision(const Json& object, WallTime now);
}  // namespace rows

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
