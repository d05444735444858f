// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/conversion.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

Json client_config(const WebhookTarget& target, const std::string& path) {
  Json config = Json::object();
  if (target.url.empty()) {
    config["service"] = Json::object({{"namespace", target.service.namespace_},
                                      {"name", target.service.name},
                                      {"port", target.service.port},
                                      {"path", path}});
  } else {
    config["url"] = target.url + path;
  }
  if (!target.ca_bundle.empty()) config["caBundle"] = Bytes(target.ca_bundle).base64();
  return config;
}

Json rule_of(const ResourceId& resource, const WebhookOptions& options) {
  Json rule = Json::object({{"apiGroups", Json::array({resource.group})},
                            {"apiVersions", Json::array({resource.version})},
                            {"resources", Json::array({resource.plural})},
                            {"scope", "*"}});
  for (const AdmissionOperation operation : options.operations)
    rule["operations"].push_back(operation_name(operation));
  for (const std::string& subresource : options.subresources)
    rule["resources"].push_back(resource.plural + "/" + subresource);
  return rule;
}

// A name of at least three parts, as the API server demands.
std::string entry_name(const char* verb, const ResourceId& resource) {
  return std::string(verb) + "-" + resource.version + "." + resource.plural + "." +
         (resource.group.empty() ? "core" : resource.group);
}

Json entry(const char* verb, const std::string& path, const Webhook& webhook, const WebhookOptions& options,
           const WebhookTarget& target) {
  Json out = Json::object(
      {{"name", entry_name(verb, webhook.resource())},
       {"admissionReviewVersions", Json::array({"v1"})},
       {"clientConfig", client_config(target, path)},
       {"failurePolicy", options.failure_policy == FailurePolicy::fail ? "Fail" : "Ignore"},
       {"sideEffects", "None"},
       {"timeoutSeconds", std::chrono::duration_cast<std::chrono::seconds>(options.timeout).count()}});
  out["rules"].push_back(rule_of(webhook.resource(), options));
  if (!options.namespace_selector.is_null()) out["namespaceSelector"] = options.namespace_selector;
  if (!options.object_selector.is_null()) out["objectSelector"] = options.object_selector;
  for (const MatchCondition& condition : options.match_conditions) {
    out["matchConditions"].push_back(
        Json::object({{"name", condition.name}, {"expression", condition.expression}}));
  }
  return out;
}

Json configuration(const char* kind, const std::string& name) {
  return Json::object({{"apiVersion", "admissionregistration.k8s.io/v1"},
                       {"kind", kind},
                       {"metadata", Json::object({{"name", name}})},
                       {"webhooks", Json::array()}});
}

}  // namespace

std::string mutating_configuration_name(std::string_view name) {
  return std::string(name) + "-mutating";
}
std::string validating_configuration_name(std::string_view name) {
  return std::string(name) + "-validating";
}

std::vector<Json> webhook_configurations(std::span<const Webhook> webhooks, std::string_view name,
                                         const WebhookTarget& target) {
  Json mutating = configuration("MutatingWebhookConfiguration", mutating_configuration_name(name));
  Json validating = configuration("ValidatingWebhookConfiguration", validating_configuration_name(name));
  for (const Webhook& webhook : webhooks) {
    if (webhook.defaulter())
      mutating["webhooks"].push_back(
          entry("mutate", mutate_path(webhook.resource()), webhook, webhook.defaulting(), target));
    if (webhook.validator())
      validating["webhooks"].push_back(
          entry("validate", validate_path(webhook.resource()), webhook, webhook.validating(), target));
  }
  std::vector<Json> found;
  for (Json* each : {&mutating, &validating}) {
    if (!(*each)["webhooks"].empty()) found.push_back(std::move(*each));
  }
  return found;
}

void set_conversion_webhook(Json& crd, const WebhookTarget& target) {
  Json webhook = Json::object({{"conversionReviewVersions", Json::array({"v1"})},
                               {"clientConfig", client_config(target, std::string(convert_path))}});
  crd["spec"]["conversion"] = Json::object({{"strategy", "Webhook"}, {"webhook", std::move(webhook)}});
}

}  // namespace v0
}  // namespace evenkeel
