// SPDX-License-Identifier: Apache-2.0
// The handlers of the verbs. Each answers a Call or throws StatusError; they are independent of sockets.
#pragma once

#include "apiserver/query/selector.hpp"
#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Server;

http::Response rest_get(Storage& storage, Call& call);
http::Response rest_list(Storage& storage, Call& call);
Answer rest_watch(Server& server, Call& call);
http::Response rest_create(Storage& storage, Call& call);
http::Response rest_update(Storage& storage, Call& call);
http::Response rest_patch(Storage& storage, Call& call);
http::Response rest_delete(Storage& storage, Call& call);
http::Response rest_delete_collection(Storage& storage, Call& call);
/// GET, PUT and PATCH of the scale subresource.
http::Response rest_scale(Storage& storage, Call& call);
/// POST of kinds that are queries: reviews.
http::Response rest_review(Storage& storage, Call& call);
/// POST of serviceaccounts/token.
http::Response rest_token(Storage& storage, Call& call);
/// POST of pods/binding, or of bindings.
http::Response rest_binding(Storage& storage, Call& call);
/// POST of pods/eviction.
http::Response rest_eviction(Storage& storage, Call& call);
/// Requests that need a node: logs, exec, proxies. Responds like a real server for a pod without a node.
Answer rest_node_action(Storage& storage, Call& call);

/// Returns the selectors of a list or watch. Throws StatusError (400).
Selection selection_of(const Call& call);
/// Returns the key prefix of the call's namespace, or of all.
std::string key_prefix(const Call& call);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
