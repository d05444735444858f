# SPDX-License-Identifier: Apache-2.0
# The embedded API server, lowest folder first; a folder includes itself and those before it.
set(apiserver_headers
  access_recording.hpp api_server.hpp api_server_core.hpp faults.hpp in_process_transport.hpp kubelet.hpp shared_core.hpp
  webhook_caller.hpp)
set(apiserver_sources)

# Texts and their formats: pure functions, independent of resources.
list(APPEND apiserver_sources
  text/address_formats.cpp text/block_yaml.cpp text/certificate_text.cpp text/formats.cpp text/go_json.cpp text/identity.cpp text/ip_address.cpp text/json_path.cpp text/json_problem.cpp text/member_path.cpp text/quantity_text.cpp
  text/regular_expression.cpp text/time_zone.cpp text/timestamps.cpp text/url.cpp text/yaml_document.cpp)

# Schemas of kinds: defaulting, pruning, validation, CEL.
list(APPEND apiserver_sources
  schema/builtin_checks.cpp schema/builtin_data.cpp schema/builtin_defaults.cpp schema/builtin_validation.cpp
  schema/builtin_validation_access.cpp schema/builtin_validation_container.cpp
  schema/builtin_validation_network.cpp schema/builtin_validation_pod.cpp
  schema/builtin_validation_resources.cpp schema/builtin_validation_scaling.cpp
  schema/builtin_validation_service.cpp
  schema/builtin_validation_storage.cpp schema/builtin_warnings.cpp schema/cel.cpp schema/cel_check.cpp
  schema/cel_format.cpp schema/cel_kubernetes.cpp schema/cel_library.cpp schema/cel_lists.cpp schema/cel_network.cpp
  schema/cel_operators.cpp schema/cel_parser.cpp schema/cel_strings.cpp schema/cel_time.cpp
  schema/cel_time_functions.cpp schema/cel_type.cpp schema/cel_validation.cpp schema/cel_value.cpp schema/crd_form.cpp
  schema/decode_error.cpp
  schema/defaults.cpp schema/field_error.cpp schema/metadata_validation.cpp
  schema/name_rules.cpp schema/pointer_fields.cpp schema/pruning.cpp schema/schema.cpp schema/schema_reader.cpp
  schema/schema_validation.cpp schema/status_error.cpp schema/strict_fields.cpp schema/structural.cpp
  schema/webhook_client.cpp)

# Patches, merges and the ownership of fields.
list(APPEND apiserver_sources
  merge/apply.cpp merge/field_merge.cpp merge/field_set.cpp merge/field_walk.cpp merge/json_patch.cpp
  merge/managed_fields.cpp merge/managers.cpp merge/strategic_merge.cpp merge/typed_check.cpp merge/versions.cpp)

# Resource types, their rules, and the store of objects.
list(APPEND apiserver_sources
  store/builtin_rules.cpp store/conversion.cpp store/crd_rules.cpp store/crd_validation.cpp
  store/object_rules.cpp store/registry.cpp store/resource_type.cpp store/service_rules.cpp store/store.cpp
  store/table.cpp store/table_cells.cpp store/table_cells_workloads.cpp)

# OpenAPI documents and their protobuf form.
list(APPEND apiserver_sources
  openapi/openapi_paths.cpp openapi/openapi_protobuf.cpp openapi/openapi_v2.cpp openapi/openapi_v3.cpp)

# Request lines: the path, the options of lists, selectors, the representation that is asked for.
list(APPEND apiserver_sources
  query/field_query.cpp query/label_query.cpp query/label_selector.cpp query/list_options.cpp
  query/negotiation.cpp query/rest_path.cpp query/shard_query.cpp)

# Authentication and authorization.
list(APPEND apiserver_sources
  access/authenticator.cpp access/authorizer.cpp access/policy_rule.cpp)

# Requests under way: their bodies, options and answers.
list(APPEND apiserver_sources
  request/protobuf_document.cpp request/request_body.cpp request/respond.cpp request/write_options.cpp)

# Calls of webhooks, for admission and for conversion.
list(APPEND apiserver_sources
  webhook/conversion_desk.cpp webhook/conversion_review.cpp webhook/conversions.cpp webhook/webhook.cpp
  webhook/webhook_admission.cpp webhook/webhook_review.cpp)

# Verbs on objects.
list(APPEND apiserver_sources
  rest/admission.cpp rest/certificate_signing.cpp rest/deletion.cpp rest/discovery.cpp rest/escalation.cpp
  rest/list_page.cpp rest/patch_document.cpp rest/rest_delete.cpp rest/rest_patch.cpp rest/rest_pod.cpp
  rest/rest_read.cpp rest/rest_review.cpp rest/rest_scale.cpp rest/rest_token.cpp rest/rest_write.cpp
  rest/storing.cpp rest/watch_hub.cpp rest/write.cpp)

# Controllers that a server runs itself.
list(APPEND apiserver_sources
  controllers/crd_controller.cpp controllers/garbage_collector.cpp controllers/kubernetes_service.cpp
  controllers/namespace_controller.cpp controllers/role_controller.cpp)

# The core: routes, watches, and the turns of all of them.
list(APPEND apiserver_sources
  core/api_server_core.cpp core/lost_version.cpp core/request_deadline.cpp core/rest_watch.cpp core/router.cpp)

# Shells around the core: sockets, TLS, the in-process transport, faults.
list(APPEND apiserver_sources
  shell/api_server.cpp shell/core_host.cpp shell/core_session.cpp shell/faults.cpp shell/http_server.cpp
  shell/in_process_transport.cpp shell/kubeconfig_writer.cpp shell/kubelet_messages.cpp shell/manifest.cpp
  shell/node_desk.cpp shell/peer_name.cpp shell/pod_channel.cpp shell/pod_socket.cpp
  shell/request_target.cpp shell/shared_core.cpp shell/status_answer.cpp shell/tls_certificates.cpp
  shell/access_recording.cpp shell/webhook_caller.cpp)
