// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/trace.hpp>

namespace evenkeel {
namespace {
namespace trace_test {

class Collected final : public SpanExporter {
 public:
  void on_end(SpanRecord span) noexcept override { spans.push_back(std::move(span)); }
  std::vector<SpanRecord> spans;
};

struct World {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<Collected> collected = std::make_shared<Collected>();
};

TEST(Tracer, RecordsNameTimesAttributesAndStatus) {
  World world;
  Tracer tracer(world.collected, {.clock = world.clock, .seed = 7});
  const WallTime start = world.clock->wall_now();
  {
    Span span = tracer.start("reconcile website", {.kind = SpanKind::server});
    EXPECT_TRUE(span.is_recording());
    span.set_attribute("attempt", std::int64_t{1});
    span.set_attribute("attempt", std::int64_t{2});
    span.set_status(SpanStatus::error, "no room");
    world.clock->advance(std::chrono::milliseconds{1500});
  }
  ASSERT_EQ(world.collected->spans.size(), 1u);
  const SpanRecord& record = world.collected->spans[0];
  EXPECT_EQ(record.name, "reconcile website");
  EXPECT_EQ(record.kind, SpanKind::server);
  EXPECT_EQ(record.start, start);
  EXPECT_EQ(record.end - record.start, std::chrono::milliseconds{1500});
  ASSERT_EQ(record.attributes.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(record.attributes[0].value), 2);
  EXPECT_EQ(record.status_message, "no room");
  EXPECT_EQ(record.parent, SpanId{});
}

TEST(Tracer, GivesAChildItsParentsTraceAndDecision) {
  World world;
  Tracer tracer(world.collected, {.clock = world.clock, .seed = 7});
  Span parent = tracer.start("parent");
  Span child = tracer.start("child", {.parent = parent.context()});
  EXPECT_EQ(child.context().trace_id, parent.context().trace_id);
  EXPECT_NE(child.context().span_id, parent.context().span_id);
  child.end();
  ASSERT_EQ(world.collected->spans.size(), 1u);
  EXPECT_EQ(world.collected->spans[0].parent, parent.context().span_id);

  SpanContext stranger = parent.context();
  stranger.sampled = false;
  Span ignored = tracer.start("child", {.parent = stranger});
  EXPECT_FALSE(ignored.is_recording());
  EXPECT_TRUE(ignored.context().is_valid());
}

TEST(Tracer, RecordsTheShareOfTracesThatItIsToldTo) {
  World world;
  Tracer tracer(world.collected, {.ratio = 0.25, .clock = world.clock, .seed = 7});
  for (int i = 0; i < 4000; ++i) tracer.start("x").end();
  EXPECT_GT(world.collected->spans.size(), 900u);
  EXPECT_LT(world.collected->spans.size(), 1100u);
  Tracer none(world.collected, {.ratio = 0, .clock = world.clock, .seed = 7});
  EXPECT_FALSE(none.start("x").is_recording());
}

TEST(Tracer, RefusesBadOptions) {
  EXPECT_THROW(Tracer(nullptr), std::invalid_argument);
  EXPECT_THROW(Tracer(std::make_shared<Collected>(), {.ratio = 1.5}), std::invalid_argument);
}

TEST(Span, EndsOnceAndWhenItIsReplaced) {
  World world;
  Tracer tracer(world.collected, {.clock = world.clock, .seed = 7});
  Span span = tracer.start("first");
  span = tracer.start("second");
  EXPECT_EQ(world.collected->spans.size(), 1u);
  span.end();
  span.end();
  EXPECT_EQ(world.collected->spans.size(), 2u);
  Span none;
  none.set_attribute("a", true);
  none.set_status(SpanStatus::ok);
  EXPECT_FALSE(none.context().is_valid());
}

TEST(SpanContext, IsWrittenAndReadAsTraceparent) {
  const std::string text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const auto context = SpanContext::parse(text);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(to_hex(context->span_id), "00f067aa0ba902b7");
  EXPECT_EQ(context->traceparent(), text);
  EXPECT_EQ(SpanContext().traceparent(), "");
}

TEST(SpanContext, RefusesWhatIsNoTraceparent) {
  const char* const wrong[] = {
      "",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
      "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  };
  for (const char* const text : wrong) EXPECT_FALSE(SpanContext::parse(text)) << text;
  EXPECT_TRUE(SpanContext::parse("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"));
}

}  // namespace trace_test
}  // namespace
}  // namespace evenkeel
