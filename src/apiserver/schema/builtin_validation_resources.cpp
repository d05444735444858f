// SPDX-License-Identifier: Apache-2.0
// Validation of resource amounts, and of the pod fields that containers may refer to.
// Source: kubernetes pkg/apis/core/validation validateResourceRequirements, validateObjectFieldSelector.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

bool is_listed(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Resources of quotas and similar objects, in addition to those of containers.
bool is_standard(std::string_view name) {
  return name.starts_with("hugepages-") || name.starts_with("requests.hugepages-") ||
         is_listed({"cpu",
                    "memory",
                    "ephemeral-storage",
                    "requests.cpu",
                    "requests.memory",
                    "requests.ephemeral-storage",
                    "limits.cpu",
                    "limits.memory",
                    "limits.ephemeral-storage",
                    "pods",
                    "resourcequotas",
                    "services",
                    "replicationcontrollers",
                    "secrets",
                    "configmaps",
                    "persistentvolumeclaims",
                    "storage",
                    "requests.storage",
                    "services.nodeports",
                    "services.loadbalancers"},
                   name);
}

bool is_container_resource(std::string_view name) {
  return name.starts_with("hugepages-") || is_listed({"cpu", "memory", "ephemeral-storage"}, name);
}

bool is_native(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

/// Resources whose limits may exceed the requests.
bool may_overcommit(std::string_view name) {
  return is_native(name) && !name.starts_with("hugepages-");
}

void check_resource_name(const std::string& name, const std::string& field, Errors& errors) {
  const std::size_t before = errors.size();
  add_all(field, name, qualified_name_problems(name), errors);
  if (name.find('/') == std::string::npos) {
    if (errors.size() == before && !is_standard(name))
      errors.push_back(field_invalid(field, name, "must be a standard resource type or fully qualified"));
    if (!is_container_resource(name))
      errors.push_back(field_invalid(field, name, "must be a standard resource for containers"));
  } else if (!is_native(name) && name.starts_with("requests.")) {
    errors.push_back(field_invalid(field, name, "doesn't follow extended resource name standard"));
  }
}

Quantity amount_of(const Json& value) {
  return Quantity::parse(value.is_string() ? value.as_string() : value.dump()).value_or(Quantity());
}

void check_amount_list(const Json& amounts, const std::string& path, Errors& errors) {
  if (!amounts.is_object()) return;
  for (const auto& [name, value] : amounts.as_object()) {
    const std::string field = path + "[" + name + "]";
    check_resource_name(name, field, errors);
    const Quantity amount = amount_of(value);
    if (amount < Quantity())
      errors.push_back(field_invalid(field, Json(amount.str()), "must be greater than or equal to 0"));
    if (!is_native(name) && amount.milli_value() % 1000 != 0)
      errors.push_back(field_invalid(field, Json(amount.str()), "must be an integer"));
  }
}

using Names = std::initializer_list<std::string_view>;

/// Splits "metadata.labels['a']" into path and subscript.
bool split_subscript(const std::string& path, std::string& head, std::string& subscript) {
  if (!path.ends_with("']")) return false;
  const std::size_t open = path.find("['");
  if (open == std::string::npos || open == 0) return false;
  head = path.substr(0, open);
  subscript = path.substr(open + 2, path.size() - open - 4);
  return true;
}

Json::Array as_array(Names names) {
  Json::Array out;
  for (const std::string_view name : names) out.emplace_back(name);
  return out;
}

const Names variable_paths = {
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
const Names volume_paths = {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
                            "metadata.uid"};
const Names resource_paths = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                              "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
const Names known_paths = {
    "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
    "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
    "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
    "status.podIP",         "status.podIPs"};

}  // namespace

void check_amounts(const Json& resources, const std::string& here, Errors& errors) {
  if (!resources.is_object()) return;
  const Json& limits = resources["limits"];
  const Json& requests = resources["requests"];
  check_amount_list(limits, here + ".limits", errors);
  check_amount_list(requests, here + ".requests", errors);
  if (!requests.is_object()) return;
  for (const auto& [name, value] : requests.as_object()) {
    const Quantity amount = amount_of(value);
    const Json* limit = limits.find(name);
    if (limit == nullptr) {
      if (!may_overcommit(name))
        errors.push_back(
            field_required(here + ".limits", "Limit must be set for non overcommitable resources"));
      continue;
    }
    const Quantity most = amount_of(*limit);
    if (amount != most && !may_overcommit(name))
      errors.push_back(field_invalid(here + ".requests", Json(amount.str()),
                                     "must be equal to " + name + " limit of " + most.str()));
    else if (amount > most)
      errors.push_back(field_invalid(here + ".requests", Json(amount.str()),
                                     "must be less than or equal to " + name + " limit of " + most.str()));
  }
}

void check_field_selector(const Json& selector, FieldPaths paths, const std::string& here, Errors& errors) {
  if (!selector.is_object()) return;
  const std::string path = selector["fieldPath"].string_or("");
  if (path.empty()) return errors.push_back(field_required(here + ".fieldPath"));
  std::string head = path;
  std::string subscript;
  const bool subscripted = split_subscript(path, head, subscript);
  const bool known = subscripted ? is_listed({"metadata.annotations", "metadata.labels"}, head)
                                 : is_listed(known_paths, path);
  if (!known)
    return errors.push_back(field_invalid(here + ".fieldPath", path,
                                          "error converting fieldPath: field label not supported: " + head));
  const Names allowed = paths == FieldPaths::variables ? variable_paths : volume_paths;
  if (subscripted) {
    std::transform(subscript.begin(), subscript.end(), subscript.begin(), [&](char c) {
      return head == "metadata.annotations" && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    add_all(here, subscript, qualified_name_problems(subscript), errors);
  } else if (!is_listed(allowed, path)) {
    errors.push_back(field_not_supported(here + ".fieldPath", path, as_array(allowed)));
  }
}

void check_resource_selector(const Json& selector, bool volume, const std::string& here, Errors& errors) {
  if (!selector.is_object()) return;
  const std::string resource = selector["resource"].string_or("");
  const bool huge = resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
  if (volume && is_empty(selector["containerName"]))
    errors.push_back(field_required(here + ".containerName"));
  else if (resource.empty())
    errors.push_back(field_required(here + ".resource"));
  else if (!huge && !is_listed(resource_paths, resource))
    errors.push_back(field_not_supported(here + ".resource", resource, as_array(resource_paths)));
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
