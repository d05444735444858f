// SPDX-License-Identifier: Apache-2.0
// The parts of a server. The router passes each handler those that it needs.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/access/authenticator.hpp"
#include "apiserver/access/authorizer.hpp"
#include "apiserver/request/protobuf_document.hpp"
#include "apiserver/rest/discovery.hpp"
#include "apiserver/rest/watch_hub.hpp"
#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A Server at one time, without its watches; immutable.
struct FrozenServer {
  ApiServerCoreOptions options = {};
  FrozenStorage storage;
  std::shared_ptr<const ProtobufDecoder> protobuf = {};
};

struct Server {
  explicit Server(ApiServerCoreOptions options_)
      : options(std::move(options_)),
        storage(options.seed, options.history),
        watches(options.bookmark_interval, options.max_unread_bytes),
        protobuf(std::make_shared<const ProtobufDecoder>()),
        discovery(options.version),
        authorizer(options.authorization),
        authenticator(token_key(options)) {}
  explicit Server(const FrozenServer& from)
      : options(from.options),
        storage(from.storage),
        watches(options.bookmark_interval, options.max_unread_bytes),
        protobuf(from.protobuf),
        discovery(options.version),
        authorizer(options.authorization),
        authenticator(token_key(options)) {
    watches.continue_after(storage.store.version());
  }

  static std::string token_key(const ApiServerCoreOptions& options) {
    return options.token_key.empty() ? "evenkeel " + std::to_string(options.seed) : options.token_key;
  }
  FrozenServer freeze() { return {options, storage.freeze(), protobuf}; }

  const ApiServerCoreOptions options;
  Storage storage;
  WatchHub watches;
  const std::shared_ptr<const ProtobufDecoder> protobuf;
  Discovery discovery;
  Authorizer authorizer;
  Authenticator authenticator;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
