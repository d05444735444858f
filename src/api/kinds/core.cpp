// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace core_v1 {

EVENKEEL_DEFINE_FIELDS(ConfigMap, metadata, binary_data, data, immutable)
EVENKEEL_DEFINE_FIELDS(Secret, metadata, data, immutable, string_data, type)
EVENKEEL_DEFINE_FIELDS(NamespaceSpec, finalizers)
EVENKEEL_DEFINE_FIELDS(NamespaceCondition, status, last_transition_time, message, reason, type)
EVENKEEL_DEFINE_FIELDS(NamespaceStatus, (conditions, list_map("type")), phase)
EVENKEEL_DEFINE_FIELDS(Namespace, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(ObjectReference, name, api_version, field_path, kind, namespace_, resource_version,
                       uid)
EVENKEEL_DEFINE_FIELDS(EventSeries, count, last_observed_time)
EVENKEEL_DEFINE_FIELDS(EventSource, component, host)
EVENKEEL_DEFINE_FIELDS(Event, metadata, action, count, event_time, first_timestamp, involved_object,
                       last_timestamp, message, reason, related, reporting_component, reporting_instance,
                       series, source, type)
EVENKEEL_DEFINE_FIELDS(LocalObjectReference, name)
EVENKEEL_DEFINE_FIELDS(ServiceAccount, metadata, automount_service_account_token, image_pull_secrets,
                       (secrets, list_map("name")))
EVENKEEL_DEFINE_FIELDS(ServicePort, name, app_protocol, node_port, port, protocol, target_port)
EVENKEEL_DEFINE_FIELDS(ClientIPConfig, timeout_seconds)
EVENKEEL_DEFINE_FIELDS(SessionAffinityConfig, (client_ip, wire("clientIP")))
EVENKEEL_DEFINE_FIELDS(ServiceSpec, allocate_load_balancer_node_ports, (cluster_ip, wire("clusterIP")),
                       (cluster_ips, wire("clusterIPs")), (external_ips, wire("externalIPs")), external_name,
                       external_traffic_policy, health_check_node_port, internal_traffic_policy, ip_families,
                       ip_family_policy, load_balancer_class, (load_balancer_ip, wire("loadBalancerIP")),
                       load_balancer_source_ranges, (ports, list_map("port", "protocol")),
                       publish_not_ready_addresses, selector, session_affinity, session_affinity_config,
                       traffic_distribution, type)
EVENKEEL_DEFINE_FIELDS(PortStatus, error, port, protocol)
EVENKEEL_DEFINE_FIELDS(LoadBalancerIngress, hostname, ip, ip_mode, ports)
EVENKEEL_DEFINE_FIELDS(LoadBalancerStatus, ingress)
EVENKEEL_DEFINE_FIELDS(ServiceStatus, (conditions, list_map("type")), load_balancer)
EVENKEEL_DEFINE_FIELDS(Service, metadata, spec, status)

}  // namespace core_v1
}  // namespace v0
}  // namespace evenkeel
