// SPDX-License-Identifier: Apache-2.0
// The parts of a server. The router passes each handler those that it needs.
#pragma once

#include <utility>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/rest/discovery.hpp"
#include "apiserver/rest/protobuf_document.hpp"
#include "apiserver/rest/watch_hub.hpp"
#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Server {
  explicit Server(ApiServerCoreOptions options_)
      : options(std::move(options_)),
        storage(options.seed, options.history),
        watches(options.bookmark_interval, options.max_unread_bytes),
        discovery(options.version) {}

  const ApiServerCoreOptions options;
  Storage storage;
  WatchHub watches;
  ProtobufDecoder protobuf = {};
  Discovery discovery;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
