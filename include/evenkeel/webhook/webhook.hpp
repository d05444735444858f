// SPDX-License-Identifier: Apache-2.0
// Admission webhooks of a kind: functions that set defaults and that validate, typed or untyped.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/webhook/admission.hpp>
#include <evenkeel/webhook/validation_result.hpp>

namespace evenkeel {
inline namespace v0 {

/// Reaction of the API server to a webhook that it cannot reach.
enum class FailurePolicy : std::uint8_t { fail, ignore };

/// A condition in CEL; the API server calls the webhook only if all are true.
struct MatchCondition {
  std::string name = {};
  std::string expression = {};
};

/// The entry of a webhook configuration, apart from the address; see webhook_configurations().
struct WebhookOptions {
  std::vector<AdmissionOperation> operations = {AdmissionOperation::create, AdmissionOperation::update};
  FailurePolicy failure_policy = FailurePolicy::fail;
  Duration timeout = std::chrono::seconds{10};  ///< From 1 s to 30 s, in whole seconds.
  std::vector<std::string> subresources = {};   ///< In addition to the object: "status", "scale".
  Json namespace_selector = {};                 ///< A LabelSelector. Null: every namespace.
  Json object_selector = {};                    ///< A LabelSelector. Null: every object.
  std::vector<MatchCondition> match_conditions = {};
};

/// A write to be validated, with the objects decoded.
template <class T>
struct Validation {
  /// The object as it will be stored; for a deletion, the object that is deleted.
  const T& object;
  const T* old = nullptr;           ///< The object before; null for a creation.
  const AdmissionRequest& request;  ///< Operation, user, dry run and the documents themselves.
};

/// The webhooks of one kind, without its type. Made by webhook_for().
class EVENKEEL_API Webhook {
 public:
  /// Returns the document with its defaults; must keep unknown members.
  using Defaulter = std::function<Json(const AdmissionRequest& request)>;
  using Validator = std::function<ValidationResult(const AdmissionRequest& request)>;

  explicit Webhook(ResourceId resource) : resource_(std::move(resource)) {}

  const ResourceId& resource() const noexcept { return resource_; }
  const Defaulter& defaulter() const noexcept { return defaulter_; }
  const Validator& validator() const noexcept { return validator_; }
  const WebhookOptions& defaulting() const noexcept { return defaulting_; }
  const WebhookOptions& validating() const noexcept { return validating_; }

  void set_defaulter(Defaulter defaulter, WebhookOptions options);
  void set_validator(Validator validator, WebhookOptions options);

 private:
  ResourceId resource_;
  Defaulter defaulter_;
  Validator validator_;
  WebhookOptions defaulting_;
  WebhookOptions validating_;
};

/// Paths as kubebuilder has them: "/mutate-demo-example-com-v1-website". The core group is empty:
/// "/mutate--v1-pod". Source: controller-runtime pkg/builder/webhook.go, generateMutatePath.
EVENKEEL_API std::string mutate_path(const ResourceId& resource);
EVENKEEL_API std::string validate_path(const ResourceId& resource);

namespace detail {

EVENKEEL_API std::string describe(const AdmissionRequest& request, std::string_view document);

template <class T>
T decode_admitted(const Json& document, const AdmissionRequest& request, std::string_view member) {
  if constexpr (std::same_as<T, DynamicObject>) {
    return DynamicObject(document);
  } else {
    return from_tree<T>(document, describe(request, member));
  }
}

template <class T>
Json defaulted(const AdmissionRequest& request, const T& before, const T& after) {
  if constexpr (std::same_as<T, DynamicObject>) {
    return after.body();
  } else {
    return overlay(request.object, before, after);
  }
}

}  // namespace detail

/// Webhooks of the kind T, or of any kind for T = DynamicObject.
///
///     manager.add(ek::webhook_for<Website>()
///                     .defaults([](Website& site, const ek::AdmissionRequest&) { ... })
///                     .validates([](const ek::Validation<Website>& it) -> ek::ValidationResult { ... }));
///
/// An exception of a function denies the write: an ApiError with its status, a DecodeError of the object with
/// 400, any other with 500.
/// Thread safety: the functions are called concurrently.
template <class T>
class WebhookFor {
 public:
  explicit WebhookFor(ResourceId resource) : webhook_(std::move(resource)) {}

  /// Sets the function that completes an object. It is not called for deletions. Fields that T does not
  /// declare are preserved, and nothing is patched if it changes nothing. It may be called again for the
  /// object that it returned, and must then change nothing.
  template <std::invocable<T&, const AdmissionRequest&> F>
  WebhookFor&& defaults(F complete, WebhookOptions options = {}) && {
    webhook_.set_defaulter(
        [complete = std::move(complete)](const AdmissionRequest& request) {
          const T before = detail::decode_admitted<T>(request.object, request, "object");
          T after = before;
          complete(after, request);
          return detail::defaulted(request, before, after);
        },
        std::move(options));
    return std::move(*this);
  }

  /// Sets the function that accepts or denies a write. Deletions are submitted only if `options.operations`
  /// names them.
  template <class F>
  requires std::same_as < std::invoke_result_t < F, const Validation<T>
  & >, ValidationResult > WebhookFor&& validates(F check, WebhookOptions options = {}) && {
    webhook_.set_validator(
        [check = std::move(check)](const AdmissionRequest& request) {
          std::optional<T> now, old;
          if (!request.object.is_null()) now = detail::decode_admitted<T>(request.object, request, "object");
          if (!request.old_object.is_null())
            old = detail::decode_admitted<T>(request.old_object, request, "oldObject");
          if (!now && !old) return ValidationResult::allow();  // a connection has options only
          return check(
              Validation<T>{.object = now ? *now : *old, .old = old ? &*old : nullptr, .request = request});
        },
        std::move(options));
    return std::move(*this);
  }

  operator Webhook() && { return std::move(webhook_); }

 private:
  Webhook webhook_;
};

template <ObjectType T>
WebhookFor<T> webhook_for() {
  return WebhookFor<T>(ResourceId(T::resource));
}
/// Returns webhooks of a kind without a C++ type, whose functions get a DynamicObject.
inline WebhookFor<DynamicObject> webhook_for(ResourceId resource) {
  return WebhookFor<DynamicObject>(std::move(resource));
}

}  // namespace v0
}  // namespace evenkeel
