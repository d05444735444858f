// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/apiextensions.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiextensions_v1 {

EVENKEEL_DEFINE_FIELDS(ServiceReference, name, namespace_, path, port)
EVENKEEL_DEFINE_FIELDS(WebhookClientConfig, ca_bundle, service, url)
EVENKEEL_DEFINE_FIELDS(WebhookConversion, client_config, conversion_review_versions)
EVENKEEL_DEFINE_FIELDS(CustomResourceConversion, strategy, webhook)
EVENKEEL_DEFINE_FIELDS(CustomResourceDefinitionNames, categories, kind, list_kind, plural, short_names,
                       singular)
EVENKEEL_DEFINE_FIELDS(CustomResourceColumnDefinition, name, description, format, json_path, priority, type)
EVENKEEL_DEFINE_FIELDS(CustomResourceValidation, (open_api_v3_schema, wire("openAPIV3Schema")))
EVENKEEL_DEFINE_FIELDS(SelectableField, json_path)
EVENKEEL_DEFINE_FIELDS(CustomResourceSubresourceScale, label_selector_path, spec_replicas_path,
                       status_replicas_path)
EVENKEEL_DEFINE_FIELDS(CustomResourceSubresources, status, scale)
EVENKEEL_DEFINE_FIELDS(CustomResourceDefinitionVersion, name, additional_printer_columns, deprecated,
                       deprecation_warning, schema, selectable_fields, served, storage, subresources)
EVENKEEL_DEFINE_FIELDS(CustomResourceDefinitionSpec, conversion, group, names, preserve_unknown_fields, scope,
                       versions)
EVENKEEL_DEFINE_FIELDS(CustomResourceDefinitionCondition, status, last_transition_time, message,
                       observed_generation, reason, type)
EVENKEEL_DEFINE_FIELDS(CustomResourceDefinitionStatus, accepted_names, (conditions, list_map("type")),
                       observed_generation, stored_versions)
EVENKEEL_DEFINE_FIELDS(CustomResourceDefinition, metadata, spec, status)

}  // namespace apiextensions_v1
}  // namespace v0
}  // namespace evenkeel
