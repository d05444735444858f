// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/certificate_signing.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/certificate_text.hpp"
#include "apiserver/text/json_members.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view certificates_group = "certificates.k8s.io";
constexpr std::string_view client_signer = "kubernetes.io/kube-apiserver-client";
constexpr std::int64_t least_lifetime_seconds = 600;

constexpr std::array<std::string_view, 23> usages = {"any",
                                                     "cert sign",
                                                     "client auth",
                                                     "code signing",
                                                     "content commitment",
                                                     "crl sign",
                                                     "data encipherment",
                                                     "decipher only",
                                                     "digital signature",
                                                     "email protection",
                                                     "encipher only",
                                                     "ipsec end system",
                                                     "ipsec tunnel",
                                                     "ipsec user",
                                                     "key agreement",
                                                     "key encipherment",
                                                     "microsoft sgc",
                                                     "netscape sgc",
                                                     "ocsp signing",
                                                     "s/mime",
                                                     "server auth",
                                                     "signing",
                                                     "timestamping"};

bool is_request(const ResourceType& type) {
  return !type.custom && type.group == certificates_group && type.kind == "CertificateSigningRequest";
}

std::string bytes_of(const Json& base64) {
  const auto bytes = Bytes::from_base64(base64.string_or(""));
  return bytes ? bytes->value() : std::string();
}

std::vector<Json> conditions_of_type(const Json& object, std::string_view type) {
  std::vector<Json> out;
  const Json& all = object.at({"status", "conditions"});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]["type"] == Json(type)) out.push_back(all[i]);
  return out;
}

/// Restores the conditions of a type, unless there are more or fewer.
void preserve_conditions(Json& object, const Json& live, std::string_view type) {
  const std::vector<Json> old = conditions_of_type(live, type);
  if (old.empty() || conditions_of_type(object, type).size() != old.size()) return;
  std::size_t next = 0;
  for (Json& condition : object["status"]["conditions"].as_array())
    if (std::as_const(condition)["type"] == Json(type)) condition = old[next++];
}

/// Returns the time since which the object has a condition with this status; null if it has none.
Json transition_of(const Json& live, const Json& condition) {
  for (const Json& old : conditions_of_type(live, condition["type"].string_or("")))
    if (old["status"] == condition["status"]) return old["lastTransitionTime"];
  return {};
}

FieldErrors check_usages(const Json& given) {
  FieldErrors errors;
  if (given.empty()) errors.push_back(field_required("spec.usages"));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string usage = given[i].string_or("");
    const std::string here = checks::indexed("spec.usages", i);
    if (std::find(usages.begin(), usages.end(), usage) == usages.end())
      errors.push_back(field_not_supported(here, given[i], Json::Array(usages.begin(), usages.end())));
    if (!seen.insert(usage).second) errors.push_back(field_duplicate(here, given[i]));
  }
  return errors;
}

/// Checks "domain/path". Source: kubernetes pkg/apis/core/validation ValidateSignerName.
void check_signer_parts(const std::string& name, FieldErrors& errors) {
  const std::string field = "spec.signerName";
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || name.find('/', slash + 1) != std::string::npos) {
    errors.push_back(field_invalid(
        field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
    return;
  }
  const auto check = [&](const std::string& part, NameRule rule) {
    for (std::size_t at = 0; at <= part.size();) {
      const std::size_t dot = std::min(part.find('.', at), part.size());
      const std::string label = part.substr(at, dot - at);
      for (const std::string& problem : name_problems(label, rule))
        errors.push_back(
            field_invalid(field, part, "validating label " + Json(label).dump() + ": " + problem));
      at = dot + 1;
    }
  };
  const std::string domain = name.substr(0, slash);
  check(domain, NameRule::dns_label);
  if (domain.find('.') == std::string::npos)
    errors.push_back(
        field_invalid(field, domain, "should be a domain with at least two segments separated by dots"));
  check(name.substr(slash + 1), NameRule::dns_subdomain);
}

void check_signer(const Json& signer, FieldErrors& errors) {
  const std::string name = signer.string_or("");
  if (name.empty()) {
    errors.push_back(field_required("spec.signerName"));
  } else if (name == "kubernetes.io/legacy-unknown") {
    errors.push_back(field_invalid("spec.signerName", signer,
                                   "the legacy signerName is not allowed via this API version"));
  } else {
    check_signer_parts(name, errors);
  }
}

FieldErrors check_spec(const Json& spec) {
  FieldErrors errors;
  if (const auto read = read_certificate_request(bytes_of(spec["request"])); !read.problem.empty())
    errors.push_back(field_invalid("spec.request", spec["request"], read.problem));
  const FieldErrors of_usages = check_usages(spec["usages"]);
  errors.insert(errors.end(), of_usages.begin(), of_usages.end());
  check_signer(spec["signerName"], errors);
  if (const Json& seconds = spec["expirationSeconds"];
      seconds.is_integer() && seconds.as_integer() < least_lifetime_seconds)
    errors.push_back(field_invalid("spec.expirationSeconds", seconds,
                                   "may not specify a duration less than 600 seconds (10 minutes)"));
  return errors;
}

void check_condition(const Json& condition, const std::string& here, FieldErrors& errors) {
  const std::string type = condition["type"].string_or("");
  if (type.empty()) errors.push_back(field_required(here + ".type"));
  const bool final = type == "Approved" || type == "Denied" || type == "Failed";
  const Json::Array allowed = final ? Json::Array{"True"} : Json::Array{"False", "True", "Unknown"};
  const Json& status = condition["status"];
  if (status.string_or("").empty())
    errors.push_back(field_required(here + ".status"));
  else if (std::find(allowed.begin(), allowed.end(), status) == allowed.end())
    errors.push_back(field_not_supported(here + ".status", status, allowed));
}

FieldErrors check_conditions(const Json& conditions) {
  FieldErrors errors;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string here = checks::indexed("status.conditions", i);
    const std::string type = conditions[i]["type"].string_or("");
    check_condition(conditions[i], here, errors);
    if ((type == "Approved" && seen.contains("Denied")) || (type == "Denied" && seen.contains("Approved")))
      errors.push_back(field_invalid("status.conditions", conditions[i]["type"],
                                     "Approved and Denied conditions are mutually exclusive"));
    if (!seen.insert(type).second) errors.push_back(field_duplicate(here + ".type", conditions[i]["type"]));
  }
  return errors;
}

/// Conditions that decide cannot be removed; those of an approval are set by an approval only.
void check_decisions(const Json& object, const Json& live, std::string_view subresource,
                     FieldErrors& errors) {
  const auto forbid = [&](const char* verb, const char* type) {
    errors.push_back(field_forbidden("status.conditions", std::string("updates may not ") + verb +
                                                              " a condition of type " + Json(type).dump()));
  };
  for (const char* type : {"Approved", "Denied", "Failed"}) {
    const std::vector<Json> now = conditions_of_type(object, type);
    const std::vector<Json> before = conditions_of_type(live, type);
    if (now.size() < before.size()) forbid("remove", type);
    if (subresource == "approval" || std::string_view(type) == "Failed") continue;
    if (now.size() > before.size()) forbid("add", type);
    if (now.size() == before.size() && now != before) forbid("modify", type);
  }
}

void check_certificate(const Json& object, const Json& live, FieldErrors& errors) {
  const Json& now = object.at({"status", "certificate"});
  const Json& before = live.at({"status", "certificate"});
  if (now == before) return;
  if (!now.string_or("").empty())
    if (const std::string problem = certificate_problem(bytes_of(now)); !problem.empty())
      errors.push_back(field_invalid("status.certificate", Json("<certificate data>"), problem));
  if (!before.string_or("").empty())
    errors.push_back(
        field_forbidden("status.certificate", "updates may not modify existing certificate content"));
}

void require_signer_right(const Call& call, const char* verb, const Json& live) {
  const std::string signer = live.at({"spec", "signerName"}).string_or("");
  for (const std::string& name : {signer, signer.substr(0, signer.find('/')) + "/*"}) {
    const AccessRequest access{
        .verb = verb, .group = std::string(certificates_group), .resource = "signers", .name = name};
    if (call.authorizer.decide(call.storage, call.caller, access).allowed) return;
  }
  throw StatusError::forbidden(
      call.type->resource(), call.path.name,
      std::string("user not permitted to ") + verb + " requests with signerName " + Json(signer).dump());
}

}  // namespace

void set_requester(const Call& call, Json& object) {
  if (!is_request(*call.type)) return;
  const Json user = user_document(call.caller);
  Json& spec = object["spec"];
  for (const char* member : {"username", "uid", "groups", "extra"}) {
    const Json& value = user[member];
    const bool empty = value.is_string() ? value.as_string().empty() : value.empty();
    if (value.is_null() || empty)
      spec.erase(member);
    else
      spec[member] = value;
  }
}

void keep_certificate_parts(const ResourceType& type, Json& object, const Json& live,
                            std::string_view subresource) {
  if (!is_request(type)) return;
  copy_member(object, live, "spec");
  if (!std::as_const(object)["status"].is_object()) object["status"] = Json::object();
  if (subresource == "approval") copy_member(object["status"], live["status"], "certificate");
  if (subresource != "status") return;
  preserve_conditions(object, live, "Approved");
  preserve_conditions(object, live, "Denied");
}

void stamp_conditions(const Call& call, Json& object, const Json& live) {
  if (!is_request(*call.type) || std::as_const(object).at({"status", "conditions"}).empty()) return;
  for (Json& condition : object["status"]["conditions"].as_array()) {
    const Json& given = condition;
    if (given["lastUpdateTime"].is_null()) condition["lastUpdateTime"] = timestamp(call.now);
    if (!given["lastTransitionTime"].is_null()) continue;
    const Json before = transition_of(live, given);
    condition["lastTransitionTime"] = before.is_null() ? Json(timestamp(call.now)) : before;
  }
}

FieldErrors check_certificate_request(const ResourceType& type, const Json& object, const Json& live,
                                      std::string_view subresource) {
  if (!is_request(type)) return {};
  if (live.is_null()) return check_spec(object["spec"]);
  FieldErrors errors = check_conditions(object.at({"status", "conditions"}));
  check_decisions(object, live, subresource, errors);
  check_certificate(object, live, errors);
  return errors;
}

void admit_certificate_request(const Call& call, const Json& object, const Json& live,
                               std::string_view subresource) {
  if (!is_request(*call.type)) return;
  if (subresource == "approval") return require_signer_right(call, "approve", live);
  if (subresource == "status") {
    for (const char* member : {"certificate", "conditions"})
      if (object.at({"status", member}) != live.at({"status", member}))
        return require_signer_right(call, "sign", live);
    return;
  }
  if (!live.is_null() || object.at({"spec", "signerName"}) != Json(client_signer)) return;
  const auto read = read_certificate_request(bytes_of(object.at({"spec", "request"})));
  for (const std::string& group : read.organizations)
    if (group == masters_group)
      throw StatusError::forbidden(
          call.type->resource(), object.at({"metadata", "name"}).string_or(""),
          "use of " + std::string(client_signer) + " signer with system:masters group is not allowed");
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
