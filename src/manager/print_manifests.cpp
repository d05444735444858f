// SPDX-License-Identifier: Apache-2.0
#include "manager/print_manifests.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "api/yaml_writer.hpp"
#include "client/config/access_file.hpp"
#include "manager/deployment_args.hpp"
#include "manager/derived_rules.hpp"
#include "manager/manager_options.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

ManifestOptions options_of(const RunOptions& program, const Flags& flags) {
  ManifestOptions options = program.manifests;
  if (!flags.manifests.namespace_.empty()) options.namespace_ = flags.manifests.namespace_;
  if (!flags.manifests.image.empty()) options.image = flags.manifests.image;
  if (flags.manifests.replicas != 0) options.replicas = flags.manifests.replicas;
  if (options.namespace_.empty()) options.namespace_ = program.name + "-system";
  if (options.image.empty()) options.image = program.name + ":" + program.version;
  check_program_name(program.name);
  check_namespace(options.namespace_);
  return options;
}

bool converts(const Json& crd) {
  return crd.at({"spec", "conversion", "strategy"}) == Json("Webhook");
}

WebhookPlan webhooks_of(const Manager& manager, const WebhookServerOptions& options,
                        const std::string& space) {
  WebhookPlan plan;
  plan.manager = manager.name();
  plan.service = options.service;
  if (plan.service.name.empty()) plan.service.name = manager.name() + "-webhook";
  if (plan.service.namespace_.empty()) plan.service.namespace_ = space;
  if (!options.serves()) return plan;
  plan.configurations = manager.webhook_configurations({.service = plan.service});
  for (const Json& crd : manager.crds({.service = plan.service})) {
    if (converts(crd)) plan.converted.push_back(crd.at({"metadata", "name"}).as_string());
  }
  if (plan.configurations.empty() && plan.converted.empty()) return plan;
  const auto port = container_port("--webhook-bind-address", options.address);
  if (!port)
    throw std::invalid_argument("--webhook-bind-address: no API server reaches " + options.address +
                                "; \":9443\" is an address that it reaches");
  plan.port = *port;
  if (options.tls.certificate.empty())
    plan.secret = options.certificates.secret.empty() ? plan.service.name + "-certificates"
                                                      : options.certificates.secret;
  return plan;
}

void add_runtime_rules(ManifestPlan& plan, const ManagerOptions& chosen) {
  if (chosen.election)
    add_election_rules(plan, chosen.election->name.empty() ? chosen.name : chosen.election->name,
                       chosen.election->namespace_);
  if (chosen.shards) add_shard_rules(plan, *chosen.shards);
  add_webhook_rules(plan);
  if (plan.endpoint.access_reviews == AccessReviews::on) add_review_rules(plan);
}

// Returns the namespaces of the record that stand for the watched one.
std::vector<std::string> grant_recorded(ManifestPlan& plan, const std::vector<Access>& accesses) {
  RecordedElsewhere elsewhere =
      add_recorded(plan.part, accesses, {.own = plan.namespace_, .watched = plan.watched});
  for (const auto& [space, rules] : elsewhere.rules) {
    std::vector<PolicyRule>& all = plan.runtime_rules[space];
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return std::move(elsewhere.stand_ins);
}

ManifestPlan plan_of(const Manager& manager, const RunOptions& program, const ManagerOptions& chosen,
                     const Flags& flags, const EndpointOptions& endpoint) {
  const ManifestOptions options = options_of(program, flags);
  const bool shares = chosen.election || chosen.shards;
  ManifestPlan plan;
  plan.name = program.name;
  plan.namespace_ = options.namespace_;
  plan.image = options.image;
  plan.replicas = options.replicas != 0 ? options.replicas : shares ? 2 : 1;
  plan.one_at_a_time = !shares;
  plan.watched = chosen.cache.namespace_;
  plan.endpoint = endpoint;
  plan.webhooks = webhooks_of(manager, webhook_options(flags.webhooks, program.webhooks), plan.namespace_);
  const Duration delay = shutdown_delay(chosen.lifecycle, plan.webhooks.port != 0);
  plan.grace_seconds = std::chrono::ceil<std::chrono::seconds>(chosen.lifecycle.grace_period + delay).count();
  plan.crds = manager.crds({.service = plan.webhooks.service});
  plan.part = manager.manifest();
  plan.runtime_rules = plan.part.namespace_rules;
  std::vector<PolicyRule>& own = plan.runtime_rules[plan.namespace_];
  own.insert(own.end(), plan.part.own_rules.begin(), plan.part.own_rules.end());
  plan.requests = options.requests;
  plan.limits = options.limits;
  plan.service_monitor = flags.manifests.service_monitor;
  add_rules(plan.part, options.rules);
  std::vector<PolicyRule>& cluster = plan.part.cluster_rules;
  cluster.insert(cluster.end(), options.cluster_rules.begin(), options.cluster_rules.end());
  add_runtime_rules(plan, chosen);
  return plan;
}

}  // namespace

PrintedManifests manifests_of(const Manager& manager, const RunOptions& program, const ManagerOptions& chosen,
                              const Flags& flags, const EndpointOptions& endpoint,
                              const std::vector<std::string>& args) {
  ManifestPlan plan = plan_of(manager, program, chosen, flags, endpoint);
  plan.args = deployment_args(args);
  if (plan.one_at_a_time && plan.replicas > 1)
    throw std::invalid_argument("--manifest-replicas: " + std::to_string(plan.replicas) +
                                " replicas need --leader-elect or --shards");
  PrintedManifests printed;
  if (!flags.manifests.access_record.empty()) {
    const AccessRecord record = read_accesses(flags.manifests.access_record, MissingFile::error);
    for (const std::string& space : grant_recorded(plan, record.accesses()))
      printed.notes.push_back("the record has nothing in the namespace " + plan.watched +
                              "; what it has in " + space + " is granted in " + plan.watched);
  } else if (program.manifests.rules.empty() && program.manifests.cluster_rules.empty()) {
    printed.notes.push_back(
        "the roles allow watches and finalizers only; --access-record names a file with what reconcilers do");
  }
  const bool alone = flags.manifests.print_rbac && !flags.manifests.print_manifests;
  for (const Json& object : alone ? rbac_objects(plan) : manifest_objects(plan))
    printed.text += (printed.text.empty() ? "" : "---\n") + to_yaml(object);
  if (!alone) {
    for (const std::string& arg : args_with_files(plan.args))
      printed.notes.push_back("the Deployment has no volume for " + arg);
  }
  return printed;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
