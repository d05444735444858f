// SPDX-License-Identifier: Apache-2.0
#include "testing/etcd/etcd_message.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <evenkeel/api/bytes.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

[[noreturn]] void refuse(std::string message) {
  throw EtcdRefusal{EtcdCode::invalid_argument, std::move(message)};
}

int http_status(EtcdCode code) {
  switch (code) {
    case EtcdCode::resource_exhausted:
      return 429;
    case EtcdCode::unimplemented:
      return 501;
    case EtcdCode::unauthenticated:
      return 401;
    default:
      return 400;
  }
}

const Json& list(const Json& txn, std::string_view name) {
  static const Json none = Json::array();
  const Json& found = txn[name];
  if (found.is_null()) return none;
  if (!found.is_array()) refuse(std::string(name) + ": expected a list");
  return found;
}

void check_key(const Json& request) {
  if (etcd_bytes(request["key"]).empty()) refuse("etcdserver: key is not provided");
}

void check_compare(const Json& compare) {
  know_members(compare, {"result", "target", "key", "range_end", "version", "create_revision", "mod_revision",
                         "value"});
  check_key(compare);
}

void check_lists(const Json& txn, std::size_t max);

void check_operation(const Json& operation, std::size_t max) {
  know_members(operation, {"request_range", "request_put", "request_delete_range", "request_txn"});
  if (const Json* range = operation.find("request_range")) return check_range(*range);
  if (const Json* put = operation.find("request_put")) return check_put(*put);
  if (const Json* erase = operation.find("request_delete_range")) return check_erase(*erase);
  if (const Json* txn = operation.find("request_txn")) return check_lists(*txn, max);
  refuse("etcdserver: key not found");
}

void check_lists(const Json& txn, std::size_t max) {
  know_members(txn, {"compare", "success", "failure"});
  const Json& compares = list(txn, "compare");
  const Json& success = list(txn, "success");
  const Json& failure = list(txn, "failure");
  const std::size_t longest = std::max({compares.size(), success.size(), failure.size()});
  if (longest > max) refuse("etcdserver: too many operations in txn request");
  for (const Json& compare : compares.as_array()) check_compare(compare);
  for (const Json& operation : success.as_array()) check_operation(operation, max - longest);
  for (const Json& operation : failure.as_array()) check_operation(operation, max - longest);
}

/// The keys that a list of operations writes.
struct Writes {
  std::set<std::string> puts = {};
  std::vector<EtcdKeys> erases = {};

  // Range ends are compared literally, as etcd does here: a deletion up to the last key overlaps with no put.
  void add(const std::string& key, bool may_be_there) {
    const bool erased = std::any_of(erases.begin(), erases.end(), [&key](const EtcdKeys& keys) {
      return keys.end.empty() ? key == keys.begin : key >= keys.begin && key < keys.end;
    });
    if (erased || (!puts.insert(key).second && !may_be_there))
      refuse("etcdserver: duplicate key given in txn request");
  }
  void add_erases(const Writes& other) {
    erases.insert(erases.end(), other.erases.begin(), other.erases.end());
  }
};

Writes writes_of(const Json& operations) {
  Writes writes;
  for (const Json& operation : operations.as_array())
    if (const Json* erase = operation.find("request_delete_range"))
      writes.erases.push_back(etcd_keys(*erase));
  for (const Json& operation : operations.as_array()) {
    const Json* txn = operation.find("request_txn");
    if (txn == nullptr) continue;
    const Writes one = writes_of(list(*txn, "success"));
    const Writes other = writes_of(list(*txn, "failure"));
    for (const std::string& key : one.puts) writes.add(key, false);
    for (const std::string& key : other.puts) writes.add(key, one.puts.contains(key));
    writes.add_erases(one);
    writes.add_erases(other);
  }
  for (const Json& operation : operations.as_array())
    if (const Json* put = operation.find("request_put")) writes.add(etcd_bytes((*put)["key"]), false);
  return writes;
}

}  // namespace

http::Response refusal_answer(const EtcdRefusal& refusal) {
  const Json body = Json::object(
      {{"error", refusal.message}, {"code", static_cast<int>(refusal.code)}, {"message", refusal.message}});
  return {.status = http_status(refusal.code),
          .headers = {{"Content-Type", "application/json"}},
          .body = body.dump()};
}

std::uint64_t etcd_number(const Json& member) {
  if (member.is_null()) return 0;
  if (member.is_integer() && member.as_integer() >= 0) return static_cast<std::uint64_t>(member.as_integer());
  const std::string text = member.string_or("");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    refuse("expected a number, found " + member.dump());
  return value;
}

std::string etcd_bytes(const Json& member) {
  if (member.is_null()) return {};
  if (!member.is_string()) refuse("expected base64, found " + member.dump());
  const std::optional<Bytes> bytes = Bytes::from_base64(member.as_string());
  if (!bytes) refuse("illegal base64 data: " + member.as_string());
  return bytes->value();
}

EtcdKeys etcd_keys(const Json& message) {
  return {etcd_bytes(message["key"]), etcd_bytes(message["range_end"])};
}

std::string etcd_base64(std::string_view bytes) {
  return Bytes(bytes).base64();
}

void know_members(const Json& message, std::initializer_list<std::string_view> known) {
  if (!message.is_object()) refuse("expected an object, found " + std::string(message.kind_name()));
  for (const auto& [name, value] : message.as_object())
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse("the stand-in for etcd does not know the field \"" + name + "\"");
}

void check_range(const Json& request) {
  know_members(request, {"key", "range_end", "limit", "revision", "keys_only", "count_only", "serializable",
                         "min_mod_revision"});
  check_key(request);
}

void check_put(const Json& request) {
  know_members(request, {"key", "value"});
  check_key(request);
}

void check_erase(const Json& request) {
  know_members(request, {"key", "range_end"});
  check_key(request);
}

void check_txn(const Json& request, std::size_t max_operations) {
  check_lists(request, max_operations);
  writes_of(list(request, "success"));
  writes_of(list(request, "failure"));
}

std::size_t encoded_size(const Json& message) {
  constexpr std::size_t tag = 4;
  std::size_t size = tag;
  if (message.is_string()) return tag + message.as_string().size() / 4 * 3;
  if (message.is_array()) {
    for (const Json& item : message.as_array()) size += encoded_size(item);
  } else if (message.is_object()) {
    for (const auto& [name, value] : message.as_object()) size += encoded_size(value);
  }
  return size;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
