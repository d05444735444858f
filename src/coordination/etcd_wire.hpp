// SPDX-License-Identifier: Apache-2.0
// Encodes requests to etcd's JSON API and decodes the responses. Bytes are base64, numbers of 64 bits are
// strings, and fields that are zero or false are omitted. Source: etcd api/etcdserverpb/rpc.proto,
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
/// Returns the range of a single key.
std::string get_request(std::string_view key, Version revision);
std::string watch_request(const KeyRange& range);
std::string login_request(std::string_view user, std::string_view password);

struct EtcdRangeAnswer {
  Version revision = 0;  ///< The revision of the store at the time of the response.
  std::vector<Entry> entries = {};
  bool more = false;
};
/// Throws DecodeError.
EtcdRangeAnswer range_answer(std::string_view body);
/// Decodes the token. Throws DecodeError.
std::string login_answer(std::string_view body);

struct EtcdTxnOptions {
  std::size_t max_txn_ops = 128;
  std::size_t max_request_bytes = 1536UL * 1024;
};
/// Limits within which etcd accepts an ordinary commit.
Limits txn_limits(const EtcdTxnOptions& options);

/// A compare, and the key or range of the commit that it implements.
struct EtcdCondition {
  KeyRange range = {};  ///< For one key: `single` is set and `end` is empty.
  bool single = false;  ///< One key: its mod_revision is `version`. Otherwise: no mod_revision in the range
                        ///< is above it.
  Version version = 0;
};
struct EtcdTxn {
  std::vector<EtcdCondition> conditions = {};
  std::vector<std::string> operations = {};  ///< JSON of each operation.
  std::size_t bytes = 0;                     ///< Approximate size in etcd's encoding.
};
/// Plans a transaction. `normal` must be in normal form.
EtcdTxn make_txn(const Commit& normal);
/// Encodes a transaction as JSON, nesting operations that are too many for one list. The numbers of
/// operations and conditions must be within the limits.
std::string txn_request(const EtcdTxn& txn, std::size_t max_txn_ops);
/// Decodes the response to Committed or Conflict. Throws DecodeError.
CommitResult txn_answer(const EtcdTxn& txn, std::string_view body);

/// The meaning of a response for its request.
enum class EtcdVerdict : std::uint8_t {
  ok,
  expired,    ///< The revision was compacted, or belongs to an earlier life of the store.
  token,      ///< Authenticate (again), then retry. Nothing was done.
  no_login,   ///< Authentication is off.
  too_large,  ///< Nothing was done.
  refused,    ///< Nothing was done.
  unknown,    ///< A transaction may have been applied, or may still be.
};
EtcdVerdict verdict_of(const http::Response& response);
/// Describes a response for people: "503 etcdserver: no leader".
std::string etcd_error_text(const http::Response& response);

/// Returns true if a line of a watch means that a key may have changed: the watch was created, or there are
/// events.
enum class EtcdWatchLine : std::uint8_t { nothing, hint, ended };
EtcdWatchLine watch_line(std::string_view line);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
