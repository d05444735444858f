// SPDX-License-Identifier: Apache-2.0
// The ends of writes that the observers of a client get.
#include "client/request/write_observer.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/subresources.hpp>

#include "fake_transport.hpp"
#include "widget.hpp"

namespace evenkeel::write_observer_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::FakeTransport;
using tests::Widget;

constexpr const char* answer =
    R"({"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"web","namespace":"default",)"
    R"("resourceVersion":"7","uid":"u-1"},"spec":{"replicas":2}})";

/// Records "patch Widget default/web: 200".
class Recorder final : public detail::WriteObserver {
 public:
  void on_write(const detail::ObservedWrite& write) noexcept override {
    lines.push_back(describe(write.request) + ": " + std::to_string(write.status));
  }
  std::vector<std::string> lines;
};

class WriteObserver : public ::testing::Test {
 protected:
  WriteObserver() { client_.write_observers()->add(recorder_); }

  void patch(CallOptions options = {}) const {
    client_.with(std::move(options)).patch<Widget>({"default", "web"}, Patch::merge(Json::object()));
  }
  std::vector<std::string> lines() { return std::exchange(recorder_->lines, {}); }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  Client client_{{.server = "http://fake"},
                 {.transport = transport_, .clock = clock_, .retry = {.max_retries = 0}}};
};

TEST_F(WriteObserver, GetsTheWritesOfAllCopiesOfAClient) {
  transport_->reply(200, answer);
  patch();
  transport_->reply(200, answer);
  patch({.field_owner = "other"});
  transport_->reply(200, answer);
  client_.start(calls::patch<Widget>({"default", "web"}, Patch::merge(Json::object())),
                [&](const auto& outcome) {
                  EXPECT_TRUE(outcome.ok());
                  EXPECT_EQ(recorder_->lines.size(), 3U) << "before the completion";
                });
  const std::string line = "patch Widget default/web: 200";
  EXPECT_THAT(lines(), ElementsAre(line, line, line));
}

TEST_F(WriteObserver, GetsNoReadsAndNoDryRuns) {
  transport_->reply(200, answer);
  client_.get<Widget>({"default", "web"});
  transport_->reply(200, answer);
  patch({.dry_run = true});
  transport_->reply(201, R"({"kind":"Status","status":"Success"})");
  client_.with({.dry_run = true}).run(calls::evict({"default", "web"}));
  transport_->reply(200, R"({"kind":"Status","status":"Success"})");
  client_.raw({.method = http::Method::delete_,
               .resource = ResourceId(Widget::resource),
               .namespace_ = "default",
               .name = "web",
               .body = R"({"dryRun":["All"]})"});
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(WriteObserver, GetsRefusalsThatTellSomethingAboutTheObject) {
  for (const int status : {400, 401, 403, 404, 409, 422, 429, 500, 504}) {
    transport_->reply(status, "{}");
    EXPECT_THROW(patch(), ApiError) << status;
  }
  EXPECT_THAT(lines(), ElementsAre("patch Widget default/web: 404", "patch Widget default/web: 409",
                                   "patch Widget default/web: 500", "patch Widget default/web: 504"));
}

TEST_F(WriteObserver, GetsWritesWithoutAnAnswerUnlessTheyWereNotSent) {
  for (const TransportErrorCode code :
       {TransportErrorCode::resolve, TransportErrorCode::connect, TransportErrorCode::tls}) {
    transport_->fail(code);
    EXPECT_THROW(patch(), TransportError);
  }
  EXPECT_THAT(lines(), IsEmpty());
  for (const TransportErrorCode code : {TransportErrorCode::timeout, TransportErrorCode::interrupted}) {
    transport_->fail(code);
    EXPECT_THROW(patch(), TransportError);
  }
  EXPECT_THAT(lines(), ElementsAre("patch Widget default/web: 0", "patch Widget default/web: 0"));
}

TEST_F(WriteObserver, IsAddedOnceAndDroppedWithItsOwner) {
  client_.write_observers()->add(recorder_);
  transport_->reply(200, answer);
  patch();
  EXPECT_THAT(lines(), ElementsAre("patch Widget default/web: 200"));
  const std::weak_ptr<Recorder> gone = recorder_;
  recorder_.reset();
  EXPECT_TRUE(gone.expired());
  transport_->reply(200, answer);
  patch();
}

}  // namespace
}  // namespace evenkeel::write_observer_tests
