# SPDX-License-Identifier: Apache-2.0
set(testing_headers)
set(testing_sources)

# The shells: sockets, the in-process transport, faults.
list(APPEND testing_headers api_server.hpp faults.hpp in_process_transport.hpp shared_core.hpp)
list(APPEND testing_sources api_server.cpp byte_stream.cpp core_host.cpp faults.cpp field_error.cpp http_server.cpp
  http_session.cpp in_process_transport.cpp kubeconfig_writer.cpp request_target.cpp rest_path.cpp shared_core.cpp
  status_answer.cpp status_error.cpp tls_certificates.cpp)

# What the server knows about shapes: pure functions over Json.
list(APPEND testing_sources apply.cpp builtin_data.cpp builtin_defaults.cpp decode_error.cpp defaults.cpp
  field_merge.cpp field_set.cpp field_walk.cpp formats.cpp managed_fields.cpp managers.cpp pruning.cpp
  regular_expression.cpp schema.cpp schema_reader.cpp strategic_merge.cpp strict_fields.cpp structural.cpp typed_check.cpp)
