// SPDX-License-Identifier: Apache-2.0
// Warnings for built-in kinds. Source: kubernetes
// pkg/api/{pod,persistentvolume,persistentvolumeclaim,service} and the strategies of the kinds
// (WarningsOnCreate, WarningsOnUpdate).
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/builtin_validation.hpp"
#include "apiserver/schema/name_rules.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using Warnings = std::vector<std::string>;
using checks::indexed;

constexpr std::string_view app_armor = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view storage_class_annotation = "volume.beta.kubernetes.io/storage-class";

/// A volume source that is no longer supported.
struct RetiredSource {
  std::string_view field;    ///< Name in manifests.
  std::string_view printed;  ///< Name in warnings.
  std::string_view since;
};
constexpr std::array retired_sources{
    RetiredSource{"photonPersistentDisk", "photonPersistentDisk",
                  "deprecated in v1.11, non-functional in v1.16+"},
    RetiredSource{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    RetiredSource{"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
    RetiredSource{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
    RetiredSource{"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
    RetiredSource{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
    RetiredSource{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    RetiredSource{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
};

void warn_of_source(const Json& source, const std::string& path, Warnings& out) {
  for (const RetiredSource& retired : retired_sources)
    if (source[retired.field].is_object())
      out.push_back(path + "." + std::string(retired.printed) + ": " + std::string(retired.since));
}

std::string annotation_path(const std::string& prefix, std::string_view key) {
  return prefix + "metadata.annotations[" + std::string(key) + "]";
}

/// Annotations of pods that are replaced by fields.
constexpr std::array retired_annotations{
    std::pair<std::string_view, std::string_view>{
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
    std::pair<std::string_view, std::string_view>{
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead"},
    std::pair<std::string_view, std::string_view>{
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead"}};

std::string quoted_text(const Json& text) {
  return Json(text.string_or("")).dump();
}

/// Warns of an amount of bytes with a fraction.
void warn_of_fraction(const Json& amounts, std::string_view name, const std::string& path, Warnings& out) {
  if (!checks::is_whole(checks::amount_of(amounts[name])))
    out.push_back(path + "[" + std::string(name) + "]: fractional byte value " + quoted_text(amounts[name]) +
                  " is invalid, must be an integer");
}

/// Warns of the sizes of a claim.
void warn_of_sizes(const Json& spec, const std::string& path, Warnings& out) {
  for (const char* list : {"requests", "limits"})
    warn_of_fraction(spec["resources"][list], "storage", path + ".resources." + list, out);
}

void warn_of_volumes(const Json& spec, const std::string& prefix, Warnings& out) {
  const Json& volumes = spec["volumes"];
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string path = indexed(prefix + "spec.volumes", i);
    warn_of_source(volumes[i], path, out);
    warn_of_sizes(volumes[i]["ephemeral"]["volumeClaimTemplate"]["spec"],
                  path + ".ephemeral.volumeClaimTemplate.spec", out);
    const Json& sources = volumes[i]["projected"]["sources"];
    for (std::size_t j = 0; j < sources.size(); ++j)
      if (checks::is_empty(sources[j]))
        out.push_back("volume " + quoted_text(volumes[i]["name"]) + " (Projected) has no sources provided");
  }
}

void warn_of_term(const Json& term, const std::string& path, Warnings& out) {
  if (!term["labelSelector"].is_object())
    out.push_back(path + ".labelSelector: a null labelSelector results in matching no pod");
}

void warn_of_affinity(const Json& spec, const std::string& prefix, Warnings& out) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const std::string path = prefix + "spec.affinity." + kind;
    const Json& required = spec["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"];
    for (std::size_t i = 0; i < required.size(); ++i)
      warn_of_term(required[i], indexed(path + ".requiredDuringSchedulingIgnoredDuringExecution", i), out);
    const Json& preferred = spec["affinity"][kind]["preferredDuringSchedulingIgnoredDuringExecution"];
    for (std::size_t i = 0; i < preferred.size(); ++i)
      warn_of_term(preferred[i]["podAffinityTerm"],
                   indexed(path + ".preferredDuringSchedulingIgnoredDuringExecution", i) + ".podAffinityTerm",
                   out);
  }
}

/// Warns of pull secrets without a name and of duplicate names.
void warn_of_pull_secrets(const Json& spec, const std::string& prefix, Warnings& out) {
  std::set<std::string> names;
  const Json& secrets = spec["imagePullSecrets"];
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    const std::string field = indexed(prefix + "spec.imagePullSecrets", i) + ".name: ";
    const std::string name = secrets[i]["name"].string_or("");
    if (!names.insert(name).second)
      out.push_back(field + "duplicate name " + quoted_text(secrets[i]["name"]));
    if (name.empty()) out.push_back(field + "invalid empty name \"\"");
  }
}

/// Warns of a variable that is set again without use of its first value.
void warn_of_variables(const Json& variables, const std::string& path, Warnings& out) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string name = variables[i]["name"].string_or("");
    if (names.insert(name).second) continue;
    const std::string value = variables[i]["value"].string_or("");
    const std::string reference = "$(" + name + ")";
    if (!variables[i]["valueFrom"].is_null() || value == reference ||
        value.find(reference) == std::string::npos)
      out.push_back(indexed(path, i) + ": hides previous definition of " + Json(name).dump() +
                    ", which may be dropped when using apply");
  }
}

/// Ports of the containers of a pod that were visited so far.
struct Ports {
  std::map<std::string, std::vector<std::pair<std::string, const Json*>>> by_number = {};
  std::map<std::string, std::string> by_name = {};

  void add(const Json& port, const std::string& path, Warnings& out) {
    auto& others = by_number[port["containerPort"].dump() + "/" + port["protocol"].string_or("")];
    for (const auto& [other_path, other] : others) warn_of_pair(port, path, *other, other_path, out);
    others.emplace_back(path, &port);
  }

  /// Ports are looked up by name, and only the first one is found.
  void add_name(const Json& port, const std::string& path, Warnings& out) {
    const std::string name = port["name"].string_or("");
    if (name.empty()) return;
    const auto [known, first] = by_name.emplace(name, path);
    if (!first)
      out.push_back(path + ": duplicate port name " + Json(name).dump() + " with " + known->second +
                    ", services and probes that select ports by name will use " + known->second);
  }

 private:
  static void warn_of_pair(const Json& port, const std::string& path, const Json& other,
                           const std::string& other_path, Warnings& out) {
    const std::int64_t host = port["hostPort"].integer_or(0);
    const std::int64_t other_host = other["hostPort"].integer_or(0);
    const std::string address = port["hostIP"].string_or("");
    const std::string other_address = other["hostIP"].string_or("");
    const auto warn = [&](std::string_view how) {
      out.push_back(path + ": " + std::string(how) + " port definition with " + other_path);
    };
    if (address == other_address && host == other_host) return warn("duplicate");
    if (host == 0 || other_host == 0) return warn("overlapping");
    if (host == other_host && address.empty() != other_address.empty()) warn("dangerously ambiguous");
  }
};

/// Warns of an AppArmor annotation in a template. In a Pod itself admission converts it to the field, and
/// warns.
void warn_of_app_armor(const Json& pod, const Json& container, const std::string& prefix, Warnings& out) {
  const std::string key = std::string(app_armor) + container["name"].string_or("");
  if (prefix.empty() || !pod["metadata"]["annotations"].contains(key) ||
      pod["spec"]["securityContext"]["appArmorProfile"].is_object() ||
      container["securityContext"]["appArmorProfile"].is_object())
    return;
  out.push_back(annotation_path(prefix, key) +
                ": deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

void warn_of_containers(const Json& pod, const std::string& prefix, Warnings& out) {
  Ports ports;
  Warnings of_ports;
  const Json& spec = pod["spec"];
  for (const char* list : {"initContainers", "containers"}) {
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      const Json& container = spec[list][i];
      const std::string path = indexed(prefix + "spec." + list, i);
      warn_of_app_armor(pod, container, prefix, out);
      for (const char* name : {"memory", "ephemeral-storage"})
        for (const char* amounts : {"limits", "requests"})
          warn_of_fraction(container["resources"][amounts], name, path + ".resources." + amounts, out);
      warn_of_variables(container["env"], path + ".env", out);
      const bool serves =
          std::string_view(list) == "containers" || container["restartPolicy"] == Json("Always");
      for (std::size_t j = 0; j < container["ports"].size(); ++j) {
        const std::string port = indexed(path + ".ports", j);
        ports.add(container["ports"][j], port, of_ports);
        if (serves) ports.add_name(container["ports"][j], port, of_ports);
      }
    }
  }
  out.insert(out.end(), of_ports.begin(), of_ports.end());
}

/// `prefix`: the path of a template with a trailing dot; empty for a pod.
void warn_of_pod(const Json& pod, const std::string& prefix, Warnings& out) {
  const Json& spec = pod["spec"];
  if (!spec.is_object()) return;
  const Json& spread = spec["topologySpreadConstraints"];
  for (std::size_t i = 0; i < spread.size(); ++i)
    warn_of_term(spread[i], indexed(prefix + "spec.topologySpreadConstraints", i), out);
  for (const auto& [key, advice] : retired_annotations)
    if (pod["metadata"]["annotations"].contains(key))
      out.push_back(annotation_path(prefix, key) + ": " + std::string(advice));
  warn_of_volumes(spec, prefix, out);
  warn_of_pull_secrets(spec, prefix, out);
  warn_of_containers(pod, prefix, out);
  if (spec["terminationGracePeriodSeconds"].integer_or(0) < 0)
    out.push_back(prefix +
                  "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be "
                  "treated as 1");
  warn_of_affinity(spec, prefix, out);
}

bool is_unchanged(const Json& object, const Json& old) {
  return !old.is_null() && object["metadata"]["generation"] == old["metadata"]["generation"];
}

/// Warns on a create only: updates of a Pod are made by controllers.
void pod(const Json& object, const Json& old, Warnings& out) {
  if (!old.is_null()) return;
  warn_of_pod(object, "", out);
  const std::string name = object["metadata"]["name"].string_or("");
  const std::vector<std::string> problems = name_problems(name, NameRule::dns_label);
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : " ") + problem;
  if (!problems.empty())
    out.push_back(
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a "
        "DNS label is recommended: [" +
        text + "]");
}

void workload(const Json& object, const Json& old, Warnings& out) {
  if (!is_unchanged(object, old)) warn_of_pod(object["spec"]["template"], "spec.template.", out);
}

void stateful_set(const Json& object, const Json& old, Warnings& out) {
  workload(object, old, out);
  const Json& claims = object["spec"]["volumeClaimTemplates"];
  if (!is_unchanged(object, old))
    for (std::size_t i = 0; i < claims.size(); ++i)
      warn_of_sizes(claims[i]["spec"], indexed("spec.volumeClaimTemplates", i), out);
  if (object["spec"]["revisionHistoryLimit"].integer_or(0) < 0)
    out.push_back(
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
        "recommended");
}

void cron_job(const Json& object, const Json& old, Warnings& out) {
  if (!is_unchanged(object, old))
    warn_of_pod(object["spec"]["jobTemplate"]["spec"]["template"], "spec.jobTemplate.spec.template.", out);
}

void pod_template(const Json& object, const Json& old, Warnings& out) {
  if (!is_unchanged(object, old)) warn_of_pod(object["template"], "template.", out);
}

void warn_of_class(const Json& object, Warnings& out) {
  if (object["metadata"]["annotations"].contains(storage_class_annotation))
    out.push_back(annotation_path("", storage_class_annotation) +
                  ": deprecated since v1.8; use \"storageClassName\" attribute instead");
}

void claim(const Json& object, const Json&, Warnings& out) {
  warn_of_class(object, out);
  warn_of_sizes(object["spec"], "spec", out);
}

void volume(const Json& object, const Json&, Warnings& out) {
  warn_of_class(object, out);
  if (object["spec"]["persistentVolumeReclaimPolicy"] == Json("Recycle"))
    out.push_back(
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
        "recommended approach is to use dynamic provisioning.");
  warn_of_source(object["spec"], "spec", out);
}

void service(const Json& object, const Json&, Warnings& out) {
  if (!checks::is_empty(object["spec"]["externalIPs"]))
    out.push_back("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
}

/// Warns of a certificate or key without any PEM; the PEM content is not verified.
void secret(const Json& object, const Json&, Warnings& out) {
  if (object["type"] != Json("kubernetes.io/tls")) return;
  const auto has_pem = [&](std::string_view key) {
    const auto text = Bytes::from_base64(object["data"][key].string_or(""));
    return text && text->value().find("-----BEGIN ") != std::string_view::npos;
  };
  if (!has_pem("tls.crt"))
    out.push_back("tls: failed to find any PEM data in certificate input");
  else if (!has_pem("tls.key"))
    out.push_back("tls: failed to find any PEM data in key input");
}

void csi_driver(const Json& object, const Json& old, Warnings& out) {
  const Json& spec = object["spec"];
  if (!checks::is_empty(spec["tokenRequests"]) && spec["serviceAccountTokenInSecrets"].is_null() &&
      (old.is_null() || old["spec"]["tokenRequests"] != spec["tokenRequests"]))
    out.push_back(
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent "
        "possible logging of tokens in volume attributes");
}

struct KindWarnings {
  std::string_view group;
  std::string_view kind;
  void (*add)(const Json& object, const Json& old, Warnings& out);
};
constexpr std::array kinds{
    KindWarnings{"", "Pod", pod},
    KindWarnings{"", "PodTemplate", pod_template},
    KindWarnings{"", "ReplicationController", workload},
    KindWarnings{"", "PersistentVolume", volume},
    KindWarnings{"", "PersistentVolumeClaim", claim},
    KindWarnings{"", "Service", service},
    KindWarnings{"", "Secret", secret},
    KindWarnings{"apps", "Deployment", workload},
    KindWarnings{"apps", "ReplicaSet", workload},
    KindWarnings{"apps", "DaemonSet", workload},
    KindWarnings{"apps", "StatefulSet", stateful_set},
    KindWarnings{"batch", "Job", workload},
    KindWarnings{"batch", "CronJob", cron_job},
    KindWarnings{"storage.k8s.io", "CSIDriver", csi_driver},
};

}  // namespace

std::vector<std::string> builtin_warnings(const Json& object, const KindSchema& kind, const Json& old) {
  Warnings out;
  for (const KindWarnings& known : kinds)
    if (known.kind == kind.kind && known.group == kind.group) known.add(object, old, out);
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
