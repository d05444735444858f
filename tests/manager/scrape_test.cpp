// SPDX-License-Identifier: Apache-2.0
// The metrics of a working operator, compared with controller-runtime, the documentation and the dashboard.
#include "scrape.hpp"

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/flow_control.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/sharding/shards.hpp>
#include <evenkeel/tracing/otlp_exporter.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>

#include "../support/await.hpp"
#include "../support/repository.hpp"
#include "world.hpp"

namespace evenkeel {
namespace {

using ::testing::IsEmpty;
using tests::Family;
using tests::read_repository_file;
using tests::Scrape;

// An operator over real sockets that leads, works, and has all the problems that metrics report: a kind that
// the server does not know, a retried request, a reconcile for each result.
class ScrapeConcurrency : public ::testing::Test {
 protected:
  ScrapeConcurrency() {
    server.install(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"map","namespace":"default"}})");
    Config config = server.config();
    ManagerOptions options = world.options();
    options.lifecycle.shutdown_delay = Duration::zero();  // the API server calls no webhook
    options.election = ElectionOptions{.name = "op", .namespace_ = "default", .identity = "me"};
    const auto flow_control = std::make_shared<FlowControl>(token_bucket(1000.0, 1000));
    manager.emplace(Client(config, {.log = world.log(), .flow_control = flow_control}), std::move(options));
    auto maps = controller_for<ConfigMap>(
        [this](Context& context, const ConfigMap& map) { return work(context, map); });
    manager->add(std::move(maps).named("maps").with({.store = [] { return TwoLaneStore(); }}));
    manager->add(controller_for<Gadget>([](Context&, const Gadget&) { return done(); }));
    manager->serve({.metrics_address = "127.0.0.1:0"});
  }
  // Each run ends in a different way.
  Result work(Context& context, const ConfigMap&) {
    switch (runs++) {
      case 0:
        server.inject({.verb = "get",
                       .resource = "configmaps",
                       .count = 1,
                       .status = 429,
                       .retry_after = std::chrono::seconds{0}});
        context.client().find<ConfigMap>({"default", "map"});
        return requeue();
      case 1:
        return requeue_after(std::chrono::milliseconds{1});
      case 2:
        throw Error("not today");
      case 3:
        throw std::logic_error("a bug");
      case 4:
        throw ApiError("update configmaps/default/map", Status{.code = 409, .reason = "Conflict"});
      case 5:
        return requeue_after(std::chrono::milliseconds{1});
      default:
        return done();
    }
  }
  Scrape scrape() {
    const std::string line = world.happenings->lines_with("serving what=metrics ").back();
    const http::Response answer =
        http::make_curl_transport({.server = line.substr(line.find("url=") + 4), .proxy = ""})
            ->fetch({.target = "/metrics"});
    if (answer.status != 200)
      throw std::runtime_error("metrics were answered with " + std::to_string(answer.status));
    text = answer.body;
    return tests::parse_scrape(text);
  }
  // Scrapes after all runs of work().
  Scrape scrape_of_all() {
    running = std::make_unique<Running>(*manager);
    world.wait_for_line("serving what=metrics");
    Scrape last;
    tests::await("seven runs and a problem", [&] {
      last = scrape();
      return last.value(R"(controller_runtime_reconcile_total{controller="maps",result="success"})") >= 1 &&
             last.families.count("evenkeel_informer_problem") != 0;
    });
    return last;
  }
  // Adds what few programs have: webhooks, another cluster, shards and spans.
  Scrape scrape_with_optional_parts() {
    manager->add(
        webhook_for<Gadget>().validates([](const Validation<Gadget>&) { return ValidationResult::allow(); }));
    manager->serve_webhooks({.address = "127.0.0.1:0"});
    manager->clusters().engage({.name = "eu", .config = server.config()});
    Scrape ours = scrape_of_all();
    tests::await("a followed cluster", [&] {
      ours = scrape();
      return ours.families.count("evenkeel_cluster_state") != 0;
    });
    PrometheusText of_shards;  // which exclude an election
    ManagerOptions options{.name = "op"};
    options.shards = ShardOptions{.by = ShardBy::namespace_range, .label = "sharding.evenkeel.dev/cell"};
    Manager(world.client(), std::move(options)).collect(of_shards);
    ours.families.merge(tests::parse_scrape(of_shards.str()).families);
    PrometheusText of_spans;  // which need a collector
    OtlpExporter().collect(of_spans);
    ours.families.merge(tests::parse_scrape(of_spans.str()).families);
    return ours;
  }

  World world;
  apiserver::ApiServer server;
  std::atomic<int> runs = 0;
  std::string text;
  std::optional<Manager> manager;
  std::unique_ptr<Running> running;
};

std::string labels_text(const std::set<std::string>& labels) {
  std::string joined;
  for (const std::string& label : labels) joined += (joined.empty() ? "" : ",") + label;
  return joined.empty() ? "-" : joined;
}

bool alike(const std::vector<double>& one, const std::vector<double>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::abs(b);  // Go multiplies its bounds, and gets 9.999999999999999e-06
  });
}

TEST_F(ScrapeConcurrency, HasTheFamiliesOfControllerRuntimeWithTheirTypesLabelsAndBuckets) {
  const Scrape ours = scrape_of_all();
  std::istringstream lines(read_repository_file("tests/manager/data/controller_runtime_metrics.txt"));
  int compared = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name, type, labels, bounds;
    words >> name >> type >> labels >> bounds;
    const auto found = ours.families.find(name);
    ASSERT_NE(found, ours.families.end()) << name << " is missing in\n" << text;
    EXPECT_EQ(found->second.type, type) << name;
    EXPECT_EQ(labels_text(found->second.labels), labels) << name;
    std::vector<double> expected;
    std::istringstream numbers(bounds);
    for (std::string number; std::getline(numbers, number, ',');) {
      if (number != "+Inf") expected.push_back(std::stod(number));
    }
    EXPECT_TRUE(alike(found->second.bounds, expected)) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 30);
}

TEST_F(ScrapeConcurrency, CountsEachRunUnderHowItEnded) {
  const Scrape ours = scrape_of_all();
  const std::map<std::string, double> expected = {{"success", 1}, {"requeue", 1},  {"requeue_after", 2},
                                                  {"error", 2},   {"conflict", 1}, {"cancelled", 0}};
  for (const auto& [result, count] : expected) {
    EXPECT_EQ(ours.value("controller_runtime_reconcile_total{controller=\"maps\",result=\"" + result + "\"}"),
              count)
        << result;
    // Results that never occurred are zero, so that rates can be computed from the start.
    EXPECT_EQ(
        ours.value("controller_runtime_reconcile_total{controller=\"gadget\",result=\"" + result + "\"}"), 0)
        << result;
  }
  EXPECT_EQ(ours.value(R"(controller_runtime_reconcile_errors_total{controller="maps"})"), 2);
  EXPECT_EQ(ours.value(R"(controller_runtime_reconcile_panics_total{controller="maps"})"), 1);
  EXPECT_EQ(ours.value(R"(controller_runtime_terminal_reconcile_errors_total{controller="maps"})"), 0);
  EXPECT_EQ(ours.value(R"(controller_runtime_reconcile_timeouts_total{controller="maps"})"), 0);
  EXPECT_EQ(ours.value(R"(controller_runtime_reconcile_time_seconds_count{controller="maps"})"), 7);
  EXPECT_EQ(ours.value(R"(controller_runtime_max_concurrent_reconciles{controller="maps"})"), 1);
  EXPECT_EQ(ours.value(R"(controller_runtime_active_workers{controller="maps"})"), 0);
  EXPECT_EQ(ours.value(R"(leader_election_master_status{name="op"})"), 1);
  EXPECT_EQ(
      ours.value(R"(evenkeel_informer_problem{group="test.evenkeel.dev",version="v1",resource="gadgets",)"
                 R"(namespace="",selector="",form="",problem="no_such_kind"})"),
      1);
  const std::string maps =
      R"({group="",version="v1",resource="configmaps",namespace="",selector="",form=""})";
  const std::string gadgets =
      R"({group="test.evenkeel.dev",version="v1",resource="gadgets",namespace="",selector="",form=""})";
  EXPECT_EQ(ours.value("evenkeel_informer_streaming_lists_total" + maps), 1);
  EXPECT_EQ(ours.value("evenkeel_informer_streaming_fallbacks_total" + maps), 0);
  EXPECT_EQ(ours.value("evenkeel_informer_lists_total" + maps), 0);
  EXPECT_EQ(ours.value("evenkeel_informer_streaming_fallbacks_total" + gadgets), 1);
  EXPECT_GE(ours.value("evenkeel_informer_lists_total" + gadgets), 1);
  const std::string host = server.url().substr(7);
  EXPECT_EQ(ours.value("rest_client_request_retries_total{code=\"429\",verb=\"GET\",host=\"" + host + "\"}"),
            1);
  EXPECT_GE(ours.value("rest_client_requests_total{code=\"404\",method=\"GET\",host=\"" + host + "\"}"), 1);
  // Those of the election, which has a separate client.
  EXPECT_EQ(ours.value("rest_client_requests_total{code=\"201\",method=\"POST\",host=\"" + host + "\"}"), 1);
}

TEST_F(ScrapeConcurrency, EveryFamilyIsDocumentedAndEveryDocumentedOneIsThere) {
  const Scrape ours = scrape_with_optional_parts();
  const std::string page = read_repository_file("docs/metrics.md");
  std::map<std::string, std::pair<std::string, std::string>> documented;  // name -> type, labels
  const std::regex row(R"(\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*|-) \|)");
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
    std::string labels = (*at)[3];
    std::erase(labels, ' ');
    documented[(*at)[1]] = {(*at)[2], labels};
  }
  for (const auto& [name, family] : ours.families) {
    const auto found = documented.find(name);
    if (found == documented.end()) {
      ADD_FAILURE() << name << " is not in docs/metrics.md";
      continue;
    }
    EXPECT_EQ(found->second.first, family.type) << name;
    std::set<std::string> labels;
    std::istringstream words(found->second.second == "-" ? "" : found->second.second);
    for (std::string label; std::getline(words, label, ',');) labels.insert(label);
    EXPECT_EQ(labels_text(labels), labels_text(family.labels)) << name;
  }
  for (const auto& [name, ignored] : documented)
    EXPECT_EQ(ours.families.count(name), 1u) << name << " is documented, but not served";
}

TEST_F(ScrapeConcurrency, EveryMetricOfTheDashboardIsThere) {
  const Scrape ours = scrape_with_optional_parts();
  const Json dashboard = Json::parse(read_repository_file("docs/dashboards/evenkeel.json"));
  std::set<std::string> asked;
  const std::regex metric(
      R"((controller_runtime|workqueue|rest_client|leader_election|process|evenkeel)_[a-z_]+)");
  std::size_t queries = 0;
  for (const Json& panel : dashboard["panels"].as_array()) {
    if (panel["type"].string_or("") == "row") continue;
    EXPECT_FALSE(panel["targets"].as_array().empty()) << panel["title"].string_or("");
    for (const Json& target : panel["targets"].as_array()) {
      const std::string query = target["expr"].string_or("");
      std::sregex_iterator at(query.begin(), query.end(), metric);
      EXPECT_NE(at, std::sregex_iterator()) << "no metric in " << query;
      for (; at != std::sregex_iterator(); ++at) asked.insert(at->str());
      ++queries;
    }
  }
  EXPECT_GE(queries, 10u);
  for (const std::string& name : asked)
    EXPECT_EQ(ours.families.count(tests::family_of(ours.families, name)), 1u) << name;
}

// For a host with its own metrics: the same values without HTTP, except those of the process, which it has,
// and of the endpoint, which it does not use.
TEST_F(ScrapeConcurrency, AHostCollectsTheSameIntoASinkOfItsOwn) {
  const Scrape ours = scrape_of_all();
  PrometheusText sink;
  manager->collect(sink);
  const Scrape hosts = tests::parse_scrape(sink.str());
  const auto of_endpoint = [](const std::string& name) {
    return name.starts_with("process_") || name.starts_with("evenkeel_endpoint_");
  };
  for (const auto& [name, family] : ours.families) {
    EXPECT_EQ(hosts.families.count(name), of_endpoint(name) ? 0u : 1u) << name;
  }
}

// Before and during run(), and for a host's own sink as well.
TEST_F(ScrapeConcurrency, AProgramAddsMetricsOfItsOwn) {
  const Counter moves = manager->metrics().counter("demo_moves_total", "Moves.", {"zone"});
  std::atomic<int> held = 2;
  manager->metrics().add("locks", [&](MetricSink& sink) { sink.gauge("demo_locks", "Held.", {}, held); });
  running = std::make_unique<Running>(*manager);
  world.wait_for_line("serving what=metrics");
  moves.add(3, {{"zone", "a"}});
  Scrape ours = scrape();
  EXPECT_EQ(ours.value("demo_moves_total{zone=\"a\"}"), 3);
  EXPECT_EQ(ours.families.at("demo_moves_total").type, "counter");
  EXPECT_EQ(ours.value("demo_locks"), 2);
  EXPECT_EQ(ours.families.count("controller_runtime_reconcile_total"), 1U);

  manager->metrics().histogram("demo_seconds", "Time.").observe(0.3);
  held = 1;
  ours = scrape();
  EXPECT_EQ(ours.value("demo_seconds_bucket{le=\"0.5\"}"), 1);
  EXPECT_EQ(ours.value("demo_locks"), 1);
  PrometheusText sink;
  manager->collect(sink);
  EXPECT_EQ(tests::parse_scrape(sink.str()).value("demo_locks"), 1);
}

TEST_F(ScrapeConcurrency, ASourceThatFailsIsNamedInTheAnswer) {
  manager->metrics().add("disk", [](MetricSink&) { throw Error("cannot be read"); });
  running = std::make_unique<Running>(*manager);
  world.wait_for_line("serving what=metrics");
  const std::string line = world.happenings->lines_with("serving what=metrics ").back();
  const http::Response answer =
      http::make_curl_transport({.server = line.substr(line.find("url=") + 4), .proxy = ""})
          ->fetch({.target = "/metrics"});
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "500 the metrics of disk: cannot be read\n");
}

}  // namespace
}  // namespace evenkeel
