// SPDX-License-Identifier: Apache-2.0
// The spans that controllers, clients and caches record.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
namespace {
namespace spans_test {

using evenkeel::testing::Harness;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Collected final : public SpanExporter {
 public:
  void on_end(SpanRecord span) noexcept override { spans.push_back(std::move(span)); }
  std::vector<SpanRecord> named(const std::string& name) const {
    std::vector<SpanRecord> found;
    for (const SpanRecord& span : spans) {
      if (span.name == name) found.push_back(span);
    }
    return found;
  }
  std::vector<SpanRecord> spans;
};

std::string text_of(const SpanRecord& span, const std::string& attribute) {
  for (const SpanAttribute& one : span.attributes) {
    if (one.name == attribute && std::holds_alternative<std::string>(one.value))
      return std::get<std::string>(one.value);
  }
  return {};
}

/// Returns -1 for an attribute that is absent.
std::int64_t number_of(const SpanRecord& span, const std::string& attribute) {
  for (const SpanAttribute& one : span.attributes) {
    if (one.name == attribute && std::holds_alternative<std::int64_t>(one.value))
      return std::get<std::int64_t>(one.value);
  }
  return -1;
}

// Copies each ConfigMap into a Secret that it owns.
Result copy(Context& context, const ConfigMap& map) {
  Secret secret;
  secret.metadata.name = map.metadata.name;
  secret.metadata.annotations["copy"] = std::to_string(map.data.size());
  context.apply(std::move(secret));
  return {};
}

ConfigMap map(const std::string& name) {
  ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.name = name;
  return map;
}

TEST(Spans, OfAReconcileHaveItsRequestsAsChildren) {
  const auto collected = std::make_shared<Collected>();
  Harness harness({.span_exporter = collected});
  harness.add(controller_for<ConfigMap>(copy).named("copier"));
  harness.create({map("web")});
  harness.settle();
  const auto runs = collected->named("reconcile copier");
  const auto requests = collected->named("patch secrets");
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].parent, runs[0].context.span_id);
  EXPECT_EQ(requests[0].context.trace_id, runs[0].context.trace_id);
  EXPECT_EQ(requests[0].kind, SpanKind::client);
  EXPECT_EQ(text_of(requests[0], "k8s.object.name"), "web");
  EXPECT_EQ(text_of(runs[0], "k8s.namespace.name"), "default");
  EXPECT_EQ(text_of(runs[0], "evenkeel.result"), "success");
}

TEST(Spans, OfAReconcileAreLinkedToTheWriteThatCausedIt) {
  const auto collected = std::make_shared<Collected>();
  Harness harness({.span_exporter = collected});
  harness.add(controller_for<ConfigMap>(copy).named("copier"));
  harness.add(controller_for<Secret>([](Context&, const Secret&) { return Result(); }).named("reader"));
  harness.settle();
  harness.create({map("web")});
  harness.settle();
  const auto requests = collected->named("patch secrets");
  const auto readers = collected->named("reconcile reader");
  ASSERT_THAT(requests, SizeIs(1));
  ASSERT_THAT(readers, SizeIs(1));
  ASSERT_THAT(readers[0].links, SizeIs(1));
  EXPECT_EQ(readers[0].links[0].context, requests[0].context);
  EXPECT_NE(readers[0].context.trace_id, requests[0].context.trace_id) << "a link, not a parent";
}

TEST(Spans, OfFailuresAreErrors) {
  const auto collected = std::make_shared<Collected>();
  Harness harness({.expect_failures = true, .span_exporter = collected});
  harness.add(controller_for<ConfigMap>([](Context& context, const ConfigMap& map) {
                context.client().get<Secret>({map.metadata.namespace_, "absent"});
                return Result();
              }).named("copier"));
  harness.create({map("web")});
  harness.step();
  const auto runs = collected->named("reconcile copier");
  const auto requests = collected->named("get secrets");
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(runs[0].status, SpanStatus::error);
  EXPECT_THAT(runs[0].status_message, HasSubstr("not found"));
  EXPECT_EQ(requests[0].status, SpanStatus::error);
  EXPECT_EQ(text_of(requests[0], "error.type"), "NotFound");
}

TEST(Spans, OfARequestHaveTheOutcomeOfItsLastAttempt) {
  const auto collected = std::make_shared<Collected>();
  Harness harness(
      {.faults = {{.verb = "get", .resource = "secrets", .count = 1, .drop = apiserver::FaultDrop::before},
                  {.verb = "get", .resource = "secrets", .count = 1, .status = 503}},
       .span_exporter = collected});
  harness.add(controller_for<ConfigMap>([](Context& context, const ConfigMap& map) {
                context.client().get<Secret>({map.metadata.namespace_, "web"});
                return Result();
              }).named("reader"));
  Secret secret;
  secret.metadata.name = "web";
  secret.metadata.namespace_ = "default";
  harness.create({map("web"), secret});
  harness.settle();
  const auto requests = collected->named("get secrets");
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(number_of(requests[0], "http.request.resend_count"), 2);
  EXPECT_EQ(number_of(requests[0], "http.response.status_code"), 200);
  EXPECT_EQ(text_of(requests[0], "error.type"), "");
  EXPECT_EQ(requests[0].status, SpanStatus::unset);
}

TEST(Spans, OfARequestWhoseLastAttemptHadNoAnswerHaveNoStatusCode) {
  const auto collected = std::make_shared<Collected>();
  Harness harness(
      {.faults = {{.verb = "get", .resource = "secrets", .count = 1, .status = 503},
                  {.verb = "get", .resource = "secrets", .count = 100, .drop = apiserver::FaultDrop::before}},
       .expect_failures = true,
       .span_exporter = collected});
  harness.add(controller_for<ConfigMap>([](Context& context, const ConfigMap& map) {
                context.client().get<Secret>({map.metadata.namespace_, "web"});
                return Result();
              }).named("reader"));
  harness.create({map("web")});
  harness.step();
  const auto requests = collected->named("get secrets");
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_GT(number_of(requests[0], "http.request.resend_count"), 0);
  EXPECT_EQ(number_of(requests[0], "http.response.status_code"), -1) << "none";
  EXPECT_NE(text_of(requests[0], "error.type"), "");
  EXPECT_EQ(requests[0].status, SpanStatus::error);
}

TEST(Spans, OfAProgramHaveTheRunAsParent) {
  const auto collected = std::make_shared<Collected>();
  Harness harness({.span_exporter = collected});
  harness.add(controller_for<ConfigMap>([](Context& context, const ConfigMap&) {
                context.span().set_attribute("phase", std::string("resize"));
                const Span inner = start_span(context.client().tracer(), "resize volume",
                                              {.parent = context.span().context()});
                return Result();
              }).named("copier"));
  harness.create({map("web")});
  harness.settle();
  const auto runs = collected->named("reconcile copier");
  const auto inner = collected->named("resize volume");
  ASSERT_THAT(inner, SizeIs(1));
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(inner[0].parent, runs[0].context.span_id);
  EXPECT_EQ(text_of(runs[0], "phase"), "resize");
}

TEST(Spans, OfAWatchCoverItsGaps) {
  const auto collected = std::make_shared<Collected>();
  Harness harness({.faults = {{.verb = "watch",
                               .resource = "configmaps",
                               .count = 1,
                               .cut_after_time = std::chrono::seconds{20}}},
                   .span_exporter = collected});
  harness.add(controller_for<ConfigMap>(copy).named("copier"));
  harness.create({map("web")});
  harness.run_for(std::chrono::seconds{10});
  EXPECT_THAT(collected->named("watch gap"), SizeIs(0));
  harness.run_for(std::chrono::minutes{1});
  const auto gaps = collected->named("watch gap");
  ASSERT_THAT(gaps, SizeIs(1));
  EXPECT_EQ(text_of(gaps[0], "k8s.resource"), "configmaps");
}

}  // namespace spans_test
}  // namespace
}  // namespace evenkeel
