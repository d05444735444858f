// SPDX-License-Identifier: Apache-2.0
// The state of a request for a resource while it is being handled.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/access/authenticator.hpp"
#include "apiserver/access/authorizer.hpp"
#include "apiserver/query/negotiation.hpp"
#include "apiserver/query/rest_path.hpp"
#include "apiserver/request/protobuf_document.hpp"
#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A request for a resource, as handlers see it.
struct Call {
  const http::Request& request;
  const Query& query;
  ResourcePath path;
  ResourceTypePtr type;
  WallTime now;
  const Caller& caller;
  const CacheLag& lag;
  Storage& storage;
  const ProtobufDecoder& protobuf;
  Authorizer& authorizer;
  const Authenticator& authenticator;
  const WebhookProgress& webhooks;
  bool sharded_lists = false;  ///< shardSelector has its effect.
  Representation form = {};
  std::vector<std::string> warnings = {};

  Collection& collection() const { return storage.collection(*type); }
  std::string key() const { return collection().key_of(path.namespace_, path.name); }
};

/// Returns the version that the watch cache serves for a read that requires at least `minimum`.
std::uint64_t cached_version(const Call& call, std::uint64_t minimum);
/// Like it, of a read that sees the state at `present`.
std::uint64_t cached_version(const Call& call, std::uint64_t minimum, std::uint64_t present);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
