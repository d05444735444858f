// SPDX-License-Identifier: Apache-2.0
// Data of other instances and stores: records, ConfigMaps of the Kubernetes store, responses of etcd.
#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/records.hpp>

#include "coordination/etcd_wire.hpp"
#include "coordination/kubernetes_shard.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

using namespace evenkeel::coordination;

/// Checks that decoded data is encoded in a form that decodes to the same.
template <class Decode, class Encode>
void round_trip(Decode decode, Encode encode, std::string_view value) {
  std::string written;
  try {
    written = encode(decode(Entry{.key = "k", .value = std::string(value), .version = 7}));
  } catch (const DecodeError&) {
    return;
  }
  check(encode(decode(Entry{.key = "k", .value = written, .version = 7})) == written,
        "a written record reads as the same");
}

void shard(Reader reader) {
  std::map<std::string, std::string> data;
  while (!reader.done()) {
    const std::string name(reader.until('\n'));
    data[name] = std::string(reader.until('\0'));
  }
  try {
    const coordination::detail::KubernetesShard read =
        coordination::detail::decode_shard(data, "configmaps/ns/a");
    const auto written = coordination::detail::encode_shard(read);
    const coordination::detail::KubernetesShard again =
        coordination::detail::decode_shard(written, "configmaps/ns/a");
    check(again.entries == read.entries && again.version == read.version,
          "a written shard reads as the same");
    Commit commit;
    commit.puts.push_back({"k", "v"});
    const auto next = coordination::detail::applied(read, commit, "mark", read.version);
    Version version = 0;
    check(coordination::detail::fate_of(next, read.version, "mark", version) ==
                  coordination::detail::CommitFate::applied &&
              version == next.version,
          "what was applied is known to be");
  } catch (const Error&) {
    // Invalid input.
  }
}

}  // namespace

void coordination(std::string_view input) {
  round_trip(
      decode_member, [](const auto& record) { return encode(record); }, input);
  round_trip(
      decode_facts, [](const auto& record) { return encode_facts(record); }, input);
  round_trip(
      decode_claim, [](const auto& record) { return encode(record); }, input);
  round_trip(
      decode_targets, [](const auto& record) { return encode(record); }, input);
  round_trip([](const Entry& entry) { return decode_lock(entry.value); },
             [](const auto& record) { return encode(record); }, input);
  round_trip([](const Entry& entry) { return decode_instance(entry.value, "scope"); },
             [](const auto& record) { return encode(record); }, input);
  shard(Reader(input));
}

/// The first byte selects the status, for functions that depend on it.
void etcd(std::string_view input) {
  static constexpr int statuses[] = {200, 400, 401, 404, 412, 500, 503, 504};
  Reader reader(input);
  const int status = statuses[reader.below(std::size(statuses))];
  const std::string body(reader.rest());
  const auto read = [](auto&& answer) {
    try {
      answer();
    } catch (const DecodeError&) {
      // Invalid input.
    }
  };
  read([&] {
    for (const Entry& entry : coordination::detail::range_answer(body).entries)
      check(entry.key.size() <= body.size(), "keys are decoded");
  });
  read([&] { static_cast<void>(coordination::detail::login_answer(body)); });
  read([&] {
    Commit commit;
    commit.reads.push_back({"k", 1});
    commit.puts.push_back({"k", "v"});
    static_cast<void>(coordination::detail::txn_answer(coordination::detail::make_txn(commit), body));
  });
  static_cast<void>(coordination::detail::watch_line(body));
  const http::Response response{.status = status, .headers = {}, .body = body};
  static_cast<void>(coordination::detail::verdict_of(response));
  static_cast<void>(coordination::detail::etcd_error_text(response));
}

}  // namespace evenkeel::fuzz
