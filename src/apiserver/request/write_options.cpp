// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/write_options.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/query/list_options.hpp"
#include "apiserver/request/request_body.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::size_t max_manager_bytes = 128;

[[noreturn]] void refuse(std::string_view kind, const FieldErrors& errors) {
  throw StatusError::invalid({"meta.k8s.io", std::string(kind)}, "", errors);
}

void check_dry_run(const std::vector<std::string>& values, FieldErrors& errors) {
  Json::Array given;
  for (const std::string& value : values) given.emplace_back(value);
  if (std::all_of(values.begin(), values.end(), [](const std::string& value) { return value == "All"; }))
    return;
  errors.push_back(field_not_supported("dryRun", Json(std::move(given)), {Json("All")}));
}

void check_manager(const std::string& manager, FieldErrors& errors) {
  if (manager.size() > max_manager_bytes)
    errors.push_back(field_too_long("fieldManager", static_cast<std::int64_t>(max_manager_bytes)));
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const auto at = std::find_if(manager.begin(), manager.end(), control);
  if (at == manager.end()) return;
  char code[8];
  std::snprintf(code, sizeof code, "%04X", static_cast<unsigned>(static_cast<unsigned char>(*at)));
  errors.push_back(field_invalid("fieldManager", manager,
                                 "invalid character U+" + std::string(code) + " (at position " +
                                     std::to_string(at - manager.begin()) + ")"));
}

FieldValidation check_validation(std::string_view text, FieldErrors& errors) {
  if (text == "Ignore") return FieldValidation::ignore;
  if (text == "Strict") return FieldValidation::strict;
  if (!text.empty() && text != "Warn")
    errors.push_back(field_not_supported("fieldValidation", text,
                                         {Json(""), Json("Ignore"), Json("Strict"), Json("Warn")}));
  return FieldValidation::warn;
}

Propagation propagation(const Json& options, FieldErrors& errors) {
  const std::string policy = options["propagationPolicy"].string_or("");
  const Json& orphan = options["orphanDependents"];
  if (!policy.empty() && orphan.is_bool())
    errors.push_back(field_invalid("propagationPolicy", policy,
                                   "orphanDependents and deletionPropagation cannot be both set"));
  if (orphan.is_bool()) return orphan.as_bool() ? Propagation::orphan : Propagation::background;
  if (policy == "Background") return Propagation::background;
  if (policy == "Foreground") return Propagation::foreground;
  if (policy == "Orphan") return Propagation::orphan;
  if (!policy.empty())
    errors.push_back(field_not_supported(
        "propagationPolicy", policy, {Json("Foreground"), Json("Background"), Json("Orphan"), Json("nil")}));
  return Propagation::unset;
}

/// Refuses members of a wrong type.
void check_types(const Json& options) {
  const auto refuse = [&](std::string_view member, const Json& value, std::string_view expected) {
    throw StatusError::bad_request(wrong_type("DeleteOptions." + std::string(member), expected, value));
  };
  if (const Json& grace = options["gracePeriodSeconds"]; !grace.is_null() && !grace.is_integer())
    refuse("gracePeriodSeconds", grace, "an integer");
  if (const Json& orphan = options["orphanDependents"]; !orphan.is_null() && !orphan.is_bool())
    refuse("orphanDependents", orphan, "a boolean");
  if (const Json& policy = options["propagationPolicy"]; !policy.is_null() && !policy.is_string())
    refuse("propagationPolicy", policy, "a string");
}

/// Returns the options as a document, from the body or the query.
Json options_document(const Call& call) {
  if (!call.request.body.empty()) {
    Json body = parse_body(call, "");
    if (body.is_null()) return Json::object();
    if (!body.is_object()) throw StatusError::bad_request(wrong_type("DeleteOptions", "an object", body));
    const std::string kind = std::as_const(body)["kind"].string_or("DeleteOptions");
    if (kind != "DeleteOptions") throw StatusError::bad_request(kind + " cannot be handled as DeleteOptions");
    check_types(body);
    return body;
  }
  Json options = Json::object();
  if (call.query.has("propagationPolicy")) options["propagationPolicy"] = call.query.get("propagationPolicy");
  if (call.query.has("orphanDependents")) options["orphanDependents"] = call.query.flag("orphanDependents");
  if (call.query.has("gracePeriodSeconds")) {
    options["gracePeriodSeconds"] = query_integer(call.query, "gracePeriodSeconds");
  }
  if (const std::vector<std::string> given = call.query.all("dryRun"); !given.empty()) {
    options["dryRun"] = Json::array();
    for (const std::string& value : given) options["dryRun"].push_back(value);
  }
  return options;
}

std::optional<std::string> text_if_string(const Json& value) {
  return value.is_string() ? std::optional(value.as_string()) : std::nullopt;
}

}  // namespace

WriteOptions write_options(const Call& call, std::string_view kind, Applies applies) {
  WriteOptions out;
  FieldErrors errors;
  out.manager = call.query.get("fieldManager");
  out.force = call.query.flag("force");
  if (kind == "PatchOptions" && applies == Applies::no && call.query.has("force"))
    errors.push_back(field_forbidden("force", "may not be specified for non-apply patch"));
  if (applies == Applies::yes && out.manager.empty())
    errors.push_back(field_required("fieldManager", "is required for apply patch"));
  check_manager(out.manager, errors);
  check_dry_run(call.query.all("dryRun"), errors);
  out.validation = check_validation(call.query.get("fieldValidation"), errors);
  if (!errors.empty()) refuse(kind, errors);
  out.dry_run = call.query.has("dryRun");
  if (out.manager.empty()) {
    const std::string* agent = call.request.headers.find("User-Agent");
    out.manager = default_manager(agent ? *agent : "");
  }
  return out;
}

DeleteOptions delete_options(const Call& call) {
  return delete_options(options_document(call));
}

DeleteOptions delete_options(const Json& options) {
  FieldErrors errors;
  DeleteOptions out;
  out.propagation = propagation(options, errors);
  std::vector<std::string> dry_run;
  if (const Json& given = options["dryRun"]; given.is_array())
    for (const Json& value : given.as_array()) dry_run.push_back(value.string_or(""));
  check_dry_run(dry_run, errors);
  if (!errors.empty()) refuse("DeleteOptions", errors);
  out.dry_run = !dry_run.empty();
  out.uid = text_if_string(options.at({"preconditions", "uid"}));
  out.resource_version = text_if_string(options.at({"preconditions", "resourceVersion"}));
  out.cascade_asked_the_old_way = options["orphanDependents"] == Json(false);
  if (const Json& grace = options["gracePeriodSeconds"]; grace.is_integer())
    out.grace_period = grace.as_integer();
  out.document = options.is_object() ? options : Json::object();
  out.document["kind"] = "DeleteOptions";
  out.document["apiVersion"] = "meta.k8s.io/v1";
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
