// SPDX-License-Identifier: Apache-2.0
// Common checks for the validation of built-in kinds.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {

using Errors = std::vector<FieldError>;

inline constexpr std::string_view immutable_text = "field is immutable";
inline constexpr std::string_view port_text = "must be between 1 and 65535, inclusive";
inline constexpr std::string_view address_text =
    "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

FieldError field_not_found(std::string field, const Json& value);
/// Returns true for null, "", [] or {}: the JSON forms of Go's zero values.
bool is_empty(const Json& value);
bool is_address(std::string_view text);
/// Returns "spec.ports[2]" for "spec.ports" and 2.
std::string indexed(const std::string& path, std::size_t index);

/// Adds an error for each problem of a name, as returned by name_problems() and similar functions.
void add_all(const std::string& field, const std::string& value, const std::vector<std::string>& problems,
             Errors& errors);
void check_subdomain(const std::string& name, const std::string& field, Errors& errors);
void check_label(const std::string& name, const std::string& field, Errors& errors);
/// Checks keys and values of labels.
void check_labels(const Json& labels, const std::string& field, Errors& errors);
void check_port_name(const std::string& name, const std::string& field, Errors& errors);
/// Checks a port number or port name.
void check_port(const Json& port, const std::string& field, Errors& errors);
void check_not_negative(const Json& value, const std::string& field, Errors& errors);
/// Checks the names of an object that another one refers to.
void check_path_segment(const Json& name, const std::string& field, Errors& errors);
/// Reads a quantity, which may be a number; null is 0.
Quantity amount_of(const Json& quantity);
/// Returns true for amounts without a fraction.
bool is_whole(const Quantity& amount);
bool is_negative(const Json& quantity);
bool is_not_positive(const Json& quantity);
/// Checks that `value` equals `old`, which must not be null.
void check_immutable(const Json& value, const Json& old, const std::string& field, Errors& errors);
/// Checks that the value is one of `allowed`, in the order in which a real server lists them.
void check_one_of(const Json& value, const std::string& field, const Json::Array& allowed, Errors& errors);

/// Checks the spec of a claim, or of a claim template, at `path`.
void check_claim_spec(const Json& spec, const std::string& path, Errors& errors);

/// Volumes of a pod by name; true for those that may be block devices.
using VolumeNames = std::map<std::string, bool, std::less<>>;
enum class ContainerList : std::uint8_t { regular, init };
/// Adds the containers' names to `names`, which may contain others already.
void check_containers(const Json& containers, ContainerList list, const VolumeNames& volumes,
                      std::set<std::string>& names, const std::string& path, Errors& errors);
void check_pod_spec(const Json& spec, const std::string& path, Errors& errors);
/// Checks the securityContext of a pod or of a container.
void check_security(const Json& context, const std::string& here, Errors& errors);
/// Checks limits and requests of a container.
void check_amounts(const Json& resources, const std::string& here, Errors& errors);
/// Fields of pods that variables and files can refer to.
enum class FieldPaths : std::uint8_t { variables, volumes };
void check_field_selector(const Json& selector, FieldPaths paths, const std::string& here, Errors& errors);
void check_resource_selector(const Json& selector, bool volume, const std::string& here, Errors& errors);
void check_no_backsteps(const Json& path, const std::string& field, Errors& errors);
void check_node_selector(const Json& selector, const std::string& here, Errors& errors);
/// Checks a key of a ConfigMap's or Secret's data.
void check_config_key(const std::string& key, const std::string& field, Errors& errors);

/// Returns the errors of a LabelSelector.
Errors selector_problems(const Json& selector, const std::string& path);

/// Checks of kinds; `old` is null on create.
void check_service(const Json& object, const Json& old, Errors& errors);
void check_role(const Json& object, const Json& old, Errors& errors);
void check_cluster_role(const Json& object, const Json& old, Errors& errors);
void check_role_binding(const Json& object, const Json& old, Errors& errors);
void check_cluster_role_binding(const Json& object, const Json& old, Errors& errors);
void check_priority_class(const Json& object, const Json& old, Errors& errors);
void check_storage_class(const Json& object, const Json& old, Errors& errors);
void check_csi_driver(const Json& object, const Json& old, Errors& errors);
void check_webhooks(const Json& object, const Json& old, Errors& errors);
void check_claim(const Json& object, const Json& old, Errors& errors);
void check_volume(const Json& object, const Json& old, Errors& errors);
void check_event(const Json& object, const Json& old, Errors& errors);
void check_ingress(const Json& object, const Json& old, Errors& errors);
void check_network_policy(const Json& object, const Json& old, Errors& errors);
void check_endpoints(const Json& object, const Json& old, Errors& errors);
void check_slice(const Json& object, const Json& old, Errors& errors);
void check_node(const Json& object, const Json& old, Errors& errors);
void check_config_map(const Json& object, const Json& old, Errors& errors);
void check_secret(const Json& object, const Json& old, Errors& errors);
void check_ingress_class(const Json& object, const Json& old, Errors& errors);
void check_quota(const Json& object, const Json& old, Errors& errors);
void check_limit_range(const Json& object, const Json& old, Errors& errors);
void check_autoscaler(const Json& object, const Json& old, Errors& errors);

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
