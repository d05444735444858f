# SPDX-License-Identifier: Apache-2.0
# The client, lowest folder first; a folder includes itself and those before it.
set(client_headers
  access.hpp access_record.hpp access_recorder.hpp call.hpp calls.hpp client.hpp config.hpp detail/edit_check.hpp
  discovery.hpp errors.hpp exec_call.hpp flow_control.hpp frame_splitter.hpp list_splitter.hpp options.hpp
  pod_connection_call.hpp pod_exec.hpp pod_logs.hpp policy_rule.hpp port_forward.hpp request_meter.hpp
  resource_client.hpp rest_request.hpp retry.hpp subresources.hpp wait.hpp watch.hpp)
set(client_sources)

# Configuration and credentials.
list(APPEND client_sources
  config/access_file.cpp config/config.cpp config/credential_check.cpp config/credentials.cpp config/exec_plugin.cpp
  config/kubeconfig.cpp config/yaml_text.cpp)

# A request: how it is sent, tried again, counted and observed, and the errors that answer it.
list(APPEND client_sources
  request/client_state.cpp request/delayer.cpp request/errors.cpp request/request_meter.cpp request/request_span.cpp
  request/rest_request.cpp request/retry_core.cpp request/socket_call.cpp request/write_log.cpp
  request/write_observer.cpp request/write_spans.cpp)

# Calls, blocking and asynchronous, and the client that makes them.
list(APPEND client_sources
  call/async_call.cpp call/call_flow.cpp call/call_plan.cpp call/calls.cpp call/client.cpp call/edit_core.cpp
  call/edit_plan.cpp call/list_core.cpp call/list_splitter.cpp call/resource_client.cpp call/stream_call.cpp
  call/subresources.cpp call/wait.cpp)

# Watches.
list(APPEND client_sources
  watch/async_watch.cpp watch/frame_splitter.cpp watch/watch.cpp watch/watch_core.cpp watch/watch_flow.cpp)

# Logs, commands and ports of Pods.
list(APPEND client_sources
  pods/exec_call.cpp pods/exec_core.cpp pods/exec_request.cpp pods/pod_call.cpp pods/pod_connection_call.cpp
  pods/pod_exec.cpp pods/pod_logs.cpp pods/pod_stream.cpp pods/port_core.cpp pods/port_forward.cpp)

# Kinds that a server has, and rights at it.
list(APPEND client_sources
  discovery/access.cpp discovery/access_record.cpp discovery/access_recorder.cpp discovery/discovery.cpp
  discovery/discovery_table.cpp discovery/policy_rule.cpp)
