# SPDX-License-Identifier: Apache-2.0
set(testing_headers)
set(testing_sources)

# The shells: sockets, the in-process transport, faults.
list(APPEND testing_headers api_server.hpp environment.hpp faults.hpp in_process_transport.hpp shared_core.hpp)
list(APPEND testing_sources api_server.cpp core_host.cpp faults.cpp http_server.cpp
  http_session.cpp in_process_transport.cpp kubeconfig_writer.cpp manifest.cpp
  peer_name.cpp request_target.cpp shared_core.cpp
  status_answer.cpp tls_certificates.cpp)

# The stand-in for etcd: a core, and its shell.
list(APPEND testing_headers etcd_server.hpp)
list(APPEND testing_sources etcd_core.cpp etcd_data.cpp etcd_message.cpp etcd_server.cpp)

# The real control plane: processes.
list(APPEND testing_sources child_process.cpp component_files.cpp control_plane.cpp environment.cpp)

# What users write their tests with.
list(APPEND testing_headers bench.hpp differences.hpp faulty_store.hpp log_recorder.hpp object.hpp run.hpp running_manager.hpp wait.hpp)
list(APPEND testing_sources bench.cpp bench_report.cpp bench_transport.cpp differences.cpp faulty_store.cpp log_recorder.cpp object.cpp
  running_manager.cpp wait.cpp)

# What the server knows about shapes: pure functions over Json.
list(APPEND testing_sources apply.cpp builtin_checks.cpp builtin_data.cpp builtin_defaults.cpp builtin_validation.cpp
  builtin_validation_access.cpp builtin_validation_container.cpp builtin_validation_network.cpp builtin_validation_pod.cpp
  builtin_validation_resources.cpp builtin_validation_service.cpp builtin_validation_storage.cpp builtin_warnings.cpp cel.cpp
  cel_functions.cpp cel_kubernetes.cpp cel_parser.cpp cel_time.cpp cel_validation.cpp decode_error.cpp defaults.cpp field_error.cpp
  field_merge.cpp field_set.cpp field_walk.cpp formats.cpp go_text.cpp json_patch.cpp json_path.cpp managed_fields.cpp managers.cpp
  openapi_paths.cpp openapi_protobuf.cpp openapi_v2.cpp openapi_v3.cpp pruning.cpp regular_expression.cpp schema.cpp
  schema_reader.cpp schema_validation.cpp strategic_merge.cpp strict_fields.cpp structural.cpp table.cpp table_cells.cpp
  table_cells_workloads.cpp typed_check.cpp)

# The core: what every request is answered.
list(APPEND testing_headers api_server_core.hpp)
list(APPEND testing_sources admission.cpp api_server_core.cpp builtin_rules.cpp conversion.cpp crd_controller.cpp crd_rules.cpp crd_validation.cpp
  deletion.cpp discovery.cpp field_query.cpp garbage_collector.cpp identity.cpp json_problem.cpp kubernetes_service.cpp label_query.cpp
  list_options.cpp list_page.cpp metadata_validation.cpp name_rules.cpp namespace_controller.cpp negotiation.cpp object_rules.cpp
  patch_document.cpp protobuf_document.cpp registry.cpp request_body.cpp resource_type.cpp respond.cpp
  rest_delete.cpp rest_patch.cpp rest_pod.cpp
  rest_read.cpp rest_review.cpp rest_scale.cpp rest_watch.cpp rest_write.cpp router.cpp service_rules.cpp store.cpp timestamps.cpp
  watch_hub.cpp write.cpp write_options.cpp yaml_document.cpp yaml_scalar.cpp yaml_writer.cpp rest_path.cpp status_error.cpp)
list(REMOVE_DUPLICATES testing_sources)
