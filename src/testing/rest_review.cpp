// SPDX-License-Identifier: Apache-2.0
// POSTs that store nothing of their own: who am I and may I, and the two actions on pods.
#include <utility>

#include "testing/deletion.hpp"
#include "testing/request_body.hpp"
#include "testing/respond.hpp"
#include "testing/rest.hpp"
#include "testing/timestamps.hpp"
#include "testing/write.hpp"

namespace evenkeel::inline v0::testing {
namespace {

Json strings(const std::vector<std::string>& items) {
  Json out = Json::array();
  for (const std::string& item : items) out.push_back(item);
  return out;
}

/// Everybody may do everything.
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
  if (kind == "TokenReview") return Json::object({{"user", Json::object()}, {"error", "unknown token"}});
  return Json::object({{"allowed", true}});
}

void check_binding(const Json& binding) {
  FieldErrors errors;
  const Json& kind = binding["target"]["kind"];
  if (!kind.string_or("").empty() && kind != Json("Node"))
    errors.push_back(field_not_supported("target.kind", kind, {Json("Node"), Json("<empty>")}));
  if (binding["target"]["name"].string_or("").empty()) errors.push_back(field_required("target.name"));
  if (!errors.empty()) throw StatusError::internal(describe(errors));
}

/// Nobody owns what a binding writes, and it makes no new generation.
http::Response bind(Server& server, Call& call, const StoredPtr& pod) {
  const Json binding = parse_body(call, "Binding");
  check_binding(binding);
  const WriteOptions options = write_options(call, "CreateOptions");
  Json object = pod->body();
  if (!std::as_const(object).at({"spec", "nodeName"}).string_or("").empty())
    throw StatusError::conflict(
        {"", "pods/binding"}, call.path.name,
        "pod " + call.path.name + " is already assigned to node " + Json(object["spec"]["nodeName"]).dump());
  object["spec"]["nodeName"] = binding.at({"target", "name"}).string_or("");
  Json& conditions = object["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  conditions.push_back(Json::object({{"type", "PodScheduled"},
                                     {"status", "True"},
                                     {"lastProbeTime", Json()},
                                     {"lastTransitionTime", timestamp(call.now)}}));
  if (!options.dry_run) server.store.put(*call.type->collection, std::move(object));
  Json status = success_status(Json());
  status.erase("details");
  status["code"] = 201;
  return json_response(201, status.dump());
}

http::Response evict(Server& server, Call& call, const StoredPtr& pod) {
  DeleteOptions options;
  const Json eviction = parse_body(call, "Eviction");
  if (const Json& grace = eviction.at({"deleteOptions", "gracePeriodSeconds"}); grace.is_integer())
    options.grace_period = grace.as_integer();
  options.dry_run = call.query.has("dryRun");
  delete_object(server, *call.type, pod, options, call.now);
  Json status = success_status(Json());
  status.erase("details");
  status["code"] = 201;
  return json_response(201, status.dump());
}

}  // namespace

http::Response rest_review(Server&, Call& call) {
  Json object = object_from_body(call, FieldValidation::warn);
  object["status"] = review_status(call);
  http::Response response = document_response(call, 201, std::move(object));
  add_warnings(call, response);
  return response;
}

http::Response rest_pod_action(Server& server, Call& call) {
  const StoredPtr pod = require_object(server, call);
  return call.path.subresource == "binding" ? bind(server, call, pod) : evict(server, call, pod);
}

}  // namespace evenkeel::inline v0::testing
