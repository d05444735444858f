// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of apiextensions.k8s.io v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiextensions_v1 {

struct ServiceReference {
  std::string name = {};
  std::string namespace_ = {};
  std::optional<std::string> path = {};
  std::optional<std::int32_t> port = {};

  bool operator==(const ServiceReference&) const = default;
};

struct WebhookClientConfig {
  std::optional<Bytes> ca_bundle = {};
  std::optional<ServiceReference> service = {};
  std::optional<std::string> url = {};

  bool operator==(const WebhookClientConfig&) const = default;
};

struct WebhookConversion {
  std::optional<WebhookClientConfig> client_config = {};
  std::vector<std::string> conversion_review_versions = {};

  bool operator==(const WebhookConversion&) const = default;
};

struct CustomResourceConversion {
  std::string strategy = {};
  std::optional<WebhookConversion> webhook = {};

  bool operator==(const CustomResourceConversion&) const = default;
};

struct CustomResourceDefinitionNames {
  std::vector<std::string> categories = {};
  std::optional<std::string> kind = {};
  std::optional<std::string> list_kind = {};
  std::optional<std::string> plural = {};
  std::vector<std::string> short_names = {};
  std::optional<std::string> singular = {};

  bool operator==(const CustomResourceDefinitionNames&) const = default;
};

struct CustomResourceColumnDefinition {
  std::string name = {};
  std::optional<std::string> description = {};
  std::optional<std::string> format = {};
  std::string json_path = {};
  std::optional<std::int32_t> priority = {};
  std::string type = {};

  bool operator==(const CustomResourceColumnDefinition&) const = default;
};

struct CustomResourceValidation {
  Json open_api_v3_schema = {};

  bool operator==(const CustomResourceValidation&) const = default;
};

struct SelectableField {
  std::string json_path = {};

  bool operator==(const SelectableField&) const = default;
};

struct CustomResourceSubresourceScale {
  std::optional<std::string> label_selector_path = {};
  std::string spec_replicas_path = {};
  std::string status_replicas_path = {};

  bool operator==(const CustomResourceSubresourceScale&) const = default;
};

struct CustomResourceSubresources {
  Json status = {};
  std::optional<CustomResourceSubresourceScale> scale = {};

  bool operator==(const CustomResourceSubresources&) const = default;
};

struct CustomResourceDefinitionVersion {
  std::string name = {};
  std::vector<CustomResourceColumnDefinition> additional_printer_columns = {};
  std::optional<bool> deprecated = {};
  std::optional<std::string> deprecation_warning = {};
  std::optional<CustomResourceValidation> schema = {};
  std::vector<SelectableField> selectable_fields = {};
  bool served = false;
  bool storage = false;
  std::optional<CustomResourceSubresources> subresources = {};

  bool operator==(const CustomResourceDefinitionVersion&) const = default;
};

struct CustomResourceDefinitionSpec {
  std::optional<CustomResourceConversion> conversion = {};
  std::optional<std::string> group = {};
  CustomResourceDefinitionNames names = {};
  std::optional<bool> preserve_unknown_fields = {};
  std::optional<std::string> scope = {};
  std::vector<CustomResourceDefinitionVersion> versions = {};

  bool operator==(const CustomResourceDefinitionSpec&) const = default;
};

struct CustomResourceDefinitionCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const CustomResourceDefinitionCondition&) const = default;
};

struct CustomResourceDefinitionStatus {
  CustomResourceDefinitionNames accepted_names = {};
  std::vector<CustomResourceDefinitionCondition> conditions = {};
  std::optional<std::int64_t> observed_generation = {};
  std::vector<std::string> stored_versions = {};

  bool operator==(const CustomResourceDefinitionStatus&) const = default;
};

/// apiextensions.k8s.io/v1 CustomResourceDefinition.
struct CustomResourceDefinition {
  static constexpr ResourceInfo resource{.group = "apiextensions.k8s.io",
                                         .version = "v1",
                                         .kind = "CustomResourceDefinition",
                                         .plural = "customresourcedefinitions",
                                         .scope = Scope::cluster,
                                         .short_name = "crd"};
  ObjectMeta metadata = {};
  CustomResourceDefinitionSpec spec = {};
  CustomResourceDefinitionStatus status = {};

  bool operator==(const CustomResourceDefinition&) const = default;
};

EVENKEEL_DECLARE_FIELDS(ServiceReference)
EVENKEEL_DECLARE_FIELDS(WebhookClientConfig)
EVENKEEL_DECLARE_FIELDS(WebhookConversion)
EVENKEEL_DECLARE_FIELDS(CustomResourceConversion)
EVENKEEL_DECLARE_FIELDS(CustomResourceDefinitionNames)
EVENKEEL_DECLARE_FIELDS(CustomResourceColumnDefinition)
EVENKEEL_DECLARE_FIELDS(CustomResourceValidation)
EVENKEEL_DECLARE_FIELDS(SelectableField)
EVENKEEL_DECLARE_FIELDS(CustomResourceSubresourceScale)
EVENKEEL_DECLARE_FIELDS(CustomResourceSubresources)
EVENKEEL_DECLARE_FIELDS(CustomResourceDefinitionVersion)
EVENKEEL_DECLARE_FIELDS(CustomResourceDefinitionSpec)
EVENKEEL_DECLARE_FIELDS(CustomResourceDefinitionCondition)
EVENKEEL_DECLARE_FIELDS(CustomResourceDefinitionStatus)
EVENKEEL_DECLARE_FIELDS(CustomResourceDefinition)

}  // namespace apiextensions_v1

}  // namespace v0
}  // namespace evenkeel
