// SPDX-License-Identifier: Apache-2.0
#include "testing/etcd/etcd_core.hpp"

#include <algorithm>

#include "testing/etcd/etcd_message.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::string_view version = R"({"etcdserver":"3.6.0-stand-in","etcdcluster":"3.6.0"})";

http::Response json_answer(std::string body) {
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

http::Response text_answer(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(body)};
}

Json text_of(std::uint64_t number) {
  return std::to_string(number);
}

Json pair_of(const EtcdData::Found& found, bool with_value) {
  Json pair = Json::object();
  pair["key"] = etcd_base64(found.key);
  pair["mod_revision"] = text_of(found.value->modified);
  if (found.value->created == 0) return pair;  // in an event: deleted
  pair["create_revision"] = text_of(found.value->created);
  pair["version"] = text_of(found.value->version);
  if (with_value && !found.value->bytes.empty()) pair["value"] = etcd_base64(found.value->bytes);
  return pair;
}

// Returns the changes within `keys` as a line of a watch; empty if there are none.
std::string event_line(const EtcdKeys& keys, const std::vector<EtcdChange>& changes, const Json& header) {
  Json events = Json::array();
  for (const EtcdChange& change : changes) {
    if (!keys.contains(change.key)) continue;
    Json event = Json::object();
    if (change.value.created == 0) event["type"] = "DELETE";
    event["kv"] = pair_of({change.key, &change.value}, true);
    events.push_back(std::move(event));
  }
  if (events.empty()) return {};
  Json result = Json::object();
  result["header"] = header;
  result["events"] = std::move(events);
  Json line = Json::object();
  line["result"] = std::move(result);
  return line.dump() + "\n";
}

template <class Value>
int order(const Value& a, const Value& b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Compares a key's value with the operand of a compare; an absent key has no value.
int relation(const Json& compare, const EtcdValue& value) {
  const std::string target = compare["target"].string_or("VERSION");
  if (target == "VALUE") return order(value.bytes, etcd_bytes(compare["value"]));
  if (target == "MOD") return order(value.modified, etcd_number(compare["mod_revision"]));
  if (target == "CREATE") return order(value.created, etcd_number(compare["create_revision"]));
  if (target == "VERSION") return order(value.version, etcd_number(compare["version"]));
  throw EtcdRefusal{EtcdCode::invalid_argument, "the stand-in for etcd does not know the target " + target};
}

bool satisfied(const Json& compare, const EtcdValue& value) {
  const int found = relation(compare, value);
  const std::string result = compare["result"].string_or("EQUAL");
  if (result == "EQUAL") return found == 0;
  if (result == "NOT_EQUAL") return found != 0;
  if (result == "LESS") return found < 0;
  if (result == "GREATER") return found > 0;
  throw EtcdRefusal{EtcdCode::invalid_argument, "the stand-in for etcd does not know the result " + result};
}

const Json::Array& items(const Json& list) {
  static const Json::Array none;
  return list.is_array() ? list.as_array() : none;
}

}  // namespace

Json EtcdCore::header() const {
  return Json::object({{"cluster_id", "1"},
                       {"member_id", "1"},
                       {"revision", std::to_string(data_.revision())},
                       {"raft_term", "1"}});
}

// ---- Requests ----

apiserver::Answer EtcdCore::handle(const http::Request& request, WallTime, const apiserver::Caller&,
                                   const apiserver::CacheLag&) {
  try {
    return answer(request);
  } catch (const EtcdRefusal& refusal) {
    return {.response = refusal_answer(refusal)};
  } catch (const DecodeError& error) {
    return {.response = refusal_answer({EtcdCode::invalid_argument, error.what()})};
  }
}

apiserver::Answer EtcdCore::answer(const http::Request& request) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path == "/version") return {.response = json_answer(std::string(version))};
  if (path == "/health") return {.response = json_answer(R"({"health":"true","reason":""})")};
  if (!path.starts_with("/v3/")) return {.response = text_answer(404, "404 page not found\n")};
  if (request.method != http::Method::post) throw EtcdRefusal{EtcdCode::unimplemented, "Method Not Allowed"};
  const Json body = Json::parse(request.body, "request");
  if (path != "/v3/auth/authenticate") authorise(request);
  if (path == "/v3/watch") return watch(body);
  const Json done = reply(path.substr(4), body);
  return {.response = done.is_null() ? text_answer(404, "Not Found\n") : json_answer(done.dump())};
}

// Returns null if the path does not exist.
Json EtcdCore::reply(std::string_view path, const Json& request) {
  if (path == "kv/range") {
    check_range(request);
    check_revision(request);
    const std::uint64_t at = etcd_number(request["revision"]);
    return range(request, at == 0 ? data_.revision() : at);
  }
  if (path == "kv/txn") return txn(request);
  if (path == "kv/compaction") return compaction(request);
  if (path == "auth/authenticate") return login(request);
  if (path != "kv/put" && path != "kv/deleterange") return {};
  const bool puts = path == "kv/put";
  puts ? check_put(request) : check_erase(request);
  check_size(request);
  Json done = puts ? put(request) : erase(request);
  finish();
  done["header"] = header();
  return done;
}

void EtcdCore::authorise(const http::Request& request) const {
  if (options_.users.empty()) return;
  const std::string* token = request.headers.find("Authorization");
  if (token == nullptr) throw EtcdRefusal{EtcdCode::invalid_argument, "etcdserver: user name is empty"};
  if (!tokens_.contains(*token))
    throw EtcdRefusal{EtcdCode::unauthenticated, "etcdserver: invalid auth token"};
}

Json EtcdCore::login(const Json& request) {
  know_members(request, {"name", "password"});
  if (options_.users.empty())
    throw EtcdRefusal{EtcdCode::failed_precondition, "etcdserver: authentication is not enabled"};
  const std::string name = request["name"].string_or("");
  const std::string password = request["password"].string_or("");
  const bool known = std::any_of(options_.users.begin(), options_.users.end(), [&](const EtcdUser& user) {
    return user.name == name && user.password == password;
  });
  if (!known) {
    throw EtcdRefusal{EtcdCode::invalid_argument,
                      "etcdserver: authentication failed, invalid user ID or password"};
  }
  const std::string token = "token." + std::to_string(++tokens_made_);
  tokens_.insert(token);
  return Json::object({{"header", header()}, {"token", token}});
}

void EtcdCore::check_size(const Json& request) const {
  if (encoded_size(request) > options_.max_request_bytes)
    throw EtcdRefusal{EtcdCode::invalid_argument, "etcdserver: request is too large"};
}

// ---- Reads ----

void EtcdCore::check_revision(const Json& range) const {
  const std::uint64_t at = etcd_number(range["revision"]);
  if (at > data_.revision()) {
    throw EtcdRefusal{EtcdCode::out_of_range, "etcdserver: mvcc: required revision is a future revision"};
  }
  if (at != 0 && at < data_.compacted()) {
    throw EtcdRefusal{EtcdCode::out_of_range, "etcdserver: mvcc: required revision has been compacted"};
  }
}

Json EtcdCore::range(const Json& request, std::uint64_t at) const {
  std::vector<EtcdData::Found> found = data_.find(etcd_keys(request), at);
  const std::size_t count = found.size();
  const std::uint64_t least = etcd_number(request["min_mod_revision"]);
  std::erase_if(found, [least](const EtcdData::Found& one) { return one.value->modified < least; });
  const std::uint64_t limit = etcd_number(request["limit"]);
  const bool more = limit != 0 && found.size() > limit;
  if (more) found.resize(limit);
  Json answer = Json::object();
  answer["header"] = header();
  if (count > 0) answer["count"] = text_of(count);
  if (more) answer["more"] = true;
  if (found.empty() || request["count_only"].bool_or(false)) return answer;
  Json pairs = Json::array();
  for (const EtcdData::Found& one : found)
    pairs.push_back(pair_of(one, !request["keys_only"].bool_or(false)));
  answer["kvs"] = std::move(pairs);
  return answer;
}

// ---- Writes ----

Json EtcdCore::put(const Json& request) {
  data_.put(etcd_bytes(request["key"]), etcd_bytes(request["value"]));
  return Json::object();
}

Json EtcdCore::erase(const Json& request) {
  const std::size_t count = data_.erase(etcd_keys(request));
  Json answer = Json::object();
  if (count > 0) answer["deleted"] = text_of(count);
  return answer;
}

void EtcdCore::check_revisions(const Json& txn) const {
  for (const char* branch : {"success", "failure"}) {
    for (const Json& operation : items(txn[branch])) {
      if (const Json* range = operation.find("request_range")) check_revision(*range);
      if (const Json* inner = operation.find("request_txn")) check_revisions(*inner);
    }
  }
}

// An absent key has version and revisions of zero; its value equals nothing, not even an empty one.
bool EtcdCore::holds(const Json& compare) const {
  const std::vector<EtcdData::Found> found = data_.find(etcd_keys(compare), data_.revision());
  if (found.empty()) return compare["target"].string_or("VERSION") != "VALUE" && satisfied(compare, {});
  return std::all_of(found.begin(), found.end(),
                     [&compare](const EtcdData::Found& one) { return satisfied(compare, *one.value); });
}

void EtcdCore::decide(const Json& txn, Running& running) const {
  const Json::Array& compares = items(txn["compare"]);
  const bool success =
      std::all_of(compares.begin(), compares.end(), [this](const Json& compare) { return holds(compare); });
  running.branches.push_back(success);
  for (const Json& operation : items(txn[success ? "success" : "failure"]))
    if (const Json* inner = operation.find("request_txn")) decide(*inner, running);
}

Json EtcdCore::apply(const Json& txn, Running& running) {
  const bool success = running.branches.at(running.next++);
  Json responses = Json::array();
  for (const Json& operation : items(txn[success ? "success" : "failure"]))
    responses.push_back(apply_operation(operation, running));
  Json answer = Json::object();
  if (success) answer["succeeded"] = true;
  if (!responses.empty()) answer["responses"] = std::move(responses);
  return answer;
}

Json EtcdCore::apply_operation(const Json& operation, Running& running) {
  Json answer = Json::object();
  if (const Json* read = operation.find("request_range")) {
    const std::uint64_t at = etcd_number((*read)["revision"]);
    answer["response_range"] = range(*read, at == 0 ? data_.revision() + 1 : at);
  } else if (const Json* write = operation.find("request_put")) {
    answer["response_put"] = put(*write);
  } else if (const Json* removal = operation.find("request_delete_range")) {
    answer["response_delete_range"] = erase(*removal);
  } else {
    answer["response_txn"] = apply(operation["request_txn"], running);
  }
  return answer;
}

Json EtcdCore::txn(const Json& request) {
  check_txn(request, options_.max_txn_ops);
  check_size(request);
  check_revisions(request);
  Running running;
  decide(request, running);
  Json answer = apply(request, running);
  finish();
  answer["header"] = header();
  return answer;
}

void EtcdCore::compact(std::uint64_t revision) {
  check_revision(Json::object({{"revision", text_of(revision)}}));
  if (revision != 0) data_.compact(revision);
}

Json EtcdCore::compaction(const Json& request) {
  know_members(request, {"revision", "physical"});
  const std::uint64_t revision = etcd_number(request["revision"]);
  if (revision <= data_.compacted()) {
    throw EtcdRefusal{EtcdCode::out_of_range, "etcdserver: mvcc: required revision has been compacted"};
  }
  compact(revision);
  return Json::object({{"header", header()}});
}

// ---- Watches ----

apiserver::Answer EtcdCore::watch(const Json& request) {
  know_members(request, {"create_request"});
  const Json& create = request["create_request"];
  know_members(create, {"key", "range_end", "start_revision"});
  const apiserver::WatchId id{++last_watch_};
  Watch& watch = watches_[id];
  watch.keys = etcd_keys(create);
  const std::uint64_t start = etcd_number(create["start_revision"]);
  Json begun = Json::object({{"header", header()}, {"created", true}});
  watch.unread = Json::object({{"result", begun}}).dump() + "\n";
  if (start != 0 && start <= data_.compacted()) {
    begun.erase("created");
    begun["canceled"] = true;
    begun["compact_revision"] = text_of(data_.compacted());
    watch.unread += Json::object({{"result", begun}}).dump() + "\n";
    watch.over = true;
  } else if (start != 0) {
    watch.unread += event_line(watch.keys, data_.changes_since(start), header());
  }
  return {.response = {.status = 200, .headers = {{"Content-Type", "application/json"}}}, .watch = id};
}

apiserver::WatchOutput EtcdCore::read_watch(apiserver::WatchId id) {
  const auto at = watches_.find(id);
  if (at == watches_.end()) return {.ended = true};
  apiserver::WatchOutput output{.bytes = std::exchange(at->second.unread, {}), .ended = at->second.over};
  if (output.ended) watches_.erase(at);
  return output;
}

std::vector<apiserver::WatchId> EtcdCore::ready_watches() {
  const std::set<apiserver::WatchId> ready = std::exchange(ready_, {});
  return {ready.begin(), ready.end()};
}

void EtcdCore::finish() {
  const std::vector<EtcdChange> changes = data_.commit();
  if (changes.empty()) return;
  const Json now = header();
  for (auto& [id, watch] : watches_) {
    const std::string line = event_line(watch.keys, changes, now);
    if (line.empty()) continue;
    watch.unread += line;
    ready_.insert(id);
  }
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
