// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <evenkeel/client/calls.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/subresources.hpp>

#include "client/request/requests.hpp"

namespace evenkeel {
inline namespace v0 {
namespace calls {
namespace {

const ResourceId& pods() {
  static const ResourceId resource{"", "v1", "Pod", "pods"};
  return resource;
}

RestRequest post(const ResourceId& resource, const ObjectKey& key, std::string subresource,
                 const Json& body) {
  return detail::write_request(
      detail::object_request(http::Method::post, resource, key, std::move(subresource)), "application/json",
      body.dump());
}

Json named(const char* api_version, const char* kind, const ObjectKey& key) {
  Json document = Json::object({{"apiVersion", api_version}, {"kind", kind}});
  document["metadata"]["name"] = key.name;
  document["metadata"]["namespace"] = key.namespace_;
  return document;
}

Json document(detail::CallAnswer& answer) {
  return Json::parse(answer.response->body, answer.what);
}

// The server answers some failures with 201 and a Status of another code: that several budgets select the
// Pod.
std::monostate evicted(const std::string& call, const detail::CallAnswer& answer) {
  Status status = Status::decode(0, answer.response->body);
  if (status.code >= 400) throw ApiError(call, std::move(status));
  return {};
}

ServiceAccountToken token(detail::CallAnswer& answer) {
  const Json request = document(answer);
  ServiceAccountToken token{.token = request.at({"status", "token"}).string_or(""),
                            .expires_at = request.at({"status", "expirationTimestamp"}).string_or("")};
  if (token.token.empty()) throw DecodeError(answer.what, "the response has no status.token");
  return token;
}

}  // namespace

ApiCall<std::monostate> evict(const ObjectKey& pod, const DeleteOptions& options) {
  Json eviction = named("policy/v1", "Eviction", pod);
  Json body = detail::delete_options(options);
  if (!body.empty()) eviction["deleteOptions"] = std::move(body);
  RestRequest request = post(pods(), pod, "eviction", eviction);
  const auto decode = [call = describe(request)](detail::CallAnswer& answer) {
    return evicted(call, answer);
  };
  return {detail::one_request(std::move(request)), decode};
}

ApiCall<ServiceAccountToken> create_token(const ObjectKey& service_account, const TokenOptions& options) {
  static const ResourceId resource{"", "v1", "ServiceAccount", "serviceaccounts"};
  Json request = Json::object({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
  Json& spec = request["spec"] = Json::object();
  if (!options.audiences.empty()) {
    Json::Array audiences(options.audiences.begin(), options.audiences.end());
    spec["audiences"] = std::move(audiences);
  }
  if (options.expires_after) {
    spec["expirationSeconds"] = static_cast<std::int64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(*options.expires_after).count());
  }
  return {detail::one_request(post(resource, service_account, "token", request)), &token};
}

ApiCall<std::monostate> bind(const ObjectKey& pod, const std::string& node) {
  Json binding = named("v1", "Binding", pod);
  binding["target"] = Json::object({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}});
  return {detail::one_request(post(pods(), pod, "binding", binding)), &detail::nothing};
}

ApiCall<Json> get_subresource(const ResourceId& resource, const ObjectKey& key, std::string subresource) {
  return {
      detail::one_request(detail::object_request(http::Method::get, resource, key, std::move(subresource))),
      &document};
}

ApiCall<Json> create_subresource(const ResourceId& resource, const ObjectKey& key, std::string subresource,
                                 const Json& body) {
  return {detail::one_request(post(resource, key, std::move(subresource), body)), &document};
}

}  // namespace calls
}  // namespace v0
}  // namespace evenkeel
