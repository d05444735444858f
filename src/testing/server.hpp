// SPDX-License-Identifier: Apache-2.0
// The parts of one embedded server, and what a request is while it is being answered.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/testing/api_server_core.hpp>

#include "testing/crd_controller.hpp"
#include "testing/discovery.hpp"
#include "testing/garbage_collector.hpp"
#include "testing/identity.hpp"
#include "testing/kubernetes_service.hpp"
#include "testing/namespace_controller.hpp"
#include "testing/negotiation.hpp"
#include "testing/protobuf_document.hpp"
#include "testing/registry.hpp"
#include "testing/rest_path.hpp"
#include "testing/schema.hpp"
#include "testing/store.hpp"
#include "testing/watch_hub.hpp"

namespace evenkeel::inline v0::testing {

/// Versions start here, so that small ones are known to be of the past, as on a server that has run a while.
inline constexpr std::uint64_t first_resource_version = 1000;

struct Server {
  explicit Server(ApiServerCoreOptions options_)
      : options(std::move(options_)),
        identity(options.seed),
        store(options.history, first_resource_version),
        registry(catalog, store),
        watches(options.bookmark_interval, options.max_unread_bytes) {}

  const ApiServerCoreOptions options;
  Identity identity;
  Store store;
  SchemaCatalog catalog = {};
  Registry registry;
  WatchHub watches;
  ProtobufDecoder protobuf = {};
  Discovery discovery = {};
  GarbageCollector collector = {};
  NamespaceController namespaces = {};
  KubernetesService kubernetes = {};
  CrdController crds = {};
};

/// A request for a resource, as the handlers see it.
struct Call {
  const http::Request& request;
  const Query& query;
  ResourcePath path;
  ResourceTypePtr type;
  WallTime now;
  const Caller& caller;
  const CacheLag& lag;
  Server& server;
  Representation form = {};
  std::vector<std::string> warnings = {};

  std::string key() const { return type->collection->key_of(path.namespace_, path.name); }
};

/// The version that the watch cache shows to a read that wants one not older than `minimum`.
std::uint64_t cached_version(const Call& call, std::uint64_t minimum);

}  // namespace evenkeel::inline v0::testing
