// SPDX-License-Identifier: Apache-2.0
#include "coordination/etcd_wire.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

// Estimate of the overhead of a key or operation in etcd's encoding: tags, lengths, numbers, nesting.
constexpr std::size_t operation_overhead = 40;

// gRPC status codes, which the JSON API returns.
enum class Code : std::int64_t {
  cancelled = 1,
  invalid_argument = 3,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  unauthenticated = 16,
};

std::string base64(std::string_view bytes) {
  return Bytes(bytes).base64();
}

std::string from_base64(const Json& field) {
  if (field.is_null()) return {};
  const std::optional<Bytes> bytes = Bytes::from_base64(field.as_string());
  if (!bytes) throw DecodeError("etcd", "expected base64");
  return bytes->value();
}

Version number(const Json& field) {
  if (field.is_null()) return 0;
  if (field.is_integer()) return static_cast<Version>(field.as_integer());
  const std::string& text = field.as_string();
  Version value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw DecodeError("etcd", "expected a number");
  return value;
}

// The JSON API omits false.
bool flag(const Json& field) {
  return !field.is_null() && field.as_bool();
}

void add_bytes(std::string& out, std::string_view name, std::string_view bytes) {
  out.append("\"").append(name).append("\":\"").append(base64(bytes)).append("\",");
}

void add_number(std::string& out, std::string_view name, std::uint64_t value) {
  out.append("\"").append(name).append("\":\"").append(std::to_string(value)).append("\",");
}

// Replaces the comma after the last member.
void close(std::string& out, std::string_view end = "}") {
  if (out.back() == ',') out.pop_back();
  out += end;
}

// etcd has no empty key: the first possible key is a zero byte. A zero byte as the end means: to the last
// key.
void add_range(std::string& out, const KeyRange& range) {
  constexpr std::string_view zero("\0", 1);
  add_bytes(out, "key", range.begin.empty() ? zero : std::string_view(range.begin));
  add_bytes(out, "range_end", range.end.empty() ? zero : std::string_view(range.end));
}

std::size_t bytes_of(const KeyRange& range) {
  return range.begin.size() + range.end.size();
}

Entry entry_of(const Json& json) {
  Entry entry{.key = from_base64(json["key"]),
              .value = from_base64(json["value"]),
              .version = number(json["mod_revision"])};
  if (entry.version == 0) throw DecodeError("etcd", "the key \"" + entry.key + "\" has no mod_revision");
  return entry;
}

// --- Transactions ---

std::string put_operation(const Commit::Put& put) {
  std::string out = R"({"request_put":{)";
  add_bytes(out, "key", put.key);
  add_bytes(out, "value", put.value);
  close(out, "}}");
  return out;
}

std::string erase_operation(std::string_view key) {
  std::string out = R"({"request_delete_range":{)";
  add_bytes(out, "key", key);
  close(out, "}}");
  return out;
}

std::string range_erase_operation(const KeyRange& range) {
  std::string out = R"({"request_delete_range":{)";
  add_range(out, range);
  close(out, "}}");
  return out;
}

std::string compare(const EtcdCondition& condition) {
  std::string out = R"({"target":"MOD",)";
  if (condition.single) {
    out += R"("result":"EQUAL",)";
    add_bytes(out, "key", condition.range.begin);
    add_number(out, "mod_revision", condition.version);
  } else {
    out += R"("result":"LESS",)";
    add_range(out, condition.range);
    add_number(out, "mod_revision", condition.version + 1);
  }
  close(out);
  return out;
}

// The reads of a failed transaction, from which the failed condition is determined.
std::string inquiry(const EtcdCondition& condition) {
  std::string out = R"({"request_range":{"keys_only":true,)";
  if (condition.single) {
    add_bytes(out, "key", condition.range.begin);
  } else {
    out += R"("limit":"1",)";
    add_range(out, condition.range);
    add_number(out, "min_mod_revision", condition.version + 1);
  }
  close(out, "}}");
  return out;
}

bool failed(const EtcdCondition& condition, const Json& answer) {
  const Json& entries = answer.at({"response_range", "kvs"});
  if (!condition.single) return entries.size() > 0;
  return number(entries[0]["mod_revision"]) != condition.version;
}

void add_list(std::string& out, std::string_view name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out.append("\"").append(name).append("\":[");
  for (const std::string& item : items) out.append(item).append(",");
  close(out, "],");
}

// Nests lists that are too long. A server allows a nested transaction as many operations as its own list
// leaves of the maximum.
std::vector<std::string> nested(const std::vector<std::string>& operations, std::size_t conditions,
                                std::size_t max) {
  if (operations.size() <= max) return operations;
  std::size_t groups = 1;
  while (groups < max && groups * (max - std::max(conditions, groups)) < operations.size()) ++groups;
  const std::size_t size = (operations.size() + groups - 1) / groups;
  std::vector<std::string> out;
  for (std::size_t at = 0; at < operations.size(); at += size) {
    const auto begin = operations.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t count = std::min(size, operations.size() - at);
    std::string one = R"({"request_txn":{)";
    add_list(one, "success", {begin, begin + static_cast<std::ptrdiff_t>(count)});
    close(one, "}}");
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<EtcdCondition> conditions_of(const Commit& commit) {
  std::vector<EtcdCondition> out;
  for (const Commit::ReadKey& read : commit.reads)
    out.push_back({.range = {read.key, {}}, .single = true, .version = read.version});
  for (const KeyRange& range : commit.read_ranges)
    out.push_back({.range = range, .version = commit.read_version});
  return out;
}

Json parsed(std::string_view body) {
  return Json::parse(body, "etcd");
}

// Responses of others (a proxy's error) have no code.
Json error_of(const http::Response& response) {
  try {
    return Json::parse(response.body);
  } catch (const DecodeError&) {
    return {};
  }
}

std::string message_of(const Json& error) {
  const std::string message = error["message"].string_or("");
  return message.empty() ? error["error"].string_or("") : message;
}

bool contains(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

EtcdVerdict verdict_of_code(Code code, const std::string& message) {
  switch (code) {
    case Code::invalid_argument:
      if (contains(message, "request is too large") || contains(message, "too many operations"))
        return EtcdVerdict::too_large;
      if (contains(message, "user name is empty") || contains(message, "revision of auth store is old"))
        return EtcdVerdict::token;
      return EtcdVerdict::refused;
    case Code::out_of_range:
      return EtcdVerdict::expired;
    case Code::unauthenticated:
      return EtcdVerdict::token;
    case Code::failed_precondition:
      return contains(message, "authentication is not enabled") ? EtcdVerdict::no_login
                                                                : EtcdVerdict::refused;
    case Code::resource_exhausted:
      return contains(message, "larger than max") ? EtcdVerdict::too_large : EtcdVerdict::refused;
    case Code::not_found:
    case Code::already_exists:
    case Code::permission_denied:
    case Code::unimplemented:
      return EtcdVerdict::refused;
    default:
      // Unavailable, deadline exceeded, internal...: includes proposals that were not answered in time.
      return contains(message, "too many requests") ? EtcdVerdict::refused : EtcdVerdict::unknown;
  }
}

/// Classifies a plain-text response: etcd itself refuses before its JSON API handles a request. A 404 may
/// come from any server.
std::string plain_reason(const http::Response& response) {
  constexpr std::size_t most = 200;
  const std::string* type = response.headers.find("Content-Type");
  if (response.status == 404 || type == nullptr || !type->starts_with("text/plain")) return {};
  return response.body.substr(0, std::min(response.body.find('\n'), most));
}

}  // namespace

std::string range_request(const EtcdRange& range) {
  std::string out = "{";
  add_range(out, range.range);
  if (range.revision != 0) add_number(out, "revision", range.revision);
  if (range.limit != 0) add_number(out, "limit", range.limit);
  close(out);
  return out;
}

std::string get_request(std::string_view key, Version revision) {
  std::string out = "{";
  add_bytes(out, "key", key);
  if (revision != 0) add_number(out, "revision", revision);
  close(out);
  return out;
}

std::string watch_request(const KeyRange& range) {
  std::string out = R"({"create_request":{)";
  add_range(out, range);
  close(out, "}}");
  return out;
}

std::string login_request(std::string_view user, std::string_view password) {
  return Json::object({{"name", user}, {"password", password}}).dump();
}

EtcdRangeAnswer range_answer(std::string_view body) {
  const Json json = parsed(body);
  EtcdRangeAnswer answer{.revision = number(json.at({"header", "revision"})), .more = flag(json["more"])};
  if (answer.revision == 0) throw DecodeError("etcd", "a response without a revision");
  if (const Json* entries = json.find("kvs")) {
    answer.entries.reserve(entries->size());
    for (const Json& entry : entries->as_array()) answer.entries.push_back(entry_of(entry));
  }
  if (answer.more && answer.entries.empty())
    throw DecodeError("etcd", "there are more entries, but none was sent");
  return answer;
}

std::string login_answer(std::string_view body) {
  return parsed(body)["token"].as_string();
}

Limits txn_limits(const EtcdTxnOptions& options) {
  const std::size_t conditions = options.max_txn_ops / 4 * 3;
  return {.operations = conditions * (options.max_txn_ops - conditions),
          .conditions = conditions,
          .commit_bytes = options.max_request_bytes / 8 * 7};
}

EtcdTxn make_txn(const Commit& normal) {
  EtcdTxn txn{.conditions = conditions_of(normal)};
  const auto add = [&txn](std::string operation, std::size_t bytes) {
    txn.operations.push_back(std::move(operation));
    txn.bytes += bytes + operation_overhead;
  };
  // Counts twice: as a compare, and as a read in case the transaction fails.
  for (const EtcdCondition& condition : txn.conditions)
    txn.bytes += 2 * (bytes_of(condition.range) + operation_overhead);
  for (const Commit::Put& put : normal.puts) add(put_operation(put), put.key.size() + put.value.size());
  for (const std::string& key : normal.erases) add(erase_operation(key), key.size());
  for (const KeyRange& range : normal.range_erases) add(range_erase_operation(range), bytes_of(range));
  return txn;
}

std::string txn_request(const EtcdTxn& txn, std::size_t max_txn_ops) {
  std::vector<std::string> compares;
  std::vector<std::string> inquiries;
  for (const EtcdCondition& condition : txn.conditions) {
    compares.push_back(compare(condition));
    inquiries.push_back(inquiry(condition));
  }
  std::string out = "{";
  add_list(out, "compare", compares);
  add_list(out, "success", nested(txn.operations, txn.conditions.size(), max_txn_ops));
  add_list(out, "failure", inquiries);
  close(out);
  return out;
}

CommitResult txn_answer(const EtcdTxn& txn, std::string_view body) {
  const Json json = parsed(body);
  const Version revision = number(json.at({"header", "revision"}));
  if (revision == 0) throw DecodeError("etcd", "a response without a revision");
  if (flag(json["succeeded"])) return Committed{revision};
  const Json& answers = json["responses"];
  for (std::size_t i = 0; i < txn.conditions.size(); ++i)
    if (failed(txn.conditions[i], answers[i])) return Conflict{txn.conditions[i].range.begin};
  return Conflict{txn.conditions.empty() ? std::string() : txn.conditions.front().range.begin};
}

EtcdVerdict verdict_of(const http::Response& response) {
  if (response.status == 200) return EtcdVerdict::ok;
  const Json error = error_of(response);
  const std::int64_t code = error["code"].integer_or(0);
  if (code >= 1 && code <= 16) return verdict_of_code(static_cast<Code>(code), message_of(error));
  if (response.status == 413) return EtcdVerdict::too_large;
  return response.status >= 400 && response.status < 500 && response.status != 408 ? EtcdVerdict::refused
                                                                                   : EtcdVerdict::unknown;
}

std::string etcd_error_text(const http::Response& response) {
  std::string message = message_of(error_of(response));
  if (message.empty()) message = plain_reason(response);
  return std::to_string(response.status) + " " +
         (message.empty() ? "without a reason: is this the client port of etcd?" : message);
}

EtcdWatchLine watch_line(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    const Json& result = json["result"];
    if (result.is_null() || result["canceled"].bool_or(false)) return EtcdWatchLine::ended;
    const bool changed = result["created"].bool_or(false) || result["events"].size() > 0;
    return changed ? EtcdWatchLine::hint : EtcdWatchLine::nothing;
  } catch (const DecodeError&) {
    return EtcdWatchLine::ended;
  }
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
