// SPDX-License-Identifier: Apache-2.0
// Validation of resource amounts, and of the pod fields that containers may refer to.
// Source: kubernetes pkg/apis/core/validation validateResourceRequirements, validateObjectFieldSelector.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

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

void check_any_resource_name(const std::string& name, const std::string& field, Errors& errors) {
  const std::size_t before = errors.size();
  add_all(field, name, qualified_name_problems(name), errors);
  if (errors.size() == before && name.find('/') == std::string::npos && !is_standard(name))
    errors.push_back(field_invalid(field, name, "must be a standard resource type or fully qualified"));
}

/// Checks the name of a resource of containers.
void check_resource_name(const std::string& name, const std::string& field, Errors& errors) {
  check_any_resource_name(name, field, errors);
  if (name.find('/') == std::string::npos) {
    if (!is_container_resource(name))
      errors.push_back(field_invalid(field, name, "must be a standard resource for containers"));
  } else if (!is_native(name) && name.starts_with("requests.")) {
    errors.push_back(field_invalid(field, name, "doesn't follow extended resource name standard"));
  }
}

void check_amount_list(const Json& amounts, const std::string& path, Errors& errors) {
  if (!amounts.is_object()) return;
  for (const auto& [name, value] : amounts.as_object()) {
    const std::string field = path + "[" + name + "]";
    check_resource_name(name, field, errors);
    const Quantity amount = amount_of(value);
    if (amount < Quantity())
      errors.push_back(field_invalid(field, Json(amount.str()), "must be greater than or equal to 0"));
    if (!is_native(name) && !is_whole(amount))
      errors.push_back(field_invalid(field, Json(amount.str()), "must be an integer"));
  }
}

using Names = std::initializer_list<std::string_view>;

/// Returns true for resources that are counted.
bool is_integer_resource(const std::string& name) {
  return is_listed({"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
                    "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"},
                   name) ||
         (!is_native(name) && !name.starts_with("requests.") &&
          qualified_name_problems("requests." + name).empty());
}

/// Checks amounts of a quota. Source: kubernetes core validation ValidateResourceQuotaResourceName,
/// ValidateResourceQuantityValue.
void check_quota_amounts(const Json& amounts, const std::string& path, Errors& errors) {
  if (!amounts.is_object()) return;
  for (const auto& [name, value] : amounts.as_object()) {
    const std::string field = path + "[" + name + "]";
    check_any_resource_name(name, field, errors);
    if (name.find('/') == std::string::npos && (!is_standard(name) || name == "storage"))
      errors.push_back(field_invalid(field, name, "must be a standard resource for quota"));
    const Quantity amount = amount_of(value);
    if (amount < Quantity())
      errors.push_back(field_invalid(field, Json(amount.str()), "must be greater than or equal to 0"));
    if (is_integer_resource(name) && !is_whole(amount))
      errors.push_back(field_invalid(field, Json(amount.str()), "must be an integer"));
  }
}

const Names quota_scopes = {
    "BestEffort",  "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass"};

/// Returns false for standard resources that a scope does not select.
bool scope_fits(std::string_view scope, const std::string& name) {
  if (!is_standard(name) || name == "storage" || !is_listed(quota_scopes, scope)) return true;
  if (scope == "VolumeAttributesClass")
    return is_listed({"persistentvolumeclaims", "requests.storage"}, name);
  if (name == "pods") return true;
  return scope != "BestEffort" &&
         is_listed({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}, name);
}

/// Checks the scopes of a quota, whose errors name the list or selector as a whole.
void check_scope(const std::string& scope, const Json& hard, const std::string& field, const Json& whole,
                 Errors& errors) {
  if (!hard.is_object()) return;
  for (const auto& [name, value] : hard.as_object())
    if (!scope_fits(scope, name))
      errors.push_back(field_invalid(field, whole, "unsupported scope applied to resource"));
}

void check_conflicting_scopes(const Json::Array& scopes, const std::string& field, Errors& errors) {
  const auto has = [&](const char* name) {
    return std::find(scopes.begin(), scopes.end(), Json(name)) != scopes.end();
  };
  if ((has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating")))
    errors.push_back(field_invalid(field, Json(scopes), "conflicting scopes"));
}

void check_scope_selector(const Json& spec, Errors& errors) {
  const Json& rules = spec["scopeSelector"]["matchExpressions"];
  const std::string here = "spec.scopeSelector.matchExpressions";  // without indices, as in the source
  Json::Array scopes;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string scope = rules[i]["scopeName"].string_or("");
    const std::string how = rules[i]["operator"].string_or("");
    const bool listed = how == "In" || how == "NotIn";
    const bool exists = how == "Exists" || how == "DoesNotExist";
    if (!is_listed(quota_scopes, scope))
      errors.push_back(field_invalid(here + ".scopeName", scope, "unsupported scope"));
    check_scope(scope, spec["hard"], here, spec["scopeSelector"], errors);
    if (is_listed(quota_scopes, scope) && scope != "PriorityClass" && scope != "VolumeAttributesClass" &&
        how != "Exists")
      errors.push_back(field_invalid(here + ".operator", how,
                                     "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                                     "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                                     "ResourceQuotaScopeNotBestEffort or "
                                     "ResourceQuotaScopeCrossNamespacePodAffinity"));
    if (listed && is_empty(rules[i]["values"]))
      errors.push_back(
          field_required(here + ".values",
                         "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    if (exists && !is_empty(rules[i]["values"]))
      errors.push_back(
          field_invalid(here + ".values", rules[i]["values"],
                        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
    if (!listed && !exists)
      errors.push_back(field_invalid(here + ".operator", how, "not a valid selector operator"));
    scopes.emplace_back(scope);
  }
  check_conflicting_scopes(scopes, here, errors);
}

/// Amounts of one resource in an item of a LimitRange; empty if they are not set.
struct LimitAmounts {
  std::optional<Quantity> least;
  std::optional<Quantity> most;
  std::optional<Quantity> standard;  ///< "default".
  std::optional<Quantity> request;   ///< "defaultRequest".
  std::optional<Quantity> ratio;
};

/// Source: kubernetes core validation ValidateLimitRange.
void check_limit_amounts(const LimitAmounts& of, const std::string& name, const std::string& here,
                         Errors& errors) {
  const auto field = [&](const char* list) { return here + "." + list + "[" + name + "]"; };
  const auto refuse = [&](const char* list, const Quantity& value, const std::string& why) {
    errors.push_back(field_invalid(field(list), Json(value.str()), why));
  };
  const auto ordered = [&](const std::optional<Quantity>& low, const char* low_name,
                           const std::optional<Quantity>& high, const char* high_name, const char* list,
                           const std::optional<Quantity>& shown) {
    if (low && high && *low > *high)
      refuse(list, *shown,
             std::string(low_name) + " value " + low->str() + " is greater than " + high_name + " value " +
                 high->str());
  };
  ordered(of.least, "min", of.most, "max", "min", of.least);
  ordered(of.least, "min", of.request, "default request", "defaultRequest", of.request);
  ordered(of.request, "default request", of.most, "max", "defaultRequest", of.request);
  ordered(of.request, "default request", of.standard, "default limit", "defaultRequest", of.request);
  ordered(of.least, "min", of.standard, "default", "default", of.least);
  ordered(of.standard, "default", of.most, "max", "default", of.most);
  if (of.ratio && *of.ratio < Quantity(1))
    refuse("maxLimitRequestRatio", *of.ratio, "ratio " + of.ratio->str() + " is less than 1");
  if (of.ratio && of.least && of.most && !of.least->is_zero()) {
    const double limit = of.most->approximate() / of.least->approximate();
    if (of.ratio->approximate() > limit)
      refuse("maxLimitRequestRatio", *of.ratio,
             "ratio " + of.ratio->str() + " is greater than max/min = " + std::to_string(limit));
  }
  if (!may_overcommit(name) && of.standard && of.request && *of.standard != *of.request)
    refuse("defaultRequest", *of.request,
           "default value " + of.standard->str() + " must equal to defaultRequest value " +
               of.request->str() + " in " + name);
}

void check_limit(const Json& limit, const std::string& here, Errors& errors) {
  const std::string type = limit["type"].string_or("");
  const bool of_pods = type == "Pod" || type == "Container";
  std::map<std::string, LimitAmounts> amounts;
  const auto read = [&](const char* list, std::optional<Quantity> LimitAmounts::*member) {
    if (!limit[list].is_object()) return;
    for (const auto& [name, value] : limit[list].as_object()) {
      const std::string field = here + "." + list + "[" + name + "]";
      if (of_pods)
        check_resource_name(name, field, errors);
      else
        check_any_resource_name(name, field, errors);
      amounts[name].*member = amount_of(value);
    }
  };
  read("max", &LimitAmounts::most);
  read("min", &LimitAmounts::least);
  for (const char* list : {"default", "defaultRequest"})
    if (type == "Pod" && !is_empty(limit[list]))
      errors.push_back(field_forbidden(here + "." + list, "may not be specified when `type` is 'Pod'"));
  if (type != "Pod") {
    read("default", &LimitAmounts::standard);
    read("defaultRequest", &LimitAmounts::request);
  }
  if (type == "PersistentVolumeClaim" && !limit["min"].contains("storage") &&
      !limit["max"].contains("storage"))
    errors.push_back(field_required(
        here + ".limits", "either minimum or maximum storage value is required, but neither was provided"));
  read("maxLimitRequestRatio", &LimitAmounts::ratio);
  for (const auto& [name, each] : amounts) check_limit_amounts(each, name, here, errors);
}

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

void check_quota(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  check_quota_amounts(spec["hard"], "spec.hard", errors);
  const Json& scopes = spec["scopes"];
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    const std::string scope = scopes[i].string_or("");
    if (!is_listed(quota_scopes, scope))
      errors.push_back(field_invalid("spec.scopes", scopes, "unsupported scope"));
    check_scope(scope, spec["hard"], "spec.scopes", scopes, errors);
  }
  if (scopes.is_array()) check_conflicting_scopes(scopes.as_array(), "spec.scopes", errors);
  check_scope_selector(spec, errors);
  for (const char* list : {"hard", "used"})
    check_quota_amounts(object["status"][list], std::string("status.") + list, errors);
  if (!old.is_null()) check_immutable(scopes, old["spec"]["scopes"], "spec.scopes", errors);
}

void check_limit_range(const Json& object, const Json&, Errors& errors) {
  const Json& limits = object["spec"]["limits"];
  std::set<std::string> types;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const std::string here = indexed("spec.limits", i);
    const std::string type = limits[i]["type"].string_or("");
    const std::vector<std::string> problems = qualified_name_problems(type);
    add_all(here + ".type", type, problems, errors);
    if (problems.empty() && type.find('/') == std::string::npos &&
        !is_listed({"Pod", "Container", "PersistentVolumeClaim"}, type))
      errors.push_back(
          field_invalid(here + ".type", type, "must be a standard limit type or fully qualified"));
    if (!types.insert(type).second) errors.push_back(field_duplicate(here + ".type", Json(type)));
    check_limit(limits[i], here, errors);
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
