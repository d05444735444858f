// SPDX-License-Identifier: Apache-2.0
// Validation of containers of pods and of pod templates. Source: kubernetes pkg/apis/core/validation
// validateContainers.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

constexpr std::string_view header_text =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used "
    "for "
    "validation is '[-A-Za-z0-9]+')";
constexpr std::string_view several_text = "may not have more than one field specified at a time";

bool is_variable_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '='; });
}

void check_variable_name(const Json& name, const std::string& field, Errors& errors) {
  if (!is_variable_name(name.string_or("")))
    errors.push_back(field_invalid(field, name,
                                   "a valid environment variable name must consist only of printable ASCII "
                                   "characters other than '='"));
}

/// Checks a reference to a key of a ConfigMap or Secret.
void check_key_selector(const Json& selector, const std::string& here, Errors& errors) {
  if (!selector.is_object()) return;
  check_subdomain(selector["name"].string_or(""), here + ".name", errors);
  if (is_empty(selector["key"]))
    errors.push_back(field_required(here + ".key"));
  else
    check_config_key(selector["key"].string_or(""), here + ".key", errors);
}

std::size_t count_of(const Json& object, std::initializer_list<const char*> names) {
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [&](const char* name) { return object[name].is_object(); }));
}

void check_value_source(const Json& variable, const std::string& here, Errors& errors) {
  const Json& from = variable["valueFrom"];
  if (!from.is_object()) return;
  check_field_selector(from["fieldRef"], FieldPaths::variables, here + ".fieldRef", errors);
  check_resource_selector(from["resourceFieldRef"], false, here + ".resourceFieldRef", errors);
  for (const char* name : {"configMapKeyRef", "secretKeyRef"})
    check_key_selector(from[name], here + "." + name, errors);
  const std::size_t sources =
      count_of(from, {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"});
  if (sources == 0)
    errors.push_back(field_invalid(here, Json(""),
                                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                                   "`secretKeyRef` or `fileKeyRef`"));
  else if (!is_empty(variable["value"]))
    errors.push_back(field_invalid(here, Json(""), "may not be specified when `value` is not empty"));
  else if (sources > 1)
    errors.push_back(field_invalid(here, Json(""), several_text));
}

void check_variables(const Json& variables, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string here = indexed(path, i);
    if (is_empty(variables[i]["name"]))
      errors.push_back(field_required(here + ".name"));
    else
      check_variable_name(variables[i]["name"], here + ".name", errors);
    check_value_source(variables[i], here + ".valueFrom", errors);
  }
}

void check_variable_sources(const Json& sources, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Json& source = sources[i];
    if (!is_empty(source["prefix"]))
      check_variable_name(source["prefix"], indexed(path, i) + ".prefix", errors);
    for (const char* name : {"configMapRef", "secretRef"}) {
      if (!source[name].is_object()) continue;
      const std::string field = indexed(path, i) + "." + name + ".name";
      if (is_empty(source[name]["name"]))
        errors.push_back(field_required(field));
      else
        check_subdomain(source[name]["name"].string_or(""), field, errors);
    }
    const std::size_t count = count_of(source, {"configMapRef", "secretRef"});
    if (count == 0)
      errors.push_back(field_invalid(path, Json(""), "must specify one of: `configMapRef` or `secretRef`"));
    else if (count > 1)
      errors.push_back(field_invalid(path, Json(""), several_text));
  }
}

void check_http_get(const Json& get, const std::string& here, Errors& errors) {
  if (is_empty(get["path"])) errors.push_back(field_required(here + ".path"));
  check_port(get["port"], here + ".port", errors);
  const auto usable = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  for (std::size_t i = 0; i < get["httpHeaders"].size(); ++i) {
    const Json& name = get["httpHeaders"][i]["name"];
    const std::string text = name.string_or("");
    if (text.empty() || !std::all_of(text.begin(), text.end(), usable))
      errors.push_back(field_invalid(here + ".httpHeaders", Json(text), header_text));
  }
}

/// Checks that a probe or a hook has exactly one action.
void check_handler(const Json& handler, const std::string& here, Errors& errors) {
  bool found = false;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Json& action = handler[name];
    if (!action.is_object()) continue;
    const std::string field = here + "." + name;
    if (std::exchange(found, true)) {
      errors.push_back(field_forbidden(field, "may not specify more than 1 handler type"));
      continue;
    }
    const std::string_view kind = name;
    if (kind == "exec" && is_empty(action["command"])) errors.push_back(field_required(field + ".command"));
    if (kind == "httpGet") check_http_get(action, field, errors);
    if (kind == "tcpSocket" || kind == "grpc") check_port(action["port"], field + ".port", errors);
  }
  if (!found) errors.push_back(field_required(here, "must specify a handler type"));
}

/// `successes`: required successThreshold; 0 for any number.
void check_probe(const Json& probe, std::int64_t successes, const std::string& here, Errors& errors) {
  if (!probe.is_object()) return;
  check_handler(probe, here, errors);
  for (const char* name :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"})
    check_not_negative(probe[name], here + "." + name, errors);
  const Json& grace = probe["terminationGracePeriodSeconds"];
  if (grace.is_integer() && grace.as_integer() <= 0)
    errors.push_back(field_invalid(here + ".terminationGracePeriodSeconds", grace, "must be greater than 0"));
  if (successes == 0 && !grace.is_null())
    errors.push_back(
        field_invalid(here + ".terminationGracePeriodSeconds", grace, "must not be set for readinessProbes"));
  const Json& threshold = probe["successThreshold"];
  if (successes > 0 && threshold.integer_or(successes) != successes)
    errors.push_back(field_invalid(here + ".successThreshold", threshold, "must be 1"));
}

void check_probes(const Json& container, const std::string& here, Errors& errors) {
  for (const char* hook : {"postStart", "preStop"})
    if (container["lifecycle"][hook].is_object())
      check_handler(container["lifecycle"][hook], here + ".lifecycle." + hook, errors);
  check_probe(container["livenessProbe"], 1, here + ".livenessProbe", errors);
  check_probe(container["readinessProbe"], 0, here + ".readinessProbe", errors);
  check_probe(container["startupProbe"], 1, here + ".startupProbe", errors);
}

void check_ports(const Json& ports, const std::string& path, Errors& errors) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string here = indexed(path, i);
    if (const std::string name = ports[i]["name"].string_or(""); !name.empty()) {
      const std::size_t before = errors.size();
      check_port_name(name, here + ".name", errors);
      if (errors.size() == before && !names.insert(name).second)
        errors.push_back(field_duplicate(here + ".name", ports[i]["name"]));
    }
    const std::int64_t port = ports[i]["containerPort"].integer_or(0);
    if (port == 0)
      errors.push_back(field_required(here + ".containerPort"));
    else if (port < 1 || port > 65535)
      errors.push_back(field_invalid(here + ".containerPort", Json(port), port_text));
    const std::int64_t host = ports[i]["hostPort"].integer_or(0);
    if (host != 0 && (host < 1 || host > 65535))
      errors.push_back(field_invalid(here + ".hostPort", Json(host), port_text));
  }
}

/// Checks a path inside a volume.
void check_inner_path(const Json& path, const std::string& field, Errors& errors) {
  const std::string text = path.string_or("");
  if (text.starts_with('/')) errors.push_back(field_invalid(field, path, "must be a relative path"));
  check_no_backsteps(path, field, errors);
}

void check_mounts(const Json& container, const VolumeNames& volumes, const std::string& here,
                  Errors& errors) {
  const Json& mounts = container["volumeMounts"];
  std::set<std::string> paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string field = indexed(here + ".volumeMounts", i);
    const Json& mount = mounts[i];
    if (is_empty(mount["name"])) errors.push_back(field_required(field + ".name"));
    if (!volumes.contains(mount["name"].string_or("")))
      errors.push_back(field_not_found(field + ".name", Json(mount["name"].string_or(""))));
    if (is_empty(mount["mountPath"])) errors.push_back(field_required(field + ".mountPath"));
    if (!paths.insert(mount["mountPath"].string_or("")).second)
      errors.push_back(
          field_invalid(field + ".mountPath", Json(mount["mountPath"].string_or("")), "must be unique"));
    if (!is_empty(mount["subPath"]))
      check_inner_path(mount["subPath"], here + ".volumeMounts.subPath", errors);
    if (is_empty(mount["subPathExpr"])) continue;
    if (!is_empty(mount["subPath"]))
      errors.push_back(field_invalid(field + ".subPathExpr", mount["subPathExpr"],
                                     "subPathExpr and subPath are mutually exclusive"));
    check_inner_path(mount["subPathExpr"], here + ".volumeMounts.subPathExpr", errors);
  }
}

void check_devices(const Json& devices, const VolumeNames& volumes, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string here = indexed(path, i);
    const auto volume = volumes.find(devices[i]["name"].string_or(""));
    if (is_empty(devices[i]["name"])) errors.push_back(field_required(here + ".name"));
    if (volume == volumes.end())
      errors.push_back(field_not_found(here + ".name", Json(devices[i]["name"].string_or(""))));
    else if (!volume->second)
      errors.push_back(field_invalid(here + ".name", devices[i]["name"],
                                     "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                                     "for block mode"));
    if (is_empty(devices[i]["devicePath"])) errors.push_back(field_required(here + ".devicePath"));
  }
}

void check_id(const Json& id, const std::string& field, Errors& errors) {
  if (id.is_integer() && (id.as_integer() < 0 || id.as_integer() > 2147483647))
    errors.push_back(field_invalid(field, id, "must be between 0 and 2147483647, inclusive"));
}

void check_init_container(const Json& container, const std::string& here, Errors& errors) {
  if (container["restartPolicy"] == Json("Always")) return check_probes(container, here, errors);
  for (const char* name : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})
    if (container[name].is_object())
      errors.push_back(field_forbidden(here + "." + name,
                                       "may not be set for init containers without restartPolicy=Always"));
}

}  // namespace

void check_security(const Json& context, const std::string& here, Errors& errors) {
  if (!context.is_object()) return;
  for (const char* name : {"runAsUser", "runAsGroup", "fsGroup"})
    check_id(context[name], here + "." + name, errors);
  for (std::size_t i = 0; i < context["supplementalGroups"].size(); ++i)
    check_id(context["supplementalGroups"][i], indexed(here + ".supplementalGroups", i), errors);
  const Json& profile = context["seccompProfile"];
  if (!profile.is_object()) return;
  const std::string field = here + ".seccompProfile";
  const bool local = profile["type"] == Json("Localhost");
  if (is_empty(profile["type"]))
    errors.push_back(field_required(field + ".type", "type is required when seccompProfile is set"));
  if (local && is_empty(profile["localhostProfile"]))
    errors.push_back(
        field_required(field + ".localhostProfile", "must be set when seccomp type is Localhost"));
  if (!local && !profile["localhostProfile"].is_null())
    errors.push_back(field_invalid(field + ".localhostProfile", profile["localhostProfile"],
                                   "can only be set when seccomp type is Localhost"));
}

void check_containers(const Json& containers, ContainerList list, const VolumeNames& volumes,
                      std::set<std::string>& names, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json& container = containers[i];
    const std::string here = indexed(path, i);
    const std::string name = container["name"].string_or("");
    if (name.empty())
      errors.push_back(field_required(here + ".name"));
    else
      check_label(name, here + ".name", errors);
    if (!name.empty() && !names.insert(name).second)
      errors.push_back(field_duplicate(here + ".name", container["name"]));
    if (is_empty(container["image"])) errors.push_back(field_required(here + ".image"));
    check_ports(container["ports"], here + ".ports", errors);
    check_variables(container["env"], here + ".env", errors);
    check_variable_sources(container["envFrom"], here + ".envFrom", errors);
    check_mounts(container, volumes, here, errors);
    check_devices(container["volumeDevices"], volumes, here + ".volumeDevices", errors);
    check_amounts(container["resources"], here + ".resources", errors);
    check_security(container["securityContext"], here + ".securityContext", errors);
    if (list == ContainerList::init)
      check_init_container(container, here, errors);
    else
      check_probes(container, here, errors);
  }
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
