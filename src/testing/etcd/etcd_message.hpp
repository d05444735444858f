// SPDX-License-Identifier: Apache-2.0
// Parsing and validation of the messages of etcd's JSON API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>

#include "testing/etcd/etcd_data.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// The gRPC codes that etcd uses here.
enum class EtcdCode : std::uint8_t {
  invalid_argument = 3,
  resource_exhausted = 8,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  unauthenticated = 16,
};

/// An error response of etcd; thrown inside the stand-in only.
struct EtcdRefusal {
  EtcdCode code = EtcdCode::invalid_argument;
  std::string message = {};
};
http::Response refusal_answer(const EtcdRefusal& refusal);

/// Read members of a message; absent ones are zero or empty. Throw EtcdRefusal for a wrong type.
std::uint64_t etcd_number(const Json& member);
std::string etcd_bytes(const Json& member);
EtcdKeys etcd_keys(const Json& message);
std::string etcd_base64(std::string_view bytes);

/// Throws EtcdRefusal for a member that is not listed: unsupported features are rejected, not ignored.
void know_members(const Json& message, std::initializer_list<std::string_view> known);

/// Throw EtcdRefusal like etcd, by the same rules in the same order.
/// Source: etcd's server/etcdserver/api/v3rpc/key.go, checkRangeRequest to checkRequestOp.
void check_range(const Json& request);
void check_put(const Json& request);
void check_erase(const Json& request);
void check_txn(const Json& request, std::size_t max_operations);

/// Returns the approximate size of the message in etcd's own encoding.
std::size_t encoded_size(const Json& message);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
