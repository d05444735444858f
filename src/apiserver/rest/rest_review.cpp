// SPDX-License-Identifier: Apache-2.0
// POST requests that store nothing: self-subject and access reviews, and tokens of service accounts.
// Source: kubernetes pkg/registry/authorization, pkg/registry/authentication,
// serviceaccount/storage/token.go.
#include <chrono>
#include <utility>

#include <openssl/evp.h>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/rest/request_body.hpp"
#include "apiserver/rest/respond.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/schema/defaults.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view issuer = "https://kubernetes.default.svc";
constexpr std::int64_t usual_seconds = 3600;
constexpr std::int64_t least_seconds = 600;
constexpr std::int64_t most_seconds = std::int64_t{1} << 32;

Json strings(const std::vector<std::string>& items) {
  Json out = Json::array();
  for (const std::string& item : items) out.push_back(item);
  return out;
}

/// All users may do everything.
Json review_status(const Call& call) {
  const std::string& kind = call.type->kind;
  if (kind == "SelfSubjectReview")
    return Json::object({{"userInfo", Json::object({{"username", call.caller.user},
                                                    {"groups", strings(call.caller.groups)}})}});
  if (kind == "SelfSubjectRulesReview") {
    const Json all = Json::array({"*"});
    return Json::object(
        {{"resourceRules",
          Json::array({Json::object({{"verbs", all}, {"apiGroups", all}, {"resources", all}})})},
         {"nonResourceRules", Json::array({Json::object({{"verbs", all}, {"nonResourceURLs", all}})})},
         {"incomplete", false}});
  }
  if (kind == "TokenReview")
    return Json::object({{"user", Json::object()}, {"error", "invalid bearer token"}});
  return Json::object({{"allowed", true}});
}

/// Returns the missing fields of an access review's spec.
FieldErrors access_problems(const Call& call, const Json& spec) {
  FieldErrors errors;
  const Json& resource = spec["resourceAttributes"];
  if (resource.is_null() == spec["nonResourceAttributes"].is_null())
    errors.push_back(
        field_invalid("spec.resourceAttributes", resource,
                      "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  if (call.type->kind != "SelfSubjectAccessReview" && spec["user"].string_or("").empty() &&
      spec["groups"].empty())
    errors.push_back(field_invalid("spec.user", "", "at least one of user or group must be specified"));
  if (call.type->kind == "LocalSubjectAccessReview" &&
      resource["namespace"].string_or("") != call.path.namespace_)
    errors.push_back(field_invalid("spec.resourceAttributes.namespace", resource["namespace"].string_or(""),
                                   "must match metadata.namespace"));
  return errors;
}

void check_review(const Call& call, const Json& review) {
  const std::string& kind = call.type->kind;
  if (kind == "TokenReview" && review.at({"spec", "token"}).string_or("").empty())
    throw StatusError::bad_request("token is required for TokenReview in authentication");
  if (kind == "SelfSubjectRulesReview" && review.at({"spec", "namespace"}).string_or("").empty())
    throw StatusError::bad_request("no namespace on request");
  if (!kind.ends_with("AccessReview")) return;
  if (const FieldErrors errors = access_problems(call, review["spec"]); !errors.empty())
    throw StatusError::invalid({call.type->group, ""}, "", errors);
}

/// Encodes base64 for URLs, without padding.
std::string encoded(std::string_view bytes) {
  std::string out(bytes.size() * 4 / 3 + 8, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

std::int64_t unix_seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// Returns a token in the form of service account tokens. Its signature cannot be verified, as there is no
/// signing key.
std::string token_of(Storage& storage, const Call& call, const Stored& account, const Json& audiences,
                     std::int64_t seconds) {
  const std::int64_t now = unix_seconds(call.now);
  const std::string& name = call.path.name;
  Json claims = Json::object({{"aud", audiences}, {"exp", now + seconds}, {"iat", now}, {"iss", issuer}});
  claims["jti"] = storage.identity.uid();
  claims["kubernetes.io"] =
      Json::object({{"namespace", call.path.namespace_},
                    {"serviceaccount", Json::object({{"name", name}, {"uid", account.uid()}})}});
  claims["nbf"] = now;
  claims["sub"] = "system:serviceaccount:" + call.path.namespace_ + ":" + name;
  const Json head = Json::object({{"alg", "RS256"}, {"kid", "none"}});
  return encoded(head.dump()) + "." + encoded(claims.dump()) + "." + encoded(storage.identity.uid());
}

}  // namespace

http::Response rest_review(Storage&, Call& call) {
  Json object = object_from_body(call, FieldValidation::warn);
  check_review(call, object);
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (call.type->kind == "SelfSubjectReview")
    metadata["creationTimestamp"] = timestamp(call.now);
  else
    track_update(Json(), object, *call.type->schema, write_options(call, "CreateOptions").context(call, ""));
  if (call.type->kind == "SelfSubjectRulesReview") {
    object["spec"] = Json::object();
    object["metadata"].erase("managedFields");
  }
  object["status"] = review_status(call);
  http::Response response = document_response(call, 201, std::move(object));
  add_warnings(call, response);
  return response;
}

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
  if (audiences.empty()) audiences = Json::array({issuer});
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
