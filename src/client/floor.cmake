# SPDX-License-Identifier: Apache-2.0
set(client_headers
  access.hpp access_record.hpp access_recorder.hpp call.hpp calls.hpp client.hpp config.hpp detail/edit_check.hpp
  discovery.hpp errors.hpp exec_call.hpp flow_control.hpp frame_splitter.hpp list_splitter.hpp options.hpp
  pod_connection_call.hpp pod_exec.hpp pod_logs.hpp policy_rule.hpp port_forward.hpp request_meter.hpp
  resource_client.hpp rest_request.hpp retry.hpp subresources.hpp wait.hpp watch.hpp)
set(client_sources
  access.cpp access_file.cpp access_record.cpp access_recorder.cpp async_call.cpp async_watch.cpp call_flow.cpp
  call_plan.cpp calls.cpp client.cpp client_state.cpp config.cpp credential_check.cpp credentials.cpp delayer.cpp
  discovery.cpp discovery_table.cpp edit_core.cpp edit_plan.cpp errors.cpp exec_call.cpp exec_core.cpp exec_plugin.cpp
  exec_request.cpp frame_splitter.cpp kubeconfig.cpp list_core.cpp list_splitter.cpp pod_call.cpp
  pod_connection_call.cpp pod_exec.cpp pod_logs.cpp pod_stream.cpp policy_rule.cpp port_core.cpp port_forward.cpp
  request_meter.cpp request_span.cpp resource_client.cpp rest_request.cpp retry_core.cpp socket_call.cpp
  stream_call.cpp subresources.cpp wait.cpp watch.cpp watch_core.cpp watch_flow.cpp write_log.cpp write_observer.cpp
  write_spans.cpp yaml_text.cpp)
