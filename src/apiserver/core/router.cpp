// SPDX-License-Identifier: Apache-2.0
#include "apiserver/core/router.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "api/yaml_writer.hpp"
#include "apiserver/core/lost_version.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/text/timestamps.hpp"
#include "client/request/request_verb.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Rejects a path: built-in groups respond with a Status, others with "page not found".
[[noreturn]] void refuse_path(const Registry& registry, const ResourcePath& path) {
  if (registry.is_builtin_group(path.group)) throw StatusError::no_such_path();
  throw PageNotFound{};
}

[[noreturn]] void refuse_method(const Call& call, std::string_view verb) {
  if (call.type->custom) throw StatusError::method_not_supported(call.type->resource(), verb);
  throw StatusError::method_not_allowed();
}

/// Returns the verb of discovery for a request without subresource.
std::string_view call_verb(const Call& call) {
  const bool named = !call.path.name.empty();
  return evenkeel::detail::request_verb(call.request.method, named,
                                        call.path.legacy_watch || (!named && call.query.flag("watch")));
}

/// Rejects a namespaced object outside of any namespace, and vice versa.
void check_scope(const Server& server, const Call& call) {
  const bool named = !call.path.name.empty();
  const bool watched =
      call.path.legacy_watch && (call.request.method != http::Method::get || !call.path.subresource.empty());
  if (call.path.too_long || watched) refuse_path(server.storage.registry, call.path);
  if (call.path.in_namespace != call.type->namespaced) {
    if (call.path.in_namespace || named) refuse_path(server.storage.registry, call.path);
    if (call.request.method == http::Method::get) return;
    if (call.type->custom) throw PageNotFound{};
    throw StatusError::method_not_allowed();
  }
}

/// Checks that the path has a name if the verb needs one, and none otherwise.
void check_named(const Call& call, std::string_view verb) {
  const bool named = !call.path.name.empty();
  const bool one = verb == "update" || verb == "patch";
  if (one && !named && call.type->custom) throw StatusError::bad_request("name must be provided");
  if ((one && !named) || (verb == "create" && named && !call.type->custom)) refuse_method(call, verb);
}

/// Validates the client's timeout. It matters to requests that call webhooks only: all others are fast.
void check_timeout(const Query& query) {
  const std::string text(query.get("timeout"));
  if (text.empty() || query.flag("watch")) return;
  const std::string problem = duration_problem(text);
  if (!problem.empty())
    throw StatusError::bad_request("invalid timeout specified in the request URL - " + problem);
}

Answer dispatch(Server& server, Call& call) {
  const std::string_view verb = call_verb(call);
  check_named(call, verb);
  if (!call.type->has_verb(verb)) refuse_method(call, verb);
  if (verb == "watch" || verb == "list" || verb == "deletecollection") require_version(server, call, verb);
  if (verb == "watch") return rest_watch(server, call);
  if (verb == "get") return {rest_get(server.storage, call), {}};
  if (verb == "list") return {rest_list(server.storage, call), {}};
  if (verb == "create" && call.type->kind == "Binding" && !call.type->custom)
    return {rest_binding(server.storage, call), {}};
  if (verb == "create" && !call.type->has_verb("get")) return {rest_review(server.storage, call), {}};
  if (verb == "create") return {rest_create(server.storage, call), {}};
  if (verb == "update") return {rest_update(server.storage, call), {}};
  if (verb == "patch") return {rest_patch(server.storage, call), {}};
  if (verb == "delete") return {rest_delete(server.storage, call), {}};
  return {rest_delete_collection(server.storage, call), {}};
}

/// Throws unless the resource has the subresource with this verb.
void check_subresource(const Call& call, std::string_view verb) {
  const std::string& name = call.path.subresource;
  if (call.type->custom) {
    if (!(name == "status" && call.type->has_status) && !(name == "scale" && call.type->scale))
      throw StatusError::not_found(call.type->resource(), call.path.name);
    if (verb != "get" && verb != "update" && verb != "patch") refuse_method(call, verb);
    return;
  }
  const BuiltinResource* entry = call.type->subresource(name);
  if (!entry) throw StatusError::no_such_path();
  if (std::find(entry->verbs.begin(), entry->verbs.end(), verb) == entry->verbs.end())
    refuse_method(call, verb);
}

Answer dispatch_subresource(Server& server, Call& call) {
  const std::string_view verb = call_verb(call);
  const std::string& name = call.path.subresource;
  check_subresource(call, verb);
  if (name == "scale") return {rest_scale(server.storage, call), {}};
  if (verb == "create" && name == "binding") return {rest_binding(server.storage, call), {}};
  if (verb == "create" && name == "eviction") return {rest_eviction(server.storage, call), {}};
  if (verb == "create" && name == "token") return {rest_token(server.storage, call), {}};
  static constexpr std::array<std::string_view, 5> documents = {"status", "finalize", "ephemeralcontainers",
                                                                "resize", "approval"};
  if (std::find(documents.begin(), documents.end(), name) == documents.end())
    return rest_node_action(server.storage, call);
  if (verb == "get") return {rest_get(server.storage, call), {}};
  if (verb == "update") return {rest_update(server.storage, call), {}};
  return {rest_patch(server.storage, call), {}};
}

/// Returns the resource's response. Errors include the warnings that preceded them.
Answer answer_call(Server& server, Call& call) {
  try {
    check_scope(server, call);
    check_timeout(call.query);
    call.form = negotiate(call.request.headers, call.type->custom ? Front::handler : Front::router);
    return call.path.subresource.empty() ? dispatch(server, call) : dispatch_subresource(server, call);
  } catch (const StatusError& error) {
    Answer out{status_response(error), {}};
    add_warnings(call, out.response);
    return out;
  }
}

/// Returns the user of the request, who may be another than the caller. Throws StatusError (403).
Caller authorized(Server& server, const http::Request& request, const Target& target, const Caller& caller) {
  const AccessRequest access = access_request(request, target);
  std::optional<Caller> user = impersonated(request);
  if (user) server.authorizer.require_impersonation(server.storage, caller, *user, access);
  if (!user) user = caller;
  server.authorizer.require(server.storage, *user, access);
  return *std::move(user);
}

Answer answer(Server& server, const http::Request& request, const Turn& turn) {
  if (request.body.size() > server.options.max_body_bytes)
    throw StatusError::too_large(server.options.max_body_bytes);
  const Target target = parse_target(request.target);
  const Caller caller = authorized(server, request, target, turn.caller);
  if (auto response = server.discovery.answer(server.storage, request, target))
    return {std::move(*response), {}};
  const auto path = resource_path(target.segments);
  if (!path) throw PageNotFound{};
  const ResourceTypePtr type = server.storage.registry.find(path->group, path->version, path->resource);
  if (!type) refuse_path(server.storage.registry, *path);
  Call call{.request = request,
            .query = target.query,
            .path = *path,
            .type = type,
            .now = turn.now,
            .caller = caller,
            .lag = turn.lag,
            .storage = server.storage,
            .protobuf = *server.protobuf,
            .authorizer = server.authorizer,
            .authenticator = server.authenticator,
            .webhooks = turn.webhooks,
            .sharded_lists = server.options.sharded_list_and_watch};
  Answer out = answer_call(server, call);
  if (!type->deprecation.empty()) prepend_warning(out.response, type->deprecation);
  return out;
}

Answer answer_request(Server& server, const http::Request& request, const Turn& turn) {
  try {
    return answer(server, request, turn);
  } catch (const StatusError& error) {
    return {status_response(error), {}};
  } catch (const PageNotFound&) {
    return {page_not_found(), {}};
  } catch (const std::exception& error) {
    return {status_response(
                StatusError(500, "InternalError", std::string("Internal error occurred: ") + error.what())),
            {}};
  }
}

/// Converts JSON to YAML for clients that prefer it. OpenAPI documents have other forms.
void prefer_yaml(const http::Request& request, http::Response& response) {
  const std::string* accept = request.headers.find("Accept");
  if (accept == nullptr || accept->find("yaml") == std::string::npos || response.body.empty()) return;
  if (request.target.starts_with("/openapi") || !prefers_yaml(request.headers)) return;
  const std::string* type = response.headers.find("Content-Type");
  if (type == nullptr || !type->starts_with("application/json")) return;
  const std::string parameters = type->substr(std::string_view("application/json").size());
  response.body = detail::to_yaml(Json::parse(response.body));
  response.headers.set("Content-Type", "application/yaml" + parameters);
}

}  // namespace

Answer route(Server& server, const http::Request& request, const Turn& turn) {
  Answer out = answer_request(server, request, turn);
  prefer_yaml(request, out.response);
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
