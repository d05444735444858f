// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of networking.k8s.io v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/selector.hpp>

namespace evenkeel {
inline namespace v0 {
namespace networking_v1 {

struct ServiceBackendPort {
  std::optional<std::string> name = {};
  std::optional<std::int32_t> number = {};

  bool operator==(const ServiceBackendPort&) const = default;
};

struct IngressServiceBackend {
  std::string name = {};
  ServiceBackendPort port = {};

  bool operator==(const IngressServiceBackend&) const = default;
};

struct IngressBackend {
  std::optional<core_v1::TypedLocalObjectReference> resource = {};
  std::optional<IngressServiceBackend> service = {};

  bool operator==(const IngressBackend&) const = default;
};

struct HTTPIngressPath {
  IngressBackend backend = {};
  std::optional<std::string> path = {};
  std::string path_type = {};  ///< "Exact", "ImplementationSpecific", "Prefix".

  bool operator==(const HTTPIngressPath&) const = default;
};

struct HTTPIngressRuleValue {
  std::vector<HTTPIngressPath> paths = {};

  bool operator==(const HTTPIngressRuleValue&) const = default;
};

struct IngressRule {
  std::optional<std::string> host = {};
  std::optional<HTTPIngressRuleValue> http = {};

  bool operator==(const IngressRule&) const = default;
};

struct IngressTLS {
  std::vector<std::string> hosts = {};
  std::optional<std::string> secret_name = {};

  bool operator==(const IngressTLS&) const = default;
};

struct IngressSpec {
  std::optional<IngressBackend> default_backend = {};
  std::optional<std::string> ingress_class_name = {};
  std::vector<IngressRule> rules = {};
  std::vector<IngressTLS> tls = {};

  bool operator==(const IngressSpec&) const = default;
};

struct IngressPortStatus {
  std::optional<std::string> error = {};
  std::int32_t port = 0;
  std::string protocol = {};  ///< "SCTP", "TCP", "UDP".

  bool operator==(const IngressPortStatus&) const = default;
};

struct IngressLoadBalancerIngress {
  std::optional<std::string> hostname = {};
  std::optional<std::string> ip = {};
  std::vector<IngressPortStatus> ports = {};

  bool operator==(const IngressLoadBalancerIngress&) const = default;
};

struct IngressLoadBalancerStatus {
  std::vector<IngressLoadBalancerIngress> ingress = {};

  bool operator==(const IngressLoadBalancerStatus&) const = default;
};

struct IngressStatus {
  IngressLoadBalancerStatus load_balancer = {};

  bool operator==(const IngressStatus&) const = default;
};

/// networking.k8s.io/v1 Ingress.
struct Ingress {
  static constexpr ResourceInfo resource{.group = "networking.k8s.io",
                                         .version = "v1",
                                         .kind = "Ingress",
                                         .plural = "ingresses",
                                         .short_name = "ing"};
  ObjectMeta metadata = {};
  IngressSpec spec = {};
  IngressStatus status = {};

  bool operator==(const Ingress&) const = default;
};

struct NetworkPolicyPort {
  std::optional<std::int32_t> end_port = {};
  std::optional<IntOrString> port = {};
  std::optional<std::string> protocol = {};  ///< "SCTP", "TCP", "UDP".

  bool operator==(const NetworkPolicyPort&) const = default;
};

struct IPBlock {
  std::string cidr = {};
  std::vector<std::string> except = {};

  bool operator==(const IPBlock&) const = default;
};

struct NetworkPolicyPeer {
  std::optional<IPBlock> ip_block = {};
  std::optional<LabelSelector> namespace_selector = {};
  std::optional<LabelSelector> pod_selector = {};

  bool operator==(const NetworkPolicyPeer&) const = default;
};

struct NetworkPolicyEgressRule {
  std::vector<NetworkPolicyPort> ports = {};
  std::vector<NetworkPolicyPeer> to = {};

  bool operator==(const NetworkPolicyEgressRule&) const = default;
};

struct NetworkPolicyIngressRule {
  std::vector<NetworkPolicyPeer> from = {};
  std::vector<NetworkPolicyPort> ports = {};

  bool operator==(const NetworkPolicyIngressRule&) const = default;
};

struct NetworkPolicySpec {
  std::vector<NetworkPolicyEgressRule> egress = {};
  std::vector<NetworkPolicyIngressRule> ingress = {};
  LabelSelector pod_selector = {};
  std::vector<std::string> policy_types = {};

  bool operator==(const NetworkPolicySpec&) const = default;
};

/// networking.k8s.io/v1 NetworkPolicy.
struct NetworkPolicy {
  static constexpr ResourceInfo resource{.group = "networking.k8s.io",
                                         .version = "v1",
                                         .kind = "NetworkPolicy",
                                         .plural = "networkpolicies",
                                         .short_name = "netpol"};
  ObjectMeta metadata = {};
  NetworkPolicySpec spec = {};

  bool operator==(const NetworkPolicy&) const = default;
};

EVENKEEL_DECLARE_FIELDS(ServiceBackendPort)
EVENKEEL_DECLARE_FIELDS(IngressServiceBackend)
EVENKEEL_DECLARE_FIELDS(IngressBackend)
EVENKEEL_DECLARE_FIELDS(HTTPIngressPath)
EVENKEEL_DECLARE_FIELDS(HTTPIngressRuleValue)
EVENKEEL_DECLARE_FIELDS(IngressRule)
EVENKEEL_DECLARE_FIELDS(IngressTLS)
EVENKEEL_DECLARE_FIELDS(IngressSpec)
EVENKEEL_DECLARE_FIELDS(IngressPortStatus)
EVENKEEL_DECLARE_FIELDS(IngressLoadBalancerIngress)
EVENKEEL_DECLARE_FIELDS(IngressLoadBalancerStatus)
EVENKEEL_DECLARE_FIELDS(IngressStatus)
EVENKEEL_DECLARE_FIELDS(Ingress)
EVENKEEL_DECLARE_FIELDS(NetworkPolicyPort)
EVENKEEL_DECLARE_FIELDS(IPBlock)
EVENKEEL_DECLARE_FIELDS(NetworkPolicyPeer)
EVENKEEL_DECLARE_FIELDS(NetworkPolicyEgressRule)
EVENKEEL_DECLARE_FIELDS(NetworkPolicyIngressRule)
EVENKEEL_DECLARE_FIELDS(NetworkPolicySpec)
EVENKEEL_DECLARE_FIELDS(NetworkPolicy)

}  // namespace networking_v1

}  // namespace v0
}  // namespace evenkeel
