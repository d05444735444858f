# SPDX-License-Identifier: Apache-2.0
set(testing_headers)
set(testing_sources)

# The shells: sockets, the in-process transport, faults.
list(APPEND testing_headers api_server.hpp faults.hpp in_process_transport.hpp shared_core.hpp)
list(APPEND testing_sources api_server.cpp byte_stream.cpp core_host.cpp faults.cpp field_error.cpp http_server.cpp
  http_session.cpp in_process_transport.cpp kubeconfig_writer.cpp request_target.cpp rest_path.cpp shared_core.cpp
  status_answer.cpp status_error.cpp tls_certificates.cpp)
