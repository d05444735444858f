// SPDX-License-Identifier: Apache-2.0
// POST of serviceaccounts/token. Source: kubernetes pkg/registry/core/serviceaccount/storage/token.go.
#include <chrono>
#include <string>
#include <utility>

#include "apiserver/request/request_body.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::int64_t usual_seconds = 3600;
constexpr std::int64_t least_seconds = 600;
constexpr std::int64_t most_seconds = std::int64_t{1} << 32;

/// Returns a token in the form of service account tokens, with which the account can make requests until it
/// expires or the account is deleted.
std::string token_of(Storage& storage, const Call& call, const Stored& account, const Json& audiences,
                     std::int64_t seconds) {
  const std::int64_t now = unix_seconds(call.now);
  const std::string& name = call.path.name;
  Json claims =
      Json::object({{"aud", audiences}, {"exp", now + seconds}, {"iat", now}, {"iss", token_issuer}});
  claims["jti"] = storage.identity.uid();
  claims["kubernetes.io"] =
      Json::object({{"namespace", call.path.namespace_},
                    {"serviceaccount", Json::object({{"name", name}, {"uid", account.uid()}})}});
  claims["nbf"] = now;
  claims["sub"] = "system:serviceaccount:" + call.path.namespace_ + ":" + name;
  return call.authenticator.issue(claims);
}

}  // namespace

http::Response rest_token(Storage& storage, Call& call) {
  const Json request = parse_body(call, "TokenRequest");
  const StoredPtr account = require_object(storage, call);
  const std::int64_t seconds = request.at({"spec", "expirationSeconds"}).integer_or(usual_seconds);
  const char* problem = seconds < least_seconds  ? "may not specify a duration less than 10 minutes"
                        : seconds > most_seconds ? "may not specify a duration larger than 2^32 seconds"
                                                 : nullptr;
  if (problem != nullptr)
    throw StatusError::invalid({"authentication.k8s.io", "TokenRequest"}, "",
                               {field_invalid("spec.expirationSeconds", Json(seconds), problem)});
  Json audiences = request.at({"spec", "audiences"});
  if (audiences.empty()) audiences = Json::array({token_issuer});
  Json metadata = Json::object({{"name", call.path.name}, {"namespace", call.path.namespace_}});
  metadata["uid"] = account->uid();
  metadata["creationTimestamp"] = timestamp(call.now);
  Json out = Json::object({{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}});
  out["metadata"] = std::move(metadata);
  out["spec"] =
      Json::object({{"audiences", audiences}, {"expirationSeconds", seconds}, {"boundObjectRef", nullptr}});
  out["status"] =
      Json::object({{"token", token_of(storage, call, *account, audiences, seconds)},
                    {"expirationTimestamp", timestamp(call.now + std::chrono::seconds(seconds))}});
  return json_response(201, out.dump());
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
