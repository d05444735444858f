// SPDX-License-Identifier: Apache-2.0
#include "tracing/export_core.hpp"

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>

#include "tracing/otlp_json.hpp"

namespace evenkeel {
namespace {
namespace export_core_test {

using detail::ExportCore;
using detail::ExportOutcome;
using namespace std::chrono_literals;

const TimePoint zero{};

SpanRecord span(const std::string& name) {
  return {.name = name};
}

TEST(ExportCore, SendsAFullBatchAtOnceAndAnotherOneAfterTheDelay) {
  ExportCore core({.max_queue = 10, .max_batch = 2, .schedule_delay = 5s});
  core.on_span(span("a"), zero);
  EXPECT_EQ(core.next_batch(zero), nullptr);
  EXPECT_EQ(core.next_due(), zero + 5s);
  core.on_span(span("b"), zero + 1s);
  core.on_span(span("c"), zero + 2s);
  const auto* const full = core.next_batch(zero + 2s);
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->size(), 2u);
  EXPECT_EQ(core.next_batch(zero + 9s), nullptr) << "one request at a time";
  core.on_outcome({}, zero + 3s);
  EXPECT_EQ(core.next_due(), zero + 7s);
  const auto* const late = core.next_batch(zero + 7s);
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(late->at(0).name, "c");
  core.on_outcome({.rejected = 1}, zero + 8s);
  EXPECT_EQ(core.counts().exported, 2u);
  EXPECT_EQ(core.counts().dropped, 1u);
  EXPECT_TRUE(core.is_empty());
}

TEST(ExportCore, RetriesWithDoubledDelaysUntilItGivesUp) {
  ExportCore core({.max_queue = 4, .max_batch = 1, .first_retry = 1s, .max_retry = 4s, .give_up_after = 20s});
  core.on_span(span("a"), zero);
  TimePoint now = zero;
  std::string delays;
  while (core.next_batch(now) != nullptr) {
    core.on_outcome({.kind = ExportOutcome::Kind::retry}, now);
    if (core.is_empty()) break;
    delays += std::to_string((core.next_due() - now) / 1s) + " ";
    now = core.next_due();
  }
  EXPECT_EQ(delays, "1 2 4 4 4 4 ");
  EXPECT_EQ(core.counts().dropped, 1u);
}

TEST(ExportCore, WaitsAsLongAsTheCollectorAsks) {
  ExportCore core({.max_queue = 4, .max_batch = 1});
  core.on_span(span("a"), zero);
  core.next_batch(zero);
  core.on_outcome({.kind = ExportOutcome::Kind::retry, .retry_after = 17s}, zero);
  EXPECT_EQ(core.next_due(), zero + 17s);
  core.on_flush(zero + 1s);
  EXPECT_NE(core.next_batch(zero + 1s), nullptr) << "a flush does not wait";
}

TEST(ExportCore, DropsWhatDoesNotFitAndWhatIsRefused) {
  ExportCore core({.max_queue = 2, .max_batch = 2});
  for (const char* const name : {"a", "b", "c"}) core.on_span(span(name), zero);
  EXPECT_EQ(core.counts().dropped, 1u);
  core.next_batch(zero);
  core.on_outcome({.kind = ExportOutcome::Kind::refused}, zero);
  EXPECT_EQ(core.counts().dropped, 3u);
  EXPECT_EQ(core.next_due(), TimePoint::max());
}

TEST(ExportCore, RefusesBadOptions) {
  EXPECT_THROW(ExportCore({.max_queue = 1, .max_batch = 2}), std::invalid_argument);
  EXPECT_THROW(ExportCore({.first_retry = 0s}), std::invalid_argument);
}

TEST(OtlpJson, HasTheFormOfTheSpecification) {
  SpanRecord record{.name = "patch demos/status",
                    .kind = SpanKind::client,
                    .context = *SpanContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                    .start = WallTime(1'700'000'000s),
                    .end = WallTime(1'700'000'000s + 250us),
                    .attributes = {{"a", std::int64_t{5}}, {"b", true}, {"c", 0.5}, {"d", std::string("x")}},
                    .status = SpanStatus::error,
                    .status_message = "no"};
  record.links.push_back({.context = record.context});
  EXPECT_EQ(
      detail::otlp_json({{"service.name", "op"}}, {record}),
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"op"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"evenkeel"},"spans":[{"attributes":[)"
      R"({"key":"a","value":{"intValue":"5"}},{"key":"b","value":{"boolValue":true}},)"
      R"({"key":"c","value":{"doubleValue":0.5}},{"key":"d","value":{"stringValue":"x"}}],)"
      R"("endTimeUnixNano":"1700000000000250000","flags":1,"kind":3,)"
      R"("links":[{"spanId":"00f067aa0ba902b7","traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}],)"
      R"("name":"patch demos/status","spanId":"00f067aa0ba902b7","startTimeUnixNano":"1700000000000000000",)"
      R"("status":{"code":2,"message":"no"},"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}]}]}]})");
}

TEST(OtlpJson, NamesNumbersThatJsonLacks) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SpanRecord record = span("a");
  record.attributes = {
      {"a", infinity}, {"b", -infinity}, {"c", std::numeric_limits<double>::quiet_NaN()}, {"d", 1e300}};
  const Json document = Json::parse(detail::otlp_json({}, {record}));
  std::string values;
  for (const Json& one : document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"].as_array())
    values += one["value"].dump();
  EXPECT_EQ(
      values,
      R"({"doubleValue":"Infinity"}{"doubleValue":"-Infinity"}{"doubleValue":"NaN"}{"doubleValue":1e+300})");
}

TEST(OtlpJson, ReadsAnswers) {
  using Kind = ExportOutcome::Kind;
  EXPECT_EQ(detail::read_otlp_answer({.status = 200}).problem, "");
  EXPECT_EQ(detail::read_otlp_answer({.status = 200, .body = "not JSON"}).outcome.kind, Kind::taken);
  const auto partial = detail::read_otlp_answer(
      {.status = 200, .body = R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}})"});
  EXPECT_EQ(partial.outcome.rejected, 3u);
  EXPECT_EQ(partial.problem, "the collector rejected 3 spans: too old");
  const auto busy =
      detail::read_otlp_answer({.status = 503, .headers = {{"Retry-After", "7"}}, .body = "busy"});
  EXPECT_EQ(busy.outcome.kind, Kind::retry);
  EXPECT_EQ(busy.outcome.retry_after, Duration(7s));
  EXPECT_EQ(busy.problem, "the collector answered 503: busy");
  const auto refused =
      detail::read_otlp_answer({.status = 400, .body = R"({"code":3,"message":"not wanted"})"});
  EXPECT_EQ(refused.outcome.kind, Kind::refused);
  EXPECT_EQ(refused.problem, "the collector answered 400: not wanted");
}

}  // namespace export_core_test
}  // namespace
}  // namespace evenkeel
