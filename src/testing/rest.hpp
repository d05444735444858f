// SPDX-License-Identifier: Apache-2.0
// The verbs. Each answers a Call or throws StatusError; none knows of sockets.
#pragma once

#include "testing/server.hpp"

namespace evenkeel::inline v0::testing {

http::Response rest_get(Server& server, Call& call);
http::Response rest_list(Server& server, Call& call);
Answer rest_watch(Server& server, Call& call);
http::Response rest_create(Server& server, Call& call);
http::Response rest_update(Server& server, Call& call);
http::Response rest_patch(Server& server, Call& call);
http::Response rest_delete(Server& server, Call& call);
http::Response rest_delete_collection(Server& server, Call& call);
/// GET, PUT and PATCH of the scale subresource.
http::Response rest_scale(Server& server, Call& call);
/// POST of kinds that are questions: reviews.
http::Response rest_review(Server& server, Call& call);
/// POST of serviceaccounts/token.
http::Response rest_token(Server& server, Call& call);
/// POST of pods/binding, or of bindings.
http::Response rest_binding(Server& server, Call& call);
/// POST of pods/eviction.
http::Response rest_eviction(Server& server, Call& call);
/// What needs a node: logs, exec, proxies. Served as far as a pod that has no node is.
http::Response rest_node_action(Server& server, Call& call);

/// What a list or watch selects by.
Selection selection_of(const Call& call);
/// Keys below this belong to the call's namespace, or to all.
std::string key_prefix(const Call& call);

}  // namespace evenkeel::inline v0::testing
