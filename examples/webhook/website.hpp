// SPDX-License-Identifier: Apache-2.0
// Websites in two versions, with their webhooks and the conversion.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

namespace v1 {

struct WebsiteSpec {
  int size = 1;
  std::string image;
};
EVENKEEL_FIELDS(WebsiteSpec, (size, ek::minimum(0)), image)

struct Website {
  static constexpr ek::ResourceInfo resource{.group = "webhook.evenkeel.dev",
                                             .version = "v1",
                                             .kind = "Website",
                                             .plural = "websites",
                                             .installs_crd = true};
  static constexpr ek::CrdVersion crd_version{.storage = false,
                                              .deprecation_warning = "Website v1 ends in a year; use v2"};
  ek::ObjectMeta metadata;
  WebsiteSpec spec;
};
EVENKEEL_FIELDS(Website, metadata, spec)

}  // namespace v1

namespace v2 {

struct WebsiteSpec {
  std::optional<int> replicas;
  std::string image;
};
EVENKEEL_FIELDS(WebsiteSpec, (replicas, ek::minimum(0)), image)

struct Website {
  static constexpr ek::ResourceInfo resource{.group = "webhook.evenkeel.dev",
                                             .version = "v2",
                                             .kind = "Website",
                                             .plural = "websites",
                                             .installs_crd = true};
  ek::ObjectMeta metadata;
  WebsiteSpec spec;
};
EVENKEEL_FIELDS(Website, metadata, spec)

}  // namespace v2

inline void complete(v2::Website& site, const ek::AdmissionRequest& request) {
  if (!site.spec.replicas) site.spec.replicas = 1;
  site.metadata.annotations.try_emplace("webhook.evenkeel.dev/author", request.user.name);
}

inline ek::ValidationResult check(const ek::Validation<v2::Website>& it) {
  if (it.request.operation == ek::AdmissionOperation::remove)
    return it.object.metadata.labels.contains("keep") ? ek::ValidationResult::deny("it has the label keep")
                                                      : ek::ValidationResult::allow();
  ek::ValidationResult result;
  if (it.object.spec.image.empty()) result.required("spec.image", "a website has no default image");
  if (it.object.spec.replicas.value_or(1) > 10) result.invalid("spec.replicas", "must be at most 10");
  if (it.old != nullptr && it.old->spec.image != it.object.spec.image)
    result.warn("all pods of the website restart");
  return result;
}

inline ek::Webhook website_webhook() {
  using ek::AdmissionOperation;
  return ek::webhook_for<v2::Website>().defaults(complete).validates(
      check,
      {.operations = {AdmissionOperation::create, AdmissionOperation::update, AdmissionOperation::remove}});
}

inline ek::Conversion website_conversion() {
  return ek::conversion_through<v2::Website>().converts<v1::Website>(
      [](const v1::Website& from, v2::Website& to) {
        to.spec.replicas = from.spec.size;
        to.spec.image = from.spec.image;
      },
      [](const v2::Website& from, v1::Website& to) {
        to.spec.size = from.spec.replicas.value_or(1);
        to.spec.image = from.spec.image;
      });
}
