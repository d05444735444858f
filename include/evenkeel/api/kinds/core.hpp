// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of the core group v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace core_v1 {

/// v1 ConfigMap.
struct ConfigMap {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .short_name = "cm"};
  ObjectMeta metadata = {};
  std::map<std::string, Bytes> binary_data = {};
  std::map<std::string, std::string> data = {};
  std::optional<bool> immutable = {};

  bool operator==(const ConfigMap&) const = default;
};

/// v1 Secret.
struct Secret {
  static constexpr ResourceInfo resource{.version = "v1", .kind = "Secret", .plural = "secrets"};
  ObjectMeta metadata = {};
  std::map<std::string, Bytes> data = {};
  std::optional<bool> immutable = {};
  std::map<std::string, std::string> string_data = {};
  std::optional<std::string> type = {};

  bool operator==(const Secret&) const = default;
};

struct NamespaceSpec {
  std::vector<std::string> finalizers = {};

  bool operator==(const NamespaceSpec&) const = default;
};

struct NamespaceCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const NamespaceCondition&) const = default;
};

struct NamespaceStatus {
  std::vector<NamespaceCondition> conditions = {};
  std::optional<std::string> phase = {};  ///< "Active", "Terminating".

  bool operator==(const NamespaceStatus&) const = default;
};

/// v1 Namespace.
struct Namespace {
  static constexpr ResourceInfo resource{.version = "v1",
                                         .kind = "Namespace",
                                         .plural = "namespaces",
                                         .scope = Scope::cluster,
                                         .short_name = "ns"};
  ObjectMeta metadata = {};
  NamespaceSpec spec = {};
  NamespaceStatus status = {};

  bool operator==(const Namespace&) const = default;
};

struct ObjectReference {
  std::optional<std::string> name = {};
  std::optional<std::string> api_version = {};
  std::optional<std::string> field_path = {};
  std::optional<std::string> kind = {};
  std::optional<std::string> namespace_ = {};
  std::optional<std::string> resource_version = {};
  std::optional<std::string> uid = {};

  bool operator==(const ObjectReference&) const = default;
};

struct EventSeries {
  std::optional<std::int32_t> count = {};
  std::optional<MicroTime> last_observed_time = {};

  bool operator==(const EventSeries&) const = default;
};

struct EventSource {
  std::optional<std::string> component = {};
  std::optional<std::string> host = {};

  bool operator==(const EventSource&) const = default;
};

/// v1 Event.
struct Event {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "Event", .plural = "events", .short_name = "ev"};
  ObjectMeta metadata = {};
  std::optional<std::string> action = {};
  std::optional<std::int32_t> count = {};
  std::optional<MicroTime> event_time = {};
  std::optional<Time> first_timestamp = {};
  ObjectReference involved_object = {};
  std::optional<Time> last_timestamp = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::optional<ObjectReference> related = {};
  std::optional<std::string> reporting_component = {};
  std::optional<std::string> reporting_instance = {};
  std::optional<EventSeries> series = {};
  EventSource source = {};
  std::optional<std::string> type = {};

  bool operator==(const Event&) const = default;
};

struct LocalObjectReference {
  std::optional<std::string> name = {};

  bool operator==(const LocalObjectReference&) const = default;
};

/// v1 ServiceAccount.
struct ServiceAccount {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "ServiceAccount", .plural = "serviceaccounts", .short_name = "sa"};
  ObjectMeta metadata = {};
  std::optional<bool> automount_service_account_token = {};
  std::vector<LocalObjectReference> image_pull_secrets = {};
  std::vector<ObjectReference> secrets = {};

  bool operator==(const ServiceAccount&) const = default;
};

struct ServicePort {
  std::optional<std::string> name = {};
  std::optional<std::string> app_protocol = {};
  std::optional<std::int32_t> node_port = {};
  std::int32_t port = 0;
  std::optional<std::string> protocol = {};  ///< "SCTP", "TCP", "UDP".
  std::optional<IntOrString> target_port = {};

  bool operator==(const ServicePort&) const = default;
};

struct ClientIPConfig {
  std::optional<std::int32_t> timeout_seconds = {};

  bool operator==(const ClientIPConfig&) const = default;
};

struct SessionAffinityConfig {
  std::optional<ClientIPConfig> client_ip = {};

  bool operator==(const SessionAffinityConfig&) const = default;
};

struct ServiceSpec {
  std::optional<bool> allocate_load_balancer_node_ports = {};
  std::optional<std::string> cluster_ip = {};
  std::vector<std::string> cluster_ips = {};
  std::vector<std::string> external_ips = {};
  std::optional<std::string> external_name = {};
  std::optional<std::string> external_traffic_policy = {};  ///< "Cluster", "Local".
  std::optional<std::int32_t> health_check_node_port = {};
  std::optional<std::string> internal_traffic_policy = {};  ///< "Cluster", "Local".
  std::vector<std::string> ip_families = {};
  std::optional<std::string> ip_family_policy =
      {};  ///< "PreferDualStack", "RequireDualStack", "SingleStack".
  std::optional<std::string> load_balancer_class = {};
  std::optional<std::string> load_balancer_ip = {};
  std::vector<std::string> load_balancer_source_ranges = {};
  std::vector<ServicePort> ports = {};
  std::optional<bool> publish_not_ready_addresses = {};
  std::map<std::string, std::string> selector = {};
  std::optional<std::string> session_affinity = {};  ///< "ClientIP", "None".
  std::optional<SessionAffinityConfig> session_affinity_config = {};
  std::optional<std::string> traffic_distribution = {};
  std::optional<std::string> type = {};  ///< "ClusterIP", "ExternalName", "LoadBalancer", "NodePort".

  bool operator==(const ServiceSpec&) const = default;
};

struct PortStatus {
  std::optional<std::string> error = {};
  std::int32_t port = 0;
  std::string protocol = {};  ///< "SCTP", "TCP", "UDP".

  bool operator==(const PortStatus&) const = default;
};

struct LoadBalancerIngress {
  std::optional<std::string> hostname = {};
  std::optional<std::string> ip = {};
  std::optional<std::string> ip_mode = {};
  std::vector<PortStatus> ports = {};

  bool operator==(const LoadBalancerIngress&) const = default;
};

struct LoadBalancerStatus {
  std::vector<LoadBalancerIngress> ingress = {};

  bool operator==(const LoadBalancerStatus&) const = default;
};

struct ServiceStatus {
  std::vector<Condition> conditions = {};
  LoadBalancerStatus load_balancer = {};

  bool operator==(const ServiceStatus&) const = default;
};

/// v1 Service.
struct Service {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "Service", .plural = "services", .short_name = "svc"};
  ObjectMeta metadata = {};
  ServiceSpec spec = {};
  ServiceStatus status = {};

  bool operator==(const Service&) const = default;
};

EVENKEEL_DECLARE_FIELDS(ConfigMap)
EVENKEEL_DECLARE_FIELDS(Secret)
EVENKEEL_DECLARE_FIELDS(NamespaceSpec)
EVENKEEL_DECLARE_FIELDS(NamespaceCondition)
EVENKEEL_DECLARE_FIELDS(NamespaceStatus)
EVENKEEL_DECLARE_FIELDS(Namespace)
EVENKEEL_DECLARE_FIELDS(ObjectReference)
EVENKEEL_DECLARE_FIELDS(EventSeries)
EVENKEEL_DECLARE_FIELDS(EventSource)
EVENKEEL_DECLARE_FIELDS(Event)
EVENKEEL_DECLARE_FIELDS(LocalObjectReference)
EVENKEEL_DECLARE_FIELDS(ServiceAccount)
EVENKEEL_DECLARE_FIELDS(ServicePort)
EVENKEEL_DECLARE_FIELDS(ClientIPConfig)
EVENKEEL_DECLARE_FIELDS(SessionAffinityConfig)
EVENKEEL_DECLARE_FIELDS(ServiceSpec)
EVENKEEL_DECLARE_FIELDS(PortStatus)
EVENKEEL_DECLARE_FIELDS(LoadBalancerIngress)
EVENKEEL_DECLARE_FIELDS(LoadBalancerStatus)
EVENKEEL_DECLARE_FIELDS(ServiceStatus)
EVENKEEL_DECLARE_FIELDS(Service)

}  // namespace core_v1

using core_v1::ConfigMap;
using core_v1::Namespace;
using core_v1::Secret;
using core_v1::Service;
using core_v1::ServiceAccount;

}  // namespace v0
}  // namespace evenkeel
