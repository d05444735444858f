// SPDX-License-Identifier: Apache-2.0
// The exporter of spans with a real OpenTelemetry Collector: what it received is compared with what was
// recorded; it refuses spans in each way that a Collector has, is away, and wants TLS.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/tracing/otlp_exporter.hpp>

#include "../http/certificates.hpp"
#include "../support/temporary_directory.hpp"
#include "real_collector.hpp"

namespace evenkeel::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration patience = 300s;  // ends a test that hangs

/// Skips all tests where the Collector could not be built.
class Built final : public ::testing::Environment {
 public:
  void SetUp() override {
    if (!std::filesystem::exists(EVENKEEL_COLLECTOR)) GTEST_SKIP() << EVENKEEL_COLLECTOR << " is not there";
  }
};
const ::testing::Environment* const built = ::testing::AddGlobalTestEnvironment(new Built);

/// Keeps spans, and passes them on.
class Tee final : public SpanExporter {
 public:
  explicit Tee(OtlpExporter& next) : next_(next) {}
  void on_end(SpanRecord span) noexcept override {
    spans.push_back(span);
    next_.on_end(std::move(span));
  }
  std::vector<SpanRecord> spans;

 private:
  OtlpExporter& next_;
};

/// An exporter with its log.
struct Exporting {
  explicit Exporting(std::string endpoint, OtlpOptions options = {})
      : exporter(complete(std::move(endpoint), std::move(options))) {}

  OtlpOptions complete(std::string endpoint, OtlpOptions options) const {
    options.endpoint = std::move(endpoint);
    options.log = Log(log);
    options.first_retry = 1ms;
    return options;
  }

  const std::shared_ptr<testing::LogRecorder> log = std::make_shared<testing::LogRecorder>(LogLevel::warn);
  OtlpExporter exporter;
};

/// One Collector for all tests, except for those that stop it.
const RealCollector& collector() {
  static const RealCollector shared({
      {.name = "operator"},
      {.name = "values"},
      {.name = "resource"},
      {.name = "batches"},
      {.name = "program"},
      {.name = "unavailable", .exporter = Json::object({{"refuse", 2}, {"error", "unavailable"}})},
      {.name = "throttled",
       .exporter = Json::object({{"refuse", 1}, {"error", "exhausted"}, {"retry_after", "1s"}})},
      {.name = "invalid", .exporter = Json::object({{"refuse", 1}, {"error", "invalid"}})},
      {.name = "permanent", .exporter = Json::object({{"refuse", 1}, {"error", "permanent"}})},
      {.name = "small", .receiver = Json::object({{"max_request_body_size", 2000}})},
  });
  return shared;
}
std::string endpoint(const std::string& pipeline) {
  return "http://" + collector().address(pipeline) + "/v1/traces";
}

SpanRecord span(std::string name) {
  return {.name = std::move(name),
          .context = *SpanContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
          .start = WallTime(1'700'000'000s),
          .end = WallTime(1'700'000'001s)};
}
std::vector<std::string> names_in(const std::string& pipeline) {
  std::vector<std::string> names;
  for (const Json& one : spans_of(collector().received(pipeline))) names.push_back(one["name"].as_string());
  return names;
}

// ---- Spans as they were recorded ----

// Copies each ConfigMap into a Secret that it owns; "broken" fails.
Result copy(Context& context, const ConfigMap& map) {
  Span inner = start_span(context.client().tracer(), "count", {.parent = context.span().context()});
  inner.set_attribute("entries", static_cast<std::int64_t>(map.data.size()));
  inner.set_attribute("ratio", 0.1);
  inner.set_attribute("small", true);
  inner.set_status(SpanStatus::ok);
  if (map.metadata.name == "broken") context.client().get<Secret>({map.metadata.namespace_, "absent"});
  Secret secret;
  secret.metadata.name = map.metadata.name;
  context.apply(std::move(secret));
  return done();
}

TEST(RealCollector, ReceivesTheSpansOfAnOperatorAsTheyWereRecorded) {
  Exporting exporting(endpoint("operator"));
  const auto tee = std::make_shared<Tee>(exporting.exporter);
  testing::Harness harness(
      {.faults = {{.verb = "watch", .resource = "configmaps", .count = 1, .cut_after_time = 20s}},
       .expect_failures = true,
       .span_exporter = tee});
  harness.add(controller_for<ConfigMap>(copy).named("copier"));
  harness.add(controller_for<Secret>([](Context&, const Secret&) { return done(); }).named("reader"));
  harness.settle();
  for (const std::string name : {"web", "broken"})
    harness.create({ConfigMap{.metadata = {.name = name, .namespace_ = "default"}}});
  harness.run_for(60s);
  ASSERT_TRUE(exporting.exporter.flush(patience));

  const std::vector<std::string> received = texts_of(spans_of(collector().received("operator")));
  EXPECT_EQ(received, texts_of(tee->spans));
  EXPECT_EQ(exporting.exporter.counts().exported, tee->spans.size());
  EXPECT_THAT(exporting.log->lines(), IsEmpty()) << "an answer without partial success is no problem";
  // The comparison covers each part of a span that there is.
  EXPECT_THAT(received, Contains(AllOf(HasSubstr("reconcile reader kind 1"), HasSubstr("\n  link "),
                                       HasSubstr("evenkeel.source=string"))));
  EXPECT_THAT(received, Contains(AllOf(HasSubstr("get secrets kind 3"), HasSubstr("status 2 \"secrets"),
                                       HasSubstr("http.response.status_code=int 404"))));
  EXPECT_THAT(received, Contains(AllOf(HasSubstr("count kind 1"), HasSubstr("status 1 \"\""),
                                       HasSubstr("{entries=int 0; ratio=double 0.1; small=bool true; }"))));
  EXPECT_THAT(received, Contains(HasSubstr("watch gap kind 1")));
}

TEST(RealCollector, ReceivesEveryValueThatASpanCanHave) {
  Exporting exporting(endpoint("values"));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SpanRecord values = span("values");
  values.attributes = {{"least", std::numeric_limits<std::int64_t>::min()},
                       {"most", std::numeric_limits<std::int64_t>::max()},
                       {"tiny", 5e-324},
                       {"whole", 3.0},
                       {"infinite", infinity},
                       {"negative", -infinity},
                       {"none", std::numeric_limits<double>::quiet_NaN()},
                       {"false", false},
                       {"empty", std::string()},
                       {"text", std::string("\"\\\n\t\x01 \u00e9\u20ac\U0001f600")},
                       {"broken", std::string("a\xff\xc3z")}};
  exporting.exporter.on_end(values);
  SpanRecord late = span("");
  late.kind = SpanKind::consumer;
  late.context.sampled = false;
  late.parent = {0, 0, 0, 0, 0, 0, 0, 1};
  late.start = WallTime(1us);
  late.end = WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::nanoseconds(std::numeric_limits<std::int64_t>::max())));
  late.status = SpanStatus::error;
  late.links = {{.context = values.context, .attributes = {{"n", std::int64_t{1}}}},
                {.context = values.context}};
  exporting.exporter.on_end(late);
  ASSERT_TRUE(exporting.exporter.flush(patience));

  const std::string ids = "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7";
  EXPECT_THAT(
      texts_of(spans_of(collector().received("values"))),
      ElementsAre(
          "values kind 1 " + ids +
              " parent none from 1700000000000000000 to 1700000001000000000 status 0 \"\" "
              "sampled 1 {least=int -9223372036854775808; most=int 9223372036854775807; tiny=double 5e-324; "
              "whole=double 3; infinite=double Infinity; negative=double -Infinity; none=double NaN; "
              "false=bool false; empty=string ; text=string \"\\\n\t\x01 \u00e9\u20ac\U0001f600; "
              "broken=string a\ufffd\ufffdz; }",
          " kind 5 " + ids +
              " parent 0000000000000001 from 1000 to 9223372036854775000 status 2 \"\" sampled 0 {}"
              "\n  link " +
              ids + " {n=int 1; }\n  link " + ids + " {}"));
  EXPECT_THAT(exporting.log->lines(), IsEmpty());
}

TEST(RealCollector, ReceivesTheResourceTheScopeAndTheHeaders) {
  OtlpOptions options{.service_name = "my-operator",
                      .service_version = "1.2.3",
                      .resource = {{"k8s.pod.name", "my-operator-0"}, {"replicas", std::int64_t{3}}}};
  options.headers.set("Authorization", "Bearer t");
  Exporting exporting(endpoint("resource"), options);
  exporting.exporter.on_end(span("a"));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  const std::vector<Json> received = collector().received("resource");
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0]["authorization"], Json::array({"Bearer t"}));
  ASSERT_THAT(items_of(received[0]["traces"], "resourceSpans"), SizeIs(1));
  const Json& spans = received[0]["traces"]["resourceSpans"][0];
  EXPECT_EQ(
      attributes_text(items_of(spans["resource"], "attributes")),
      "{service.name=string my-operator; service.version=string 1.2.3; k8s.pod.name=string my-operator-0; "
      "replicas=int 3; }");
  EXPECT_EQ(spans["scopeSpans"][0]["scope"], Json::object({{"name", "evenkeel"}}));
}

TEST(RealCollector, ReceivesEachSpanOfManyBatchesOnce) {
  Exporting exporting(endpoint("batches"), {.max_queue = 10'000});
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) {
    names.push_back("span " + std::to_string(i));
    exporting.exporter.on_end(span(names.back()));
  }
  ASSERT_TRUE(exporting.exporter.flush(patience));
  EXPECT_EQ(names_in("batches"), names);
  EXPECT_EQ(exporting.exporter.counts().exported, 5000u);
}

// ---- A Collector that does not take them ----

TEST(RealCollector, GetsSpansAgainThatItHadNoRoomFor) {
  Exporting exporting(endpoint("unavailable"));
  exporting.exporter.on_end(span("a"));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  EXPECT_THAT(names_in("unavailable"), ElementsAre("a"));
  EXPECT_EQ(exporting.exporter.counts().exported, 1u);
  EXPECT_EQ(exporting.exporter.counts().dropped, 0u);
  EXPECT_THAT(exporting.log->lines(),
              ElementsAre(HasSubstr("the collector answered 503: the pipeline is full")));
}

TEST(RealCollector, IsLeftAloneAsLongAsItAsksTo) {
  Exporting exporting(endpoint("throttled"));
  const auto begin = std::chrono::steady_clock::now();
  exporting.exporter.on_end(span("a"));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_THAT(names_in("throttled"), ElementsAre("a"));
  EXPECT_THAT(exporting.log->lines(),
              ElementsAre(HasSubstr("the collector answered 429: the pipeline is full")));
}

TEST(RealCollector, DoesNotGetSpansAgainThatItRefuses) {
  struct Case {
    std::string pipeline;
    std::string problem;
  };
  for (const Case& one :
       {Case{"invalid", "the collector answered 400: these spans are not wanted"},
        Case{"permanent", "the collector answered 500: Permanent error: the disk is full"}}) {
    SCOPED_TRACE(one.pipeline);
    Exporting exporting(endpoint(one.pipeline));
    exporting.exporter.on_end(span("refused"));
    ASSERT_TRUE(exporting.exporter.flush(patience));
    EXPECT_THAT(exporting.log->lines(), ElementsAre(HasSubstr(one.problem)));
    exporting.exporter.on_end(span("taken"));
    ASSERT_TRUE(exporting.exporter.flush(patience));
    EXPECT_THAT(names_in(one.pipeline), ElementsAre("taken"));
    EXPECT_EQ(exporting.exporter.counts().exported, 1u);
    EXPECT_EQ(exporting.exporter.counts().dropped, 1u);
  }
}

TEST(RealCollector, RefusesABodyThatIsTooLarge) {
  Exporting exporting(endpoint("small"));
  exporting.exporter.on_end(span(std::string(3000, 'x')));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  exporting.exporter.on_end(span("short"));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  EXPECT_THAT(names_in("small"), ElementsAre("short"));
  EXPECT_EQ(exporting.exporter.counts().dropped, 1u);
  EXPECT_THAT(exporting.log->lines(), ElementsAre(HasSubstr("the collector answered 400: ")));
}

TEST(RealCollector, DoesNotKnowOtherPaths) {
  Exporting exporting("http://" + collector().address("small") + "/v2/traces");
  exporting.exporter.on_end(span("a"));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  EXPECT_EQ(exporting.exporter.counts().dropped, 1u);
  EXPECT_THAT(exporting.log->lines(), ElementsAre(HasSubstr("the collector answered 404: ")));
}

TEST(RealCollector, GetsSpansThatEndedWhileItWasAway) {
  RealCollector own({{.name = "away"}});
  Exporting exporting("http://" + own.address("away") + "/v1/traces");
  exporting.exporter.on_end(span("before"));
  ASSERT_TRUE(exporting.exporter.flush(patience));
  own.kill();
  exporting.exporter.on_end(span("meanwhile"));
  EXPECT_FALSE(exporting.exporter.flush(20ms));
  EXPECT_THAT(exporting.log->lines(), SizeIs(1));
  own.start();
  ASSERT_TRUE(exporting.exporter.flush(patience));
  EXPECT_THAT(texts_of(spans_of(own.received("away"))),
              ElementsAre(span_text(span("before")), span_text(span("meanwhile"))));
}

// ---- TLS ----

TEST(RealCollector, ReceivesSpansOfClientsThatItKnowsOverTls) {
  const tests::TemporaryDirectory directory;
  const Authority authority("collector");
  const Pem server = authority.issue_server("IP:127.0.0.1");
  const Pem client = authority.issue_client("my-operator");
  std::ofstream(directory.path / "ca.pem") << authority.pem();
  const RealCollector own(
      {{.name = "tls",
        .receiver = Json::object(
            {{"tls", Json::object({{"cert_pem", server.cert},
                                   {"key_pem", server.key},
                                   {"client_ca_file", (directory.path / "ca.pem").string()}})}})}});
  const std::string url = "https://" + own.address("tls") + "/v1/traces";

  Exporting known(url,
                  {.tls = {.ca_data = authority.pem(), .cert_data = client.cert, .key_data = client.key}});
  known.exporter.on_end(span("known"));
  ASSERT_TRUE(known.exporter.flush(patience));
  Exporting anonymous(url, {.tls = {.ca_data = authority.pem()}, .give_up_after = Duration::zero()});
  anonymous.exporter.on_end(span("anonymous"));
  ASSERT_TRUE(anonymous.exporter.flush(patience));

  EXPECT_THAT(texts_of(spans_of(own.received("tls"))), ElementsAre(span_text(span("known"))));
  EXPECT_THAT(known.log->lines(), IsEmpty());
  EXPECT_EQ(anonymous.exporter.counts().dropped, 1u);
  EXPECT_THAT(anonymous.log->lines(), SizeIs(1));
}

// ---- A program ----

std::vector<Json> spans_named(const std::string& name) {
  std::vector<Json> found;
  for (Json& one : spans_of(collector().received("program")))
    if (one["name"].as_string() == name) found.push_back(std::move(one));
  return found;
}
bool is_linked_to(const Json& run, const Json& write) {
  const Json::Array& links = items_of(run, "links");
  return std::any_of(links.begin(), links.end(), [&write](const Json& link) {
    return link["spanId"] == write["spanId"] && link["traceId"] == write["traceId"];
  });
}

TEST(RealCollector, ReceivesTheSpansOfAProgramWithTheFlag) {
  apiserver::ApiServer server;
  const Client client(server.config());
  testing::ProcessKeeper keeper;
  testing::ChildProcess program;
  std::ofstream(keeper.directory() + "/kubeconfig") << server.kubeconfig();
  program.start({EVENKEEL_LOAD_OPERATOR, "--kubeconfig", keeper.directory() + "/kubeconfig",
                 "--otlp-endpoint", endpoint("program")},
                keeper.directory() + "/operator.log", keeper.group());
  // Many writes: a run whose event overtakes the answer of its write has no link.
  for (int turn = 1; turn <= 30; ++turn) {
    const std::string wanted = std::to_string(turn);
    client.apply(
        ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}, .data = {{"wanted", wanted}}});
    await("the operator to have seen the object", [&client, &wanted] {
      const auto data = client.get<ConfigMap>({"default", "web"})->data;
      const auto seen = data.find("seen");
      return seen != data.end() && seen->second == wanted;
    });
  }
  program.signal(SIGTERM);
  await("the operator to end", [&program] { return !program.running(); });
  keeper.finish();

  const std::vector<Json> runs = spans_named("reconcile configmap");
  const std::vector<Json> writes = spans_named("patch configmaps");
  ASSERT_THAT(writes, SizeIs(30));
  int children = 0;
  int links = 0;
  for (const Json& write : writes) {
    for (const Json& run : runs) {
      if (write["parentSpanId"] == run["spanId"] && write["traceId"] == run["traceId"]) ++children;
      if (is_linked_to(run, write)) ++links;
    }
  }
  EXPECT_EQ(children, 30);
  EXPECT_GT(links, 0);
}

}  // namespace
}  // namespace evenkeel::tests
