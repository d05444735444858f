// SPDX-License-Identifier: Apache-2.0
// The cells of built-in kinds, as kubectl get shows them.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/store/table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The function that makes the row of a built-in resource; nullptr for those without cells of their own.
/// Source: kubernetes pkg/printers/internalversion/printers.go.
TableCells builtin_cells(std::string_view resource);

/// Helpers of the rows.
inline Json name_of(const Json& object) {
  return object.at({"metadata", "name"}).string_or("");
}
inline std::string age_of(const Json& object, WallTime now) {
  return age(object.at({"metadata", "creationTimestamp"}), now);
}
/// The text, or `otherwise` if there is none.
std::string text_or(const Json& value, std::string_view otherwise);
/// Texts joined with commas, "<none>" if there are none.
std::string joined(const std::vector<std::string>& parts);
/// {"a": "b"} as "a=b,...", "<none>" if empty.
std::string labels_text(const Json& labels);
/// A LabelSelector as kubectl writes it: "a=b,c in (d,e),!f".
std::string selector_text(const Json& selector);
/// The names, and the images, of a pod spec's containers.
std::string container_names(const Json& pod_spec);
std::string container_images(const Json& pod_spec);

/// The rows of pods and of what runs them.
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
