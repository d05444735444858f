// SPDX-License-Identifier: Apache-2.0
// What is said to etcd's JSON API, and what its answers mean. Bytes are base64, numbers of 64 bits are
// strings, and fields that are zero or false are left out. Source: etcd api/etcdserverpb/rpc.proto,
// server/etcdserver/api/v3rpc/{key,util}.go of 3.4.23 and 3.6.8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/coordination/store.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

inline constexpr std::string_view etcd_range_path = "/v3/kv/range";
inline constexpr std::string_view etcd_txn_path = "/v3/kv/txn";
inline constexpr std::string_view etcd_watch_path = "/v3/watch";
inline constexpr std::string_view etcd_login_path = "/v3/auth/authenticate";

struct EtcdRange {
  KeyRange range = {};
  Version revision = 0;   ///< 0: the latest.
  std::size_t limit = 0;  ///< 0: all.
};
std::string range_request(const EtcdRange& range);
/// Of one key.
std::string get_request(std::string_view key, Version revision);
std::string watch_request(const KeyRange& range);
std::string login_request(std::string_view user, std::string_view password);

struct EtcdRangeAnswer {
  Version revision = 0;  ///< Of the store when it answered.
  std::vector<Entry> entries = {};
  bool more = false;
};
/// Throws DecodeError.
EtcdRangeAnswer range_answer(std::string_view body);
/// The token. Throws DecodeError.
std::string login_answer(std::string_view body);

struct EtcdTxnOptions {
  std::size_t max_txn_ops = 128;
  std::size_t max_request_bytes = 1536UL * 1024;
};
/// What a commit of the usual sort may hold so that etcd takes it.
Limits txn_limits(const EtcdTxnOptions& options);

/// One compare, and which key or range of the commit it stands for.
struct EtcdCondition {
  KeyRange range = {};  ///< `end` empty and `single`: one key.
  bool single = false;  ///< Of one key: its mod_revision is `version`. Otherwise: those of all are not above.
  Version version = 0;
};
struct EtcdTxn {
  std::vector<EtcdCondition> conditions = {};
  std::vector<std::string> operations = {};  ///< Each as JSON.
  std::size_t bytes = 0;                     ///< About what it is to etcd.
};
/// `normal` is in normal form.
EtcdTxn make_txn(const Commit& normal);
/// As JSON. Operations that are too many for one list are nested; `operations` and `conditions` are within
/// the limits.
std::string txn_request(const EtcdTxn& txn, std::size_t max_txn_ops);
/// Committed or Conflict. Throws DecodeError.
CommitResult txn_answer(const EtcdTxn& txn, std::string_view body);

/// What an answer means for the request that it answers.
enum class EtcdVerdict : std::uint8_t {
  ok,
  expired,    ///< The revision was compacted, or is of another life of the store.
  token,      ///< Authenticate (again), then ask again. Nothing was done.
  no_login,   ///< Authentication is off.
  too_large,  ///< Nothing was done.
  refused,    ///< Nothing was done.
  unknown,    ///< A transaction may have been applied, or may be yet.
};
EtcdVerdict verdict_of(const http::Response& response);
/// "503 etcdserver: no leader": for people.
std::string etcd_error_text(const http::Response& response);

/// Whether a line of a watch says that something may have changed: that it began, or that there are events.
enum class EtcdWatchLine : std::uint8_t { nothing, hint, ended };
EtcdWatchLine watch_line(std::string_view line);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
