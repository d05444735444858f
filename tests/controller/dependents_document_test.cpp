// SPDX-License-Identifier: Apache-2.0
// The operator of docs/dependents.md.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/kinds.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/controller/readiness.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/explore.hpp>

namespace dependents_document {

namespace ek = evenkeel;

struct WebsiteSpec {
  std::string page = {};
  int replicas = 2;
  bool exposed = true;
  std::vector<std::string> backups = {};  // schedules: "0 3 * * *"
};
EVENKEEL_FIELDS(WebsiteSpec, page, (replicas, ek::minimum(0)), exposed, backups)

struct WebsiteStatus {
  std::vector<ek::Condition> conditions = {};
};
EVENKEEL_FIELDS(WebsiteStatus, (conditions, ek::list_map("type")))

struct Website {
  static constexpr ek::ResourceInfo resource{.group = "demo.evenkeel.dev",
                                             .version = "v1",
                                             .kind = "Website",
                                             .plural = "websites",
                                             .installs_crd = true};
  ek::ObjectMeta metadata = {};
  WebsiteSpec spec = {};
  WebsiteStatus status = {};
};
EVENKEEL_FIELDS(Website, metadata, spec, status)

ek::ConfigMap page_of(const Website& site) {
  return {.metadata = {.name = site.metadata.name}, .data = {{"index.html", site.spec.page}}};
}

ek::Deployment server_of(const Website& site) {
  ek::Deployment server{.metadata = {.name = site.metadata.name}};
  server.spec.replicas = site.spec.replicas;
  server.spec.selector = ek::LabelSelector{.match_labels = {{"site", site.metadata.name}}};
  server.spec.template_.metadata.labels = {{"site", site.metadata.name}};
  server.spec.template_.spec.containers = {{.name = "nginx", .image = "nginx:1"}};
  return server;
}

ek::Service service_of(const Website& site) {
  ek::Service service{.metadata = {.name = site.metadata.name}};
  service.spec.selector = {{"site", site.metadata.name}};
  service.spec.ports = {{.port = 80}};
  return service;
}

std::vector<ek::CronJob> backups_of(const Website& site) {
  std::vector<ek::CronJob> jobs;
  for (std::size_t at = 0; at < site.spec.backups.size(); ++at) {
    ek::CronJob job{.metadata = {.name = site.metadata.name + "-" + std::to_string(at)}};
    job.spec.schedule = site.spec.backups[at];
    auto& pod = job.spec.job_template.spec.template_.spec;
    pod.restart_policy = "OnFailure";
    pod.containers = {{.name = "backup", .image = "backup:1"}};
    jobs.push_back(job);
  }
  return jobs;
}

ek::Dependents<Website> website_graph() {
  return ek::dependents<Website>()
      .add<ek::ConfigMap>("page", page_of)
      .add<ek::Deployment>("server", server_of, {.after = {"page"}, .ready = ek::rolled_out})
      .add<ek::Service>("service", service_of,
                        {.after = {"server"}, .when = [](const Website& site) { return site.spec.exposed; }})
      .add_each<ek::CronJob>("backups", backups_of, {.after = {"server"}});
}

ek::ControllerSpec website_controller() {
  return ek::controller_for(website_graph());
}

const ek::ObjectKey books{"default", "books"};

// Plays the controller of Deployments.
void roll_out(ek::testing::Harness& cluster) {
  cluster.edit_status<ek::Deployment>(books, [&](ek::apps_v1::DeploymentStatus& status) {
    const auto server = cluster.get<ek::Deployment>(books);
    status.observed_generation = server->metadata.generation;
    status.replicas = status.updated_replicas = status.available_replicas = server->spec.replicas;
  });
  cluster.settle();
}

std::string story(const ek::testing::Harness& cluster) {
  const auto site = cluster.get<Website>(books);
  const ek::Condition* const ready = ek::find_condition(site->status.conditions, "Ready");
  return ready == nullptr ? "" : ready->status + ": " + ready->message;
}

TEST(DependentsDocument, TheServiceWaitsForTheServer) {
  ek::testing::Harness cluster;
  cluster.create({Website{.metadata = {.name = "books", .namespace_ = "default"}}});
  cluster.add(website_controller());
  cluster.settle();
  EXPECT_TRUE(cluster.find<ek::Deployment>(books));
  EXPECT_FALSE(cluster.find<ek::Service>(books));
  EXPECT_EQ(story(cluster),
            "False: server: Deployment default/books: its controller has not seen the last change");
  roll_out(cluster);
  EXPECT_TRUE(cluster.find<ek::Service>(books));
  EXPECT_EQ(story(cluster), "True: all dependents are ready");
}

void life_of_a_website(ek::testing::Harness& cluster) {
  cluster.create({Website{.metadata = {.name = "books", .namespace_ = "default"},
                          .spec = {.page = "hello", .backups = {"0 3 * * *", "0 4 * * *"}}}});
  cluster.settle();
  roll_out(cluster);
  cluster.edit<Website>(books, [](Website& site) { site.spec.backups = {"0 5 * * *"}; });
  cluster.settle();
  cluster.edit<Website>(books, [](Website& site) { site.spec = {.page = "bye", .exposed = false}; });
  cluster.settle();
  roll_out(cluster);
  cluster.remove<Website>(books);
  cluster.settle();
}

TEST(DependentsDocument, AnExplorationFindsNothing) {
  const auto result = ek::testing::explore(website_controller, life_of_a_website);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20U) << result.describe();
}

TEST(DependentsDocument, AnExplorationOfDeletionsInOrderFindsNothing) {
  const auto controller = [] {
    return ek::ControllerSpec(
        ek::controller_for(website_graph().delete_in_order("demo.evenkeel.dev/dependents")));
  };
  const auto result = ek::testing::explore(controller, life_of_a_website);
  EXPECT_TRUE(result.ok()) << result.describe();
}

// The form for a program that has more to do.
ek::ControllerSpec website_controller_with_more() {
  const auto graph = website_graph();
  return ek::controller_for(graph, [graph](ek::Context& context, const Website& site) {
    const ek::DependentsReport report = graph.reconcile(context, site);
    context.patch_status(site, [&](WebsiteStatus& status) {
      report.write_conditions(status.conditions, site.metadata.generation, context.clock().wall_now());
    });
    if (report.at("service").state == ek::DependentState::ready)
      context.log().debug("the site can be reached");
    return report.result();
  });
}

TEST(DependentsDocument, TheLongFormDoesTheSame) {
  ek::testing::Harness cluster;
  cluster.create({Website{.metadata = {.name = "books", .namespace_ = "default"}}});
  cluster.add(website_controller_with_more());
  cluster.settle();
  roll_out(cluster);
  EXPECT_EQ(story(cluster), "True: all dependents are ready");
}

const ek::ResourceId monitors{"monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"};

ek::Json monitor_of(const Website& site) {
  ek::Json monitor = ek::Json::object();
  monitor["metadata"]["name"] = site.metadata.name;
  monitor["spec"]["selector"]["matchLabels"]["site"] = site.metadata.name;
  monitor["spec"]["endpoints"] = ek::Json::array({ek::Json::object({{"port", "http"}})});
  return monitor;
}

ek::Dependents<Website> monitored_website_graph() {
  return website_graph().add(monitors, "monitor", monitor_of, {.after = {"service"}, .only_if_served = true});
}

TEST(DependentsDocument, AMonitorIsMadeOnceThePrometheusOperatorIsInstalled) {
  ek::testing::Harness cluster;
  cluster.create({Website{.metadata = {.name = "books", .namespace_ = "default"}}});
  cluster.add(ek::controller_for(monitored_website_graph()));
  cluster.run_for(std::chrono::seconds{1});
  roll_out(cluster);
  EXPECT_EQ(story(cluster), "True: all dependents are ready; not served: monitor");
  cluster.create({R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {plural: servicemonitors, kind: ServiceMonitor}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)"});
  cluster.run_for(std::chrono::minutes{1});
  const auto monitor = cluster.client().resource(monitors).find(books);
  ASSERT_TRUE(monitor) << cluster.str();
  EXPECT_EQ((*monitor)["spec"]["selector"]["matchLabels"]["site"], ek::Json("books"));
  EXPECT_EQ(story(cluster), "True: all dependents are ready");
}

}  // namespace dependents_document
