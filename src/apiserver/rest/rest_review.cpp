// SPDX-License-Identifier: Apache-2.0
// POST requests that store nothing: reviews of access, rules, tokens and users.
// Source: kubernetes pkg/registry/authorization, pkg/registry/authentication.
#include <utility>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/request/request_body.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/schema/defaults.hpp"
#include "apiserver/text/json_members.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

Json rules_status(const Call& call, const std::string& namespace_) {
  HeldRules held;
  if (call.authorizer.enabled())
    held = call.authorizer.rules_of(call.storage, call.caller, namespace_);
  else
    held.rules = {{.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}}, {.verbs = {"*"}, .urls = {"*"}}};
  Json resources = Json::array();
  Json urls = Json::array();
  for (const PolicyRule& rule : held.rules)
    (rule.urls.empty() ? resources : urls).push_back(rule_document(rule));
  Json out = Json::object({{"resourceRules", std::move(resources)},
                           {"nonResourceRules", std::move(urls)},
                           {"incomplete", !held.errors.empty()}});
  if (!held.errors.empty()) out["evaluationError"] = held.error_text();
  return out;
}

Json token_status(const Call& call, const Json& spec) {
  const TokenVerdict verdict = call.authenticator.check(call.storage, spec["token"].string_or(""),
                                                        strings_of(spec["audiences"]), call.now);
  if (!verdict.caller) return Json::object({{"user", Json::object()}, {"error", verdict.problem}});
  return Json::object({{"authenticated", true},
                       {"user", user_document(*verdict.caller)},
                       {"audiences", json_strings(verdict.audiences)}});
}

/// Returns the request that an access review asks about.
AccessRequest asked_access(const Json& spec) {
  const Json& resource = spec["resourceAttributes"];
  if (resource.is_null()) {
    const Json& path = spec["nonResourceAttributes"];
    return {.verb = path["verb"].string_or(""), .path = path["path"].string_or("")};
  }
  return {.verb = resource["verb"].string_or(""),
          .group = resource["group"].string_or(""),
          .resource = resource["resource"].string_or("*"),
          .subresource = resource["subresource"].string_or(""),
          .namespace_ = resource["namespace"].string_or(""),
          .name = resource["name"].string_or("")};
}

Json access_status(const Call& call, const Json& spec) {
  const Caller named{.user = spec["user"].string_or(""), .groups = strings_of(spec["groups"])};
  const bool self = call.type->kind == "SelfSubjectAccessReview";
  const AccessDecision decision =
      call.authorizer.decide(call.storage, self ? call.caller : named, asked_access(spec));
  Json out = Json::object({{"allowed", decision.allowed}});
  if (!decision.reason.empty()) out["reason"] = decision.reason;
  return out;
}

Json review_status(const Call& call, const Json& spec) {
  const std::string& kind = call.type->kind;
  if (kind == "SelfSubjectReview") return Json::object({{"userInfo", user_document(call.caller)}});
  if (kind == "SelfSubjectRulesReview") return rules_status(call, spec["namespace"].string_or(""));
  if (kind == "TokenReview") return token_status(call, spec);
  return access_status(call, spec);
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

}  // namespace

http::Response rest_review(Storage&, Call& call) {
  Json object = object_from_body(call, FieldValidation::warn);
  check_review(call, object);
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (call.type->namespaced) metadata["namespace"] = call.path.namespace_;
  if (call.type->kind == "SelfSubjectReview")
    metadata["creationTimestamp"] = timestamp(call.now);
  else
    track_update(Json(), object, *call.type->schema,
                 write_context(call, write_options(call, "CreateOptions"), ""));
  object["status"] = review_status(call, std::as_const(object)["spec"]);
  if (call.type->kind == "SelfSubjectRulesReview") {
    object["spec"] = Json::object();
    object["metadata"].erase("managedFields");
  }
  http::Response response = document_response(call, 201, std::move(object));
  add_warnings(call, response);
  return response;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
