// SPDX-License-Identifier: Apache-2.0
// The log of own writes, and the requests that clients record in it.
#include "client/request/write_log.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/client.hpp>

#include "fake_transport.hpp"
#include "widget.hpp"

namespace evenkeel::write_log_tests {
namespace {

using detail::LoggedWrite;
using detail::SentForm;
using detail::WriteLog;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::FakeTransport;
using tests::Widget;

constexpr const char* answer =
    R"({"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"web","namespace":"default",)"
    R"("resourceVersion":"7","uid":"u-1"},"spec":{"replicas":2}})";

RestRequest patch(PatchType type, std::string body, std::string subresource = {}) {
  return {.method = http::Method::patch,
          .subresource = std::move(subresource),
          .content_type = std::string(content_type(type)),
          .body = std::move(body)};
}

LoggedWrite recorded(const RestRequest& request) {
  WriteLog log;
  log.enable();
  log.on_answer(request, answer, 3);
  const auto writes = log.writes_to("u-1", 3);
  return writes.empty() ? LoggedWrite{} : *writes.at(0);
}

TEST(WriteLog, KeepsWhatWasSentAndTheVersionOfTheAnswer) {
  const LoggedWrite status = recorded(patch(PatchType::merge, R"({"status":{"a":1}})", "status"));
  EXPECT_EQ(status.uid, "u-1");
  EXPECT_EQ(status.version, "7");
  EXPECT_EQ(status.base, "");
  EXPECT_EQ(status.writer, 3U);
  EXPECT_EQ(status.form, SentForm::merge);
  EXPECT_EQ(status.body, R"({"status":{"a":1}})");
  EXPECT_EQ(recorded(patch(PatchType::apply, "{}")).form, SentForm::apply);
  EXPECT_EQ(recorded(patch(PatchType::strategic, "{}")).form, SentForm::strategic);
  EXPECT_EQ(recorded(patch(PatchType::json, "[]")).form, SentForm::json);
  EXPECT_EQ(recorded(patch(PatchType::json, "[]")).body, "[]");
  EXPECT_EQ(recorded({.method = http::Method::put, .body = "{}"}).form, SentForm::document);
}

TEST(WriteLog, KeepsTheVersionThatAWriteWasBasedOn) {
  const std::string body = R"({"status":{"l":[1]},"metadata":{"resourceVersion":"5"}})";
  EXPECT_EQ(recorded(patch(PatchType::merge, body)).base, "5");
  EXPECT_EQ(recorded(patch(PatchType::merge, body)).body, body);
  const LoggedWrite update = recorded({.method = http::Method::put, .body = body});
  EXPECT_EQ(update.base, "5");
  EXPECT_EQ(update.body, "") << "the versions say all";
}

TEST(WriteLog, OfABodyThatItDoesNotKnowOnlyTheVersionOfTheAnswerIsKept) {
  RestRequest request = patch(PatchType::merge, "a: 1");
  request.content_type = "application/yaml";
  const LoggedWrite write = recorded(request);
  EXPECT_EQ(write.version, "7");
  EXPECT_EQ(write.form, SentForm::opaque);
  EXPECT_EQ(write.body, "");
  EXPECT_EQ(recorded(patch(PatchType::merge, std::string(WriteLog::max_body + 1, ' '))).form,
            SentForm::opaque)
      << "a body that is too long";
}

TEST(WriteLog, IgnoresWhatWritesNoObject) {
  WriteLog log;
  const RestRequest put{.method = http::Method::put, .body = "{}"};
  log.on_answer(put, answer, 0);
  EXPECT_EQ(log.size(), 0U) << "it is not enabled";
  log.enable();
  for (const http::Method method : {http::Method::get, http::Method::delete_})
    log.on_answer({.method = method, .body = "{}"}, answer, 0);
  log.on_answer({.method = http::Method::post, .name = "web", .subresource = "eviction"}, answer, 0);
  log.on_answer({.method = http::Method::post, .query = {{"dryRun", "All"}}}, answer, 0);
  log.on_answer({.method = http::Method::delete_, .name = "web", .query = {{"dryRun", "All"}}}, answer, 0);
  log.on_answer({.method = http::Method::put, .query = {{"dryRun", "All"}}, .body = "{}"}, answer, 0);
  log.on_answer({.method = http::Method::put, .body = R"({"metadata":{"resourceVersion":"7"}})"}, answer, 0);
  EXPECT_EQ(log.size(), 0U) << "the last one was answered with the version that it was based on";
  for (const char* other : {"", "{", "[]", "<html>", R"({"kind":"Status"})", R"({"metadata":{"uid":"u"}})",
                            R"({"metadata":{"resourceVersion":"7","uid":8}})", R"({"metadata":[]})"})
    log.on_answer(put, other, 0);
  EXPECT_EQ(log.size(), 0U);
  log.on_answer(put, answer, 0);
  EXPECT_EQ(log.size(), 1U);
}

TEST(WriteLog, ShowsAReaderItsOwnWritesAndThoseOfNoController) {
  WriteLog log;
  const std::uint64_t one = log.new_writer();
  const std::uint64_t other = log.new_writer();
  EXPECT_NE(one, 0U);
  EXPECT_NE(one, other);
  log.add({.uid = "u", .version = "1", .writer = one});
  log.add({.uid = "u", .version = "2", .writer = other});
  log.add({.uid = "u", .version = "3"});
  log.add({.uid = "v", .version = "4", .writer = one});
  std::vector<std::string> versions;
  for (const auto& write : log.writes_to("u", one)) versions.push_back(write->version);
  EXPECT_THAT(versions, ElementsAre("1", "3"));
  EXPECT_THAT(log.writes_to("w", one), IsEmpty());
}

TEST(WriteLog, CaresForWhatTheReaderWroteAndDidNotDelete) {
  const std::string deleted_status =
      R"({"kind":"Status","metadata":{},"status":"Success","details":{"name":"web","uid":"u-1"}})";
  for (const std::string& deleted : {std::string(answer), deleted_status}) {
    WriteLog log;
    log.enable();
    const std::uint64_t one = log.new_writer();
    const std::uint64_t other = log.new_writer();
    EXPECT_FALSE(log.cares_for("u-1", one));
    log.on_answer({.method = http::Method::post, .body = "{}"}, answer, one);
    EXPECT_TRUE(log.cares_for("u-1", one));
    EXPECT_FALSE(log.cares_for("u-1", other));
    log.on_answer({.method = http::Method::delete_, .name = "web"}, deleted, other);
    EXPECT_TRUE(log.cares_for("u-1", one)) << "another controller deleted it";
    log.on_answer({.method = http::Method::delete_, .name = "web"}, deleted, one);
    EXPECT_FALSE(log.cares_for("u-1", one)) << deleted;
    EXPECT_THAT(log.writes_to("u-1", one), SizeIs(1)) << "a deletion explains no change";
  }
}

TEST(WriteLog, ADeletionWhoseAnswerDoesNotSayOfWhatIsNotRecorded) {
  WriteLog log;
  log.enable();
  for (const char* other : {"", "{", "[]", R"({"kind":"Status","details":{"name":"web"}})",
                            R"({"kind":"Status","details":7})", R"({"metadata":{"uid":8}})"})
    log.on_answer({.method = http::Method::delete_, .name = "web"}, other, 1);
  EXPECT_EQ(log.size(), 0U);
}

TEST(WriteLog, ForgetsTheOldest) {
  WriteLog log;
  log.add({.uid = "first", .version = "1"});
  for (std::size_t i = 1; i <= WriteLog::max_writes; ++i) log.add({.uid = "u", .version = std::to_string(i)});
  EXPECT_EQ(log.size(), WriteLog::max_writes);
  EXPECT_THAT(log.writes_to("first", 0), IsEmpty());
  const auto last = log.writes_to("u", 0);
  EXPECT_THAT(last, SizeIs(WriteLog::max_writes_of_object));
  EXPECT_EQ(last.back()->version, std::to_string(WriteLog::max_writes));
  for (std::size_t i = 0; i < 20; ++i)
    log.add({.uid = "long", .version = "1", .body = std::string(WriteLog::max_body, ' ')});
  EXPECT_LT(log.size(), 16U) << "their bytes are limited, too";
  EXPECT_THAT(log.writes_to("u", 0), IsEmpty());
}

class ClientWriteLog : public ::testing::Test {
 protected:
  std::vector<std::string> versions(std::uint64_t reader) const {
    std::vector<std::string> found;
    for (const auto& write : client.writes()->writes_to("u-1", reader)) found.push_back(write->version);
    return found;
  }

  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  Client client{Config{.server = "https://h"}, {.transport = transport}};
  const ObjectKey key{"default", "web"};
};

TEST_F(ClientWriteLog, RecordsBlockingAndOtherCallsOfAllCopies) {
  client.writes()->enable();
  const Client tagged = client.with({.writer = 5});
  transport->reply(200, answer);
  tagged.patch<Widget>(key, Patch::merge(Json::object()));
  EXPECT_THAT(versions(5), ElementsAre("7"));
  EXPECT_THAT(versions(6), IsEmpty());
  transport->reply(200, answer);
  bool recorded_first = false;
  client.start(calls::patch<Widget>(key, Patch::merge(Json::object())),
               [&](const Outcome<Snapshot<Widget>>&) { recorded_first = versions(6).size() == 1; });
  EXPECT_TRUE(recorded_first) << "before the caller learns of it";
}

TEST_F(ClientWriteLog, RecordsNoRefusedOrLostWrite) {
  client.writes()->enable();
  transport->reply(409, answer);
  EXPECT_THROW(client.patch<Widget>(key, Patch::merge(Json::object())), ApiError);
  transport->fail(TransportErrorCode::interrupted);
  EXPECT_THROW(client.patch<Widget>(key, Patch::merge(Json::object())), TransportError);
  EXPECT_THAT(versions(0), IsEmpty());
}

TEST_F(ClientWriteLog, AStateMayBeOfAnAnsweredWriteOrOfOneThatIsOnItsWay) {
  WriteLog& log = *client.writes();
  const auto may_be_of = [&](std::uint64_t reader, const char* version, const char* name = "web") {
    return log.may_have_written({.namespace_ = "default", .name = name, .uid = "u-1", .version = version},
                                reader);
  };
  log.enable();
  EXPECT_FALSE(may_be_of(5, "7"));
  bool meanwhile = false;
  transport->on_request = [&](const http::Request&) {
    meanwhile = may_be_of(5, "6") && !may_be_of(6, "6") && !may_be_of(5, "6", "other");
  };
  transport->reply(200, answer);
  client.with({.writer = 5}).patch<Widget>(key, Patch::merge(Json::object()));
  EXPECT_TRUE(meanwhile) << "the writer, the object and the answer to come count";
  EXPECT_TRUE(may_be_of(5, "7")) << "answered";
  EXPECT_FALSE(may_be_of(5, "6")) << "nothing is on its way";
  EXPECT_FALSE(may_be_of(6, "7"));
  transport->fail(TransportErrorCode::interrupted);
  EXPECT_THROW(client.patch<Widget>(key, Patch::merge(Json::object())), TransportError);
  EXPECT_FALSE(may_be_of(6, "6")) << "a lost answer is not waited for";
  meanwhile = false;
  transport->on_request = [&](const http::Request&) { meanwhile = may_be_of(6, "6"); };
  transport->reply(200, answer);
  client.get<Widget>(key);
  EXPECT_FALSE(meanwhile) << "a read is no write";
}

}  // namespace
}  // namespace evenkeel::write_log_tests
