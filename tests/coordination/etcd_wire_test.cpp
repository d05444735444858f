// SPDX-License-Identifier: Apache-2.0
// Encoding of requests to etcd, and classification of its responses.
#include "coordination/etcd_wire.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>

namespace evenkeel::coordination::detail {
namespace {

http::Response refusal(int status, int code, const std::string& message) {
  return {.status = status,
          .body = Json::object({{"error", message}, {"code", code}, {"message", message}}).dump()};
}

// The messages are those of etcd 3.4.23 and 3.6.8 (api/v3rpc/rpctypes/error.go).
TEST(EtcdVerdict, OfEtcdsOwnErrors) {
  const std::vector<std::pair<http::Response, EtcdVerdict>> table = {
      {refusal(400, 3, "etcdserver: request is too large"), EtcdVerdict::too_large},
      {refusal(400, 3, "etcdserver: too many operations in txn request"), EtcdVerdict::too_large},
      {refusal(400, 3, "etcdserver: duplicate key given in txn request"), EtcdVerdict::refused},
      {refusal(400, 3, "etcdserver: user name is empty"), EtcdVerdict::token},
      {refusal(400, 3, "etcdserver: revision of auth store is old"), EtcdVerdict::token},
      {refusal(401, 16, "etcdserver: invalid auth token"), EtcdVerdict::token},
      {refusal(400, 9, "etcdserver: authentication is not enabled"), EtcdVerdict::no_login},
      {refusal(403, 7, "etcdserver: permission denied"), EtcdVerdict::refused},
      {refusal(400, 11, "etcdserver: mvcc: required revision has been compacted"), EtcdVerdict::expired},
      {refusal(400, 11, "etcdserver: mvcc: required revision is a future revision"), EtcdVerdict::expired},
      {refusal(429, 8, "etcdserver: mvcc: database space exceeded"), EtcdVerdict::refused},
      {refusal(429, 8, "grpc: received message larger than max"), EtcdVerdict::too_large},
      {refusal(500, 2, "etcdserver: too many requests"), EtcdVerdict::refused},
      {refusal(501, 12, "Method Not Allowed"), EtcdVerdict::refused},
      // A proposal may still be applied.
      {refusal(503, 14, "etcdserver: request timed out"), EtcdVerdict::unknown},
      {refusal(503, 14, "etcdserver: request timed out, possibly due to previous leader failure"),
       EtcdVerdict::unknown},
      {refusal(503, 14, "etcdserver: server stopped"), EtcdVerdict::unknown},
      {refusal(503, 14, "transport is closing"), EtcdVerdict::unknown},
      {refusal(504, 4, "context deadline exceeded"), EtcdVerdict::unknown},
      {refusal(499, 1, "etcdserver: request canceled"), EtcdVerdict::unknown},
      {refusal(500, 13, "internal"), EtcdVerdict::unknown}};
  for (const auto& [response, verdict] : table) EXPECT_EQ(verdict_of(response), verdict) << response.body;
}

TEST(EtcdVerdict, OfWhatStandsBeforeEtcd) {
  const auto verdict = [](int status) { return verdict_of({.status = status, .body = "<html>"}); };
  EXPECT_EQ(verdict(404), EtcdVerdict::refused);
  EXPECT_EQ(verdict(403), EtcdVerdict::refused);
  EXPECT_EQ(verdict(413), EtcdVerdict::too_large);
  EXPECT_EQ(verdict(408), EtcdVerdict::unknown);
  EXPECT_EQ(verdict(502), EtcdVerdict::unknown);
  EXPECT_EQ(verdict(504), EtcdVerdict::unknown);
  EXPECT_EQ(etcd_error_text({.status = 404, .body = "404 page not found"}),
            "404 without a reason: is this the client port of etcd?");
  const http::Headers text = {{"Content-Type", "text/plain; charset=utf-8"}};
  EXPECT_EQ(etcd_error_text({.status = 400, .headers = text, .body = "CommonName of client ...\n"}),
            "400 CommonName of client ...");
  EXPECT_EQ(etcd_error_text({.status = 404, .headers = text, .body = "404 page not found\n"}),
            "404 without a reason: is this the client port of etcd?");
}

TEST(EtcdTransaction, SaysWhatItRestsUpon) {
  const EtcdTxn txn = make_txn(normalise({.read_version = 7,
                                          .reads = {{"a", 5}, {"b", 0}},
                                          .read_ranges = {{"r/", "r0"}},
                                          .puts = {{"p", "v"}}}));
  const Json request = Json::parse(txn_request(txn, 128));
  EXPECT_EQ(request["compare"].dump(),
            R"([{"key":"YQ==","mod_revision":"5","result":"EQUAL","target":"MOD"},)"
            R"({"key":"Yg==","mod_revision":"0","result":"EQUAL","target":"MOD"},)"
            R"({"key":"ci8=","mod_revision":"8","range_end":"cjA=","result":"LESS","target":"MOD"}])");
  EXPECT_EQ(request["success"].dump(), R"([{"request_put":{"key":"cA==","value":"dg=="}}])");
  EXPECT_EQ(request["failure"].size(), 3u);
}

TEST(EtcdTransaction, NamesTheConditionThatFailed) {
  const EtcdTxn txn =
      make_txn(normalise({.read_version = 7, .reads = {{"a", 5}, {"b", 0}}, .read_ranges = {{"r/", "r0"}}}));
  const auto conflict = [&txn](const std::string& responses) {
    const CommitResult result =
        txn_answer(txn, R"({"header":{"revision":"9"},"responses":[)" + responses + "]}");
    return describe(result);
  };
  const std::string a = R"({"response_range":{"kvs":[{"key":"YQ==","mod_revision":"5"}]}})";
  const std::string none = R"({"response_range":{}})";
  const std::string some = R"({"response_range":{"kvs":[{"key":"cg==","mod_revision":"8"}]}})";
  EXPECT_EQ(conflict(none + "," + none + "," + none), "conflict at a");
  EXPECT_EQ(conflict(a + "," + some + "," + none), "conflict at b");
  EXPECT_EQ(conflict(a + "," + none + "," + some), "conflict at r/");
  EXPECT_EQ(describe(txn_answer(txn, R"({"header":{"revision":"9"},"succeeded":true})")), "committed at 9");
  EXPECT_THROW(txn_answer(txn, R"({"header":{"revision":"9"},"succeeded":"yes"})"), DecodeError);
  EXPECT_THROW(txn_answer(txn, "{}"), DecodeError) << "without a header it is no answer of etcd's";
}

// The limit of a nested list is what the list around it leaves.
std::size_t longest_path(const Json& txn) {
  std::size_t inner = 0;
  for (const Json& operation : txn["success"].as_array())
    if (const Json* nested = operation.find("request_txn")) inner = std::max(inner, longest_path(*nested));
  return inner + std::max({txn["compare"].size(), txn["success"].size(), txn["failure"].size()});
}

std::size_t operations_in(const Json& txn) {
  std::size_t count = 0;
  for (const Json& operation : txn["success"].as_array()) {
    const Json* nested = operation.find("request_txn");
    count += nested == nullptr ? 1 : operations_in(*nested);
  }
  return count;
}

TEST(EtcdTransaction, NestsWhatIsTooMuchForOneList) {
  for (const std::size_t max : {16U, 128U, 1000U}) {
    const Limits limits = txn_limits({.max_txn_ops = max, .max_request_bytes = 1U << 20U});
    ASSERT_GT(limits.operations, max);
    for (const std::size_t operations : {max, max + 1, limits.operations}) {
      for (const std::size_t conditions : {std::size_t{0}, max / 2, limits.conditions}) {
        EtcdTxn txn;
        txn.operations.assign(operations, R"({"request_put":{"key":"YQ=="}})");
        txn.conditions.assign(conditions, {.range = {"a", {}}, .single = true});
        const Json request = Json::parse(txn_request(txn, max));
        EXPECT_LE(longest_path(request), max) << operations << " " << conditions;
        EXPECT_EQ(operations_in(request), operations);
      }
    }
  }
}

TEST(EtcdRangeRequest, HasNoEmptyKey) {
  EXPECT_EQ(range_request({.range = {"", ""}}), R"({"key":"AA==","range_end":"AA=="})");
  EXPECT_EQ(range_request({.range = {"a", ""}, .revision = 3, .limit = 2}),
            R"({"key":"YQ==","range_end":"AA==","revision":"3","limit":"2"})");
}

TEST(EtcdRangeAnswer, MissingFieldsAreZero) {
  const EtcdRangeAnswer answer =
      range_answer(R"({"header":{"revision":"4"},"kvs":[{"key":"YQ==","mod_revision":"3"}],"count":"1"})");
  EXPECT_EQ(answer.revision, 4u);
  EXPECT_FALSE(answer.more);
  EXPECT_EQ(answer.entries, (std::vector<Entry>{{"a", "", 3}}));
  EXPECT_THROW(range_answer("[]"), DecodeError);
  EXPECT_THROW(range_answer(R"({"header":{"revision":"x"}})"), DecodeError);
  EXPECT_THROW(range_answer(R"({"header":{"revision":"4"},"kvs":[{"key":"?"}]})"), DecodeError);
  EXPECT_THROW(range_answer(R"({"header":{"revision":"4"},"kvs":[{"key":"YQ=="}]})"), DecodeError);
}

// Accepting a malformed response as empty or complete would lead to decisions without the entries of others.
TEST(EtcdRangeAnswer, StopsNeverSilently) {
  EXPECT_THROW(range_answer(R"({"header":{"revision":"4"},"more":true})"), DecodeError);
  EXPECT_THROW(range_answer(R"({"header":{"revision":"4"},"more":"true"})"), DecodeError);
  EXPECT_THROW(range_answer(R"({"header":{"revision":"4"},"kvs":"none"})"), DecodeError);
}

TEST(EtcdWatchLine, TellsChangesFromTheRest) {
  EXPECT_EQ(watch_line(R"({"result":{"header":{},"created":true}})"), EtcdWatchLine::hint);
  EXPECT_EQ(watch_line(R"({"result":{"header":{},"events":[{"kv":{}}]}})"), EtcdWatchLine::hint);
  EXPECT_EQ(watch_line(R"({"result":{"header":{}}})"), EtcdWatchLine::nothing) << "progress";
  EXPECT_EQ(watch_line(R"({"result":{"canceled":true,"compact_revision":"3"}})"), EtcdWatchLine::ended);
  EXPECT_EQ(watch_line(R"({"error":{"code":14}})"), EtcdWatchLine::ended);
  EXPECT_EQ(watch_line("<html>"), EtcdWatchLine::ended);
}

}  // namespace
}  // namespace evenkeel::coordination::detail
