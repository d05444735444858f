// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/networking.hpp>

namespace evenkeel {
inline namespace v0 {
namespace networking_v1 {

EVENKEEL_DEFINE_FIELDS(ServiceBackendPort, name, number)
EVENKEEL_DEFINE_FIELDS(IngressServiceBackend, name, port)
EVENKEEL_DEFINE_FIELDS(IngressBackend, resource, service)
EVENKEEL_DEFINE_FIELDS(HTTPIngressPath, backend, path, path_type)
EVENKEEL_DEFINE_FIELDS(HTTPIngressRuleValue, paths)
EVENKEEL_DEFINE_FIELDS(IngressRule, host, http)
EVENKEEL_DEFINE_FIELDS(IngressTLS, hosts, secret_name)
EVENKEEL_DEFINE_FIELDS(IngressSpec, default_backend, ingress_class_name, rules, tls)
EVENKEEL_DEFINE_FIELDS(IngressPortStatus, error, port, protocol)
EVENKEEL_DEFINE_FIELDS(IngressLoadBalancerIngress, hostname, ip, ports)
EVENKEEL_DEFINE_FIELDS(IngressLoadBalancerStatus, ingress)
EVENKEEL_DEFINE_FIELDS(IngressStatus, load_balancer)
EVENKEEL_DEFINE_FIELDS(Ingress, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(NetworkPolicyPort, end_port, port, protocol)
EVENKEEL_DEFINE_FIELDS(IPBlock, cidr, except)
EVENKEEL_DEFINE_FIELDS(NetworkPolicyPeer, ip_block, namespace_selector, pod_selector)
EVENKEEL_DEFINE_FIELDS(NetworkPolicyEgressRule, ports, to)
EVENKEEL_DEFINE_FIELDS(NetworkPolicyIngressRule, from, ports)
EVENKEEL_DEFINE_FIELDS(NetworkPolicySpec, egress, ingress, pod_selector, policy_types)
EVENKEEL_DEFINE_FIELDS(NetworkPolicy, metadata, spec)

}  // namespace networking_v1
}  // namespace v0
}  // namespace evenkeel
