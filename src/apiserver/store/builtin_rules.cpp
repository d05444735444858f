// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/builtin_rules.hpp"

#include <algorithm>
#include <initializer_list>

#include "apiserver/store/service_rules.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using Names = std::initializer_list<std::string_view>;

bool one_of(std::string_view plural, Names names) {
  return std::find(names.begin(), names.end(), plural) != names.end();
}

NameRule name_rule(std::string_view group, std::string_view plural) {
  if (group == "rbac.authorization.k8s.io" || group == "certificates.k8s.io") return NameRule::path_segment;
  if (plural == "namespaces" || plural == "services") return NameRule::dns_label;
  return NameRule::dns_subdomain;
}

GenerationRule generation_rule(std::string_view group, std::string_view plural) {
  if (plural == "deployments") return GenerationRule::spec_and_annotations;
  if (group == "admissionregistration.k8s.io" || one_of(plural, {"endpointslices", "podtemplates"}))
    return GenerationRule::all_but_status;
  if (one_of(plural, {"pods", "replicationcontrollers", "daemonsets", "replicasets", "statefulsets", "jobs",
                      "cronjobs", "networkpolicies", "ingresses", "poddisruptionbudgets",
                      "customresourcedefinitions", "ingressclasses"}))
    return GenerationRule::spec;
  if (plural == "priorityclasses") return GenerationRule::first;
  return GenerationRule::none;
}

}  // namespace

ResourceRules builtin_rules(std::string_view group, std::string_view plural) {
  ResourceRules rules;
  rules.name = name_rule(group, plural);
  rules.generation = generation_rule(group, plural);
  rules.unconditional_update =
      group != "admissionregistration.k8s.io" &&
      !one_of(plural, {"customresourcedefinitions", "leases", "poddisruptionbudgets", "csidrivers",
                       "csinodes", "csistoragecapacities", "volumeattachments"});
  rules.create_on_update = group == "rbac.authorization.k8s.io" ||
                           one_of(plural, {"events", "leases", "endpoints", "limitranges", "services"});
  rules.returns_deleted = one_of(plural, {"pods", "podtemplates", "resourcequotas", "services",
                                          "persistentvolumes", "persistentvolumeclaims", "serviceaccounts",
                                          "csidrivers", "csinodes", "storageclasses", "volumeattachments"});
  rules.orphans_by_default = one_of(plural, {"replicationcontrollers", "jobs"});
  rules.graceful = group.empty() && plural == "pods";
  rules.status_keeps_labels = group == "apps" && plural == "deployments";
  if (group.empty() && plural == "services")
    rules.strategy = {.prepare = prepare_service, .allocate = allocate_service};
  return rules;
}

std::vector<std::string> builtin_selectable_fields(std::string_view group, std::string_view plural) {
  if (group == "events.k8s.io")
    return {"regarding.kind",       "regarding.namespace",
            "regarding.name",       "regarding.uid",
            "regarding.apiVersion", "regarding.resourceVersion",
            "regarding.fieldPath",  "reason",
            "reportingController",  "type"};
  if (plural == "events")
    return {"involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type"};
  if (plural == "pods")
    return {"spec.nodeName",           "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
            "spec.hostNetwork",        "status.phase",       "status.podIP",       "status.podIPs",
            "status.nominatedNodeName"};
  if (plural == "secrets") return {"type"};
  if (plural == "certificatesigningrequests") return {"spec.signerName"};
  if (plural == "namespaces") return {"status.phase"};
  if (plural == "nodes") return {"spec.unschedulable"};
  if (plural == "services") return {"spec.clusterIP", "spec.type"};
  if (plural == "jobs") return {"status.successful"};
  if (plural == "replicationcontrollers") return {"status.replicas"};
  return {};
}

std::string builtin_registry_key(std::string_view group, std::string_view plural) {
  std::string key = "/registry/";
  if (group == "apiextensions.k8s.io") return key + "apiextensions.k8s.io/" + std::string(plural);
  if (plural == "services") return key + "services/specs";
  if (plural == "endpoints") return key + "services/endpoints";
  if (plural == "nodes") return key + "minions";
  if (plural == "replicationcontrollers") return key + "controllers";
  if (plural == "ingresses") return key + "ingress";
  return key + std::string(plural);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
