// SPDX-License-Identifier: Apache-2.0
// A request for a resource while it is being answered.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/rest/negotiation.hpp"
#include "apiserver/rest/protobuf_document.hpp"
#include "apiserver/rest/rest_path.hpp"
#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A request for a resource, as the handlers see it.
struct Call {
  const http::Request& request;
  const Query& query;
  ResourcePath path;
  ResourceTypePtr type;
  WallTime now;
  const Caller& caller;
  const CacheLag& lag;
  Storage& storage;
  ProtobufDecoder& protobuf;
  Representation form = {};
  std::vector<std::string> warnings = {};

  std::string key() const { return type->collection->key_of(path.namespace_, path.name); }
};

/// The version that the watch cache shows to a read that wants one not older than `minimum`.
std::uint64_t cached_version(const Call& call, std::uint64_t minimum);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
