// SPDX-License-Identifier: Apache-2.0
// Source: the types of k8s.io/api and apiextensions-apiserver, fields of type *string or of a pointer to a
// type of strings.
#include "apiserver/schema/pointer_fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Field = std::pair<std::string_view, std::string_view>;

/// Names that are pointers in every type that has them; sorted.
constexpr auto pointer_names = std::to_array<std::string_view>({"$ref",
                                                                "appProtocol",
                                                                "cachingMode",
                                                                "completionMode",
                                                                "currentVolumeAttributesClassName",
                                                                "deprecationWarning",
                                                                "endpointsNamespace",
                                                                "failedIndexes",
                                                                "failurePolicy",
                                                                "fsGroupChangePolicy",
                                                                "fsGroupPolicy",
                                                                "gmsaCredentialSpec",
                                                                "gmsaCredentialSpecName",
                                                                "holderIdentity",
                                                                "hostnameOverride",
                                                                "ingressClassName",
                                                                "initiatorName",
                                                                "internalTrafficPolicy",
                                                                "ipFamilyPolicy",
                                                                "ipMode",
                                                                "loadBalancerClass",
                                                                "localhostProfile",
                                                                "managedBy",
                                                                "matchPolicy",
                                                                "mountPropagation",
                                                                "nodeAffinityPolicy",
                                                                "nodeTaintsPolicy",
                                                                "parameterNotFoundAction",
                                                                "persistentVolumeName",
                                                                "podGroupName",
                                                                "podReplacementPolicy",
                                                                "preemptionPolicy",
                                                                "preferredHolder",
                                                                "procMount",
                                                                "reclaimPolicy",
                                                                "recursiveReadOnly",
                                                                "resourceClaimName",
                                                                "resourceClaimTemplateName",
                                                                "runAsUserName",
                                                                "runtimeClassName",
                                                                "scope",
                                                                "seLinuxChangePolicy",
                                                                "secretNamespace",
                                                                "selectPolicy",
                                                                "service",
                                                                "signerName",
                                                                "stopSignal",
                                                                "strategy",
                                                                "succeededIndexes",
                                                                "supplementalGroupsPolicy",
                                                                "timeZone",
                                                                "trafficDistribution",
                                                                "unhealthyPodEvictionPolicy",
                                                                "volumeAttributesClassName",
                                                                "volumeBindingMode",
                                                                "volumeMode",
                                                                "x-kubernetes-list-type",
                                                                "x-kubernetes-map-type",
                                                                "zone"});

/// Other fields, by the end of their type's name.
constexpr auto pointer_fields =
    std::to_array<Field>({{".MutatingWebhook", "reinvocationPolicy"},
                          {".ServiceReference", "path"},
                          {".WebhookClientConfig", "url"},
                          {".PodFailurePolicyOnExitCodesRequirement", "containerName"},
                          {".AzureDiskVolumeSource", "fsType"},
                          {".AzureDiskVolumeSource", "kind"},
                          {".CSIVolumeSource", "fsType"},
                          {".ClusterTrustBundleProjection", "name"},
                          {".Container", "restartPolicy"},
                          {".EphemeralContainer", "restartPolicy"},
                          {".EndpointAddress", "nodeName"},
                          {".HostPathVolumeSource", "type"},
                          {".LocalVolumeSource", "fsType"},
                          {".PersistentVolumeClaimSpec", "storageClassName"},
                          {".PodDNSConfigOption", "value"},
                          {".PortStatus", "error"},
                          {".ResourceHealth", "message"},
                          {".TypedLocalObjectReference", "apiGroup"},
                          {".TypedObjectReference", "apiGroup"},
                          {".TypedObjectReference", "namespace"},
                          {".discovery.v1.Endpoint", "hostname"},
                          {".discovery.v1.Endpoint", "nodeName"},
                          {".discovery.v1.EndpointPort", "name"},
                          {".discovery.v1.EndpointPort", "protocol"},
                          {".IngressClassParametersReference", "apiGroup"},
                          {".IngressClassParametersReference", "namespace"},
                          {".IngressPortStatus", "error"},
                          {".NetworkPolicyPort", "protocol"}});

}  // namespace

bool is_pointer_to_text(const Schema& type, std::string_view field) {
  return std::binary_search(pointer_names.begin(), pointer_names.end(), field) ||
         std::any_of(pointer_fields.begin(), pointer_fields.end(), [&](const Field& known) {
           return known.second == field && type.type_name.ends_with(known.first);
         });
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
