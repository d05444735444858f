// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "manager/manifest_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr const char* name_label = "app.kubernetes.io/name";
constexpr std::int64_t more_grace_seconds = 10;  // for what is cancelled to end, and the Lease to be released

Json labels(const ManifestPlan& plan) {
  return Json::object({{name_label, plan.name}});
}

Json labelled(Json object, const ManifestPlan& plan) {
  object["metadata"]["labels"] = labels(plan);
  return object;
}

std::optional<std::uint16_t> metrics_port(const ManifestPlan& plan) {
  if (!plan.endpoint.serves_metrics()) return std::nullopt;
  return container_port("--metrics-bind-address", plan.endpoint.metrics_address);
}

std::optional<std::uint16_t> probe_port(const ManifestPlan& plan) {
  if (!plan.endpoint.serves_probes()) return std::nullopt;
  const auto port = container_port("--health-probe-bind-address", plan.endpoint.probe_address);
  if (!port)
    throw std::invalid_argument("--health-probe-bind-address: no kubelet reaches " +
                                plan.endpoint.probe_address + "; \":8081\" is an address that it reaches");
  return port;
}

std::vector<ManifestPort> ports_of(const ManifestPlan& plan) {
  std::vector<ManifestPort> ports;
  const auto metrics = metrics_port(plan);
  const auto probes = probe_port(plan);
  if (metrics) ports.push_back({"metrics", *metrics});
  if (probes && probes != metrics) ports.push_back({"probes", *probes});
  if (plan.webhooks.port != 0) ports.push_back({"webhooks", plan.webhooks.port});
  ports.insert(ports.end(), plan.part.ports.begin(), plan.part.ports.end());
  return ports;
}

Json probe(const ManifestPlan& plan, const char* path, int period_seconds) {
  Json get = Json::object({{"path", path}, {"port", *probe_port(plan)}});
  // One site serves both if the addresses are equal.
  const bool shared = plan.endpoint.probe_address == plan.endpoint.metrics_address;
  if (shared && !plan.endpoint.metrics_tls.certificate.empty()) get["scheme"] = "HTTPS";
  return Json::object({{"httpGet", std::move(get)}, {"periodSeconds", period_seconds}});
}

Json container(const ManifestPlan& plan) {
  Json made = Json::object(
      {{"name", "operator"},
       {"image", plan.image},
       {"securityContext", Json::object({{"allowPrivilegeEscalation", false},
                                         {"readOnlyRootFilesystem", true},
                                         {"capabilities", Json::object({{"drop", Json::array({"ALL"})}})}})},
       {"resources", Json::object({{"requests", plan.requests}, {"limits", plan.limits}})}});
  for (const std::string& arg : plan.args) made["args"].push_back(arg);
  for (const ManifestPort& port : ports_of(plan))
    made["ports"].push_back(Json::object({{"name", port.name}, {"containerPort", port.number}}));
  if (probe_port(plan)) {
    made["livenessProbe"] = probe(plan, "/healthz", 10);
    made["readinessProbe"] = probe(plan, "/readyz", 5);
  }
  return made;
}

Json deployment(const ManifestPlan& plan) {
  Json object = labelled(object_of("apps/v1", "Deployment", plan.name, plan.namespace_), plan);
  Json pod = Json::object(
      {{"serviceAccountName", plan.name},
       {"terminationGracePeriodSeconds", plan.grace_seconds + more_grace_seconds},
       {"securityContext", Json::object({{"runAsNonRoot", true},
                                         {"seccompProfile", Json::object({{"type", "RuntimeDefault"}})}})},
       {"containers", Json::array({container(plan)})}});
  object["spec"] = Json::object(
      {{"replicas", plan.replicas},
       {"selector", Json::object({{"matchLabels", labels(plan)}})},
       {"template",
        Json::object({{"metadata", Json::object({{"labels", labels(plan)}})}, {"spec", std::move(pod)}})}});
  if (plan.one_at_a_time) object["spec"]["strategy"] = Json::object({{"type", "Recreate"}});
  return object;
}

Json service(const ManifestPlan& plan, const std::string& name, std::uint16_t port, const char* target) {
  Json object = labelled(object_of("v1", "Service", name, plan.namespace_), plan);
  Json entry = Json::object({{"name", target}, {"port", port}, {"targetPort", target}});
  object["spec"] = Json::object({{"selector", labels(plan)}, {"ports", Json::array({std::move(entry)})}});
  return object;
}

Json disruption_budget(const ManifestPlan& plan) {
  Json object = labelled(object_of("policy/v1", "PodDisruptionBudget", plan.name, plan.namespace_), plan);
  object["spec"] =
      Json::object({{"minAvailable", 1}, {"selector", Json::object({{"matchLabels", labels(plan)}})}});
  return object;
}

// For the Prometheus Operator.
Json service_monitor(const ManifestPlan& plan) {
  Json object =
      labelled(object_of("monitoring.coreos.com/v1", "ServiceMonitor", plan.name, plan.namespace_), plan);
  Json endpoint = Json::object({{"port", "metrics"}, {"path", "/metrics"}});
  if (!plan.endpoint.metrics_tls.certificate.empty()) {
    endpoint["scheme"] = "https";
    endpoint["tlsConfig"] =
        Json::object({{"serverName", plan.name + "-metrics." + plan.namespace_ + ".svc"}});
  }
  if (plan.endpoint.access_reviews == AccessReviews::on)
    endpoint["bearerTokenFile"] = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  object["spec"] = Json::object({{"selector", Json::object({{"matchLabels", labels(plan)}})},
                                 {"endpoints", Json::array({std::move(endpoint)})}});
  return object;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Source: RFC 1123, as Kubernetes narrows it.
bool is_label(const std::string& name, std::size_t most) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c); };
  if (name.empty() || name.size() > most || !is_letter(name.front()) || !is_letter(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return c == '-' || is_letter(c); });
}

void append(std::vector<Json>& objects, const std::vector<Json>& more) {
  objects.insert(objects.end(), more.begin(), more.end());
}

}  // namespace

std::optional<std::uint16_t> container_port(const std::string& flag, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon == std::string::npos ? 0 : colon);
  const std::string digits = address.substr(colon == std::string::npos ? 0 : colon + 1);
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size() || port == 0)
    throw std::invalid_argument(flag + ": \"" + address + "\" has no port that manifests could name");
  if (!host.empty() && host != "0.0.0.0" && host != "[::]") return std::nullopt;
  return port;
}

void check_program_name(const std::string& name) {
  constexpr std::size_t most = 50;  // a Service has 63, and appends "-metrics" or "-webhook"
  if (!is_label(name, most) || is_digit(name.front()))
    throw std::invalid_argument("the program's name \"" + name +
                                "\" cannot be that of a Service: expected up to 50 lower case letters, "
                                "digits and '-', beginning with a letter");
}

void check_namespace(const std::string& name) {
  constexpr std::size_t most = 63;
  if (!is_label(name, most))
    throw std::invalid_argument(
        "\"" + name +
        "\" cannot be the name of a namespace: expected up to 63 lower case letters, digits and '-'");
}

std::vector<Json> manifest_objects(const ManifestPlan& plan) {
  std::vector<Json> objects = {object_of("v1", "Namespace", plan.namespace_, "")};
  append(objects, plan.crds);
  append(objects, rbac_objects(plan));
  const bool metrics = metrics_port(plan).has_value();
  if (metrics) objects.push_back(service(plan, plan.name + "-metrics", *metrics_port(plan), "metrics"));
  if (plan.webhooks.port != 0)
    objects.push_back(service(plan, plan.webhooks.service.name, plan.webhooks.service.port, "webhooks"));
  objects.push_back(deployment(plan));
  append(objects, plan.webhooks.configurations);
  if (plan.replicas > 1) objects.push_back(disruption_budget(plan));
  if (metrics && plan.service_monitor) objects.push_back(service_monitor(plan));
  append(objects, plan.part.objects);
  return objects;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
