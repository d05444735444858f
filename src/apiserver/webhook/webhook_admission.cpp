// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook_admission.hpp"

#include <optional>
#include <set>
#include <utility>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/merge/json_patch.hpp"
#include "apiserver/request/request_body.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/text/go_json.hpp"
#include "apiserver/webhook/conversions.hpp"
#include "apiserver/webhook/webhook_review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr int default_timeout_seconds = 10;

std::string review_version(const Webhook& webhook) {
  const Json& versions = webhook.spec["admissionReviewVersions"];
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (const std::string version = versions[i].string_or(""); version == "v1" || version == "v1beta1")
      return "admission.k8s.io/" + version;
  return "admission.k8s.io/v1";
}

/// Returns the answer to a call. Throws WebhookNeeded.
const WebhookAnswer& answer_of(const Call& call, WebhookCall wanted) {
  for (const WebhookProgress::Known& known : call.webhooks.known)
    if (known.url == wanted.url && known.asked == wanted.body) return known.answer;
  throw WebhookNeeded{std::move(wanted)};
}

Json admission_review_in(const WebhookAnswer& answer) {
  try {
    return review_in(answer, "AdmissionReview", "admission.k8s.io");
  } catch (const FailedCall& failed) {
    throw FailedCall{"failed to call webhook: " + failed.problem};
  }
}

/// Returns the response of a review. Throws FailedCall.
Json response_of(const WebhookAnswer& answer, const std::string& version, const Json& uid, WebhookKind kind) {
  const Json review = admission_review_in(answer);
  const auto invalid = [](const std::string& problem) {
    return FailedCall{"received invalid webhook response: " + problem};
  };
  if (const std::string found = review["apiVersion"].string_or(""); found != version)
    throw invalid("expected webhook response of " + version + ", Kind=AdmissionReview, got " + found +
                  ", Kind=AdmissionReview");
  Json response = std::as_const(review)["response"];
  if (!response.is_object()) throw invalid("webhook response was absent");
  if (response["uid"] != uid)
    throw invalid("expected response.uid=" + uid.dump() + ", got " +
                  Json(response["uid"].string_or("")).dump());
  const bool patched = !response["patch"].string_or("").empty();
  const std::string type = response["patchType"].string_or("");
  if (kind == WebhookKind::validating && patched)
    throw invalid("validating webhook may not return response.patch");
  if (kind == WebhookKind::validating && !type.empty())
    throw invalid("validating webhook may not return response.patchType");
  if (patched && type.empty()) throw invalid("webhook returned response.patch but not response.patchType");
  if (!patched && !type.empty()) throw invalid("webhook returned response.patchType but not response.patch");
  if (patched && type != "JSONPatch")
    throw invalid("webhook returned invalid response.patchType of " + Json(type).dump());
  return response;
}

/// Returns the error of a denial.
StatusError denial(const Webhook& webhook, const Json& status) {
  const std::int64_t code = status["code"].integer_or(0);
  const std::string reason = status["reason"].string_or("");
  const std::string message = status["message"].string_or("");
  const std::string text = "admission webhook " + Json(webhook.name()).dump() + " denied the request" +
                           (!message.empty()  ? ": " + message
                            : !reason.empty() ? ": " + reason
                                              : " without explanation");
  return {code < 400 ? 400 : static_cast<int>(code), reason, text, status["details"]};
}

/// Calls a webhook and returns its response. Throws FailedCall, WebhookNeeded, and StatusError for a denial.
Json call_one(Call& call, const Webhook& webhook, WebhookKind kind, const AdmissionEvent& event,
              const ResourceType& type, const Json& object) {
  const std::string version = review_version(webhook);
  Json review = Json::object({{"kind", "AdmissionReview"}, {"apiVersion", version}});
  review["request"] = admission_request(call, event, type, object);
  const Json uid = std::as_const(review)["request"]["uid"];
  WebhookCall wanted = webhook_call(webhook.name(), webhook.spec["clientConfig"],
                                    webhook.spec["timeoutSeconds"].integer_or(default_timeout_seconds));
  wanted.body = review.dump();
  const WebhookAnswer& answer = answer_of(call, std::move(wanted));
  Json response = response_of(answer, version, uid, kind);
  const Json& warnings = std::as_const(response)["warnings"];
  for (std::size_t i = 0; i < warnings.size(); ++i) call.warnings.push_back(warnings[i].string_or(""));
  if (!response["allowed"].bool_or(false)) throw denial(webhook, std::as_const(response)["status"]);
  return response;
}

/// Applies the patch of a response. Returns true if it changed the object.
bool apply_response(Call& call, const ResourceType& type, const Json& response, Json& object) {
  const std::string text = response["patch"].string_or("");
  if (text.empty() || object.is_null()) return false;
  const auto bytes = Bytes::from_base64(text);
  if (!bytes) throw internal_error("illegal base64 data in the patch of a webhook");
  Json patched;
  try {
    const std::string& patch = bytes->value();
    patched = apply_lax_json_patch(in_version(call, object, type), parse_go_json(patch), patch);
  } catch (const std::exception& problem) {
    throw internal_error(problem.what());
  }
  if (!patched.is_object()) throw internal_error("the patch of a webhook left no object");
  patched["apiVersion"] = type.api_version();
  patched = in_version(call, patched, *call.type);
  patched["apiVersion"] = object["apiVersion"];
  if (patched == object) return false;
  object = std::move(patched);
  return true;
}

/// The passes of mutating webhooks: all of them, and then those that want to see later changes.
/// Source: apiserver pkg/admission/plugin/webhook/mutating/reinvocationcontext.go.
class MutatingPasses {
 public:
  MutatingPasses(Call& call, const AdmissionEvent& event, Json& object)
      : call_(call), event_(event), object_(object), hooks_(webhooks(call.storage, WebhookKind::mutating)) {}

  bool run() {
    for (std::size_t i = 0; i < hooks_.size(); ++i) visit(i);
    // A change in this pass is shown to those that it has not reached yet, and to nobody twice.
    for (std::size_t i = 0; changed_ && i < hooks_.size(); ++i)
      if (again_.contains(i)) visit(i);
    return changed_;
  }

 private:
  enum class Outcome : std::uint8_t { skipped, unchanged, changed };

  /// Calls a webhook, and marks those that a change of it concerns.
  void visit(std::size_t i) {
    const Outcome outcome = run_one(hooks_[i]);
    if (outcome == Outcome::changed) {
      again_.insert(called_.begin(), called_.end());
      called_.clear();
    }
    if (outcome != Outcome::skipped && hooks_[i].spec["reinvocationPolicy"] == Json("IfNeeded"))
      called_.insert(i);
  }

  Outcome run_one(const Webhook& hook) {
    const ResourceTypePtr type = matched_type(call_, hook, event_, object_);
    if (!type) return Outcome::skipped;
    try {
      const Json response = call_one(call_, hook, WebhookKind::mutating, event_, *type, object_);
      if (!apply_response(call_, *type, response, object_)) return Outcome::unchanged;
      if (!event_.is_scale) accept(object_);
      changed_ = true;
      return Outcome::changed;
    } catch (const FailedCall& failed) {
      if (!ignores_failures(hook))
        throw internal_error("failed calling webhook " + Json(hook.name()).dump() + ": " + failed.problem);
      return Outcome::unchanged;
    }
  }

  /// Brings a patched object into canonical form.
  void accept(Json& object) const {
    if (const auto problem = decode_error(object, *call_.type->schema)) throw internal_error(*problem);
    shape(object, *call_.type);
  }

  Call& call_;
  const AdmissionEvent& event_;
  Json& object_;
  const std::vector<Webhook> hooks_;
  std::set<std::size_t> called_ = {};  // have seen the object as it is, and want to see changes
  std::set<std::size_t> again_ = {};   // are to be called in the second pass
  bool changed_ = false;
};

}  // namespace

bool has_webhooks(Storage& storage) {
  for (const char* plural : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"})
    if (!storage.store.collection("admissionregistration.k8s.io", plural, false).objects.empty()) return true;
  return false;
}

bool mutate_by_webhooks(Call& call, const AdmissionEvent& event, Json& object) {
  return MutatingPasses(call, event, object).run();
}

void validate_by_webhooks(Call& call, const AdmissionEvent& event, const Json& object) {
  std::optional<StatusError> first;
  for (const Webhook& hook : webhooks(call.storage, WebhookKind::validating)) {
    try {
      if (const ResourceTypePtr type = matched_type(call, hook, event, object))
        call_one(call, hook, WebhookKind::validating, event, *type, object);
    } catch (const FailedCall& failed) {
      if (ignores_failures(hook) || first) continue;
      first = internal_error("failed calling webhook " + Json(hook.name()).dump() + ": " + failed.problem);
    } catch (const StatusError& denied) {
      if (!first) first = denied;
    }
  }
  if (first) throw StatusError(*first);
}

AdmissionEvent admission_event(const Call& call, std::string operation, std::string_view options_kind,
                               bool dry_run) {
  AdmissionEvent out{.operation = std::move(operation),
                     .name = call.path.name,
                     .subresource = call.path.subresource,
                     .dry_run = dry_run};
  out.options = Json::object({{"kind", options_kind}, {"apiVersion", "meta.k8s.io/v1"}});
  if (dry_run) out.options["dryRun"] = Json::array({"All"});
  for (const char* name : {"fieldManager", "fieldValidation"})
    if (call.query.has(name)) out.options[name] = call.query.get(name);
  return out;
}

void admit_deletion(Call& call, const DeleteOptions& options, Json old) {
  if (!has_webhooks(call.storage)) return;
  const AdmissionEvent event{.operation = "DELETE",
                             .name = call.path.name,
                             .old = std::move(old),
                             .options = options.document,
                             .dry_run = options.dry_run};
  Json none;
  mutate_by_webhooks(call, event, none);
  validate_by_webhooks(call, event, none);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
