# SPDX-License-Identifier: Apache-2.0
set(client_headers
  client.hpp config.hpp discovery.hpp detail/edit_check.hpp errors.hpp frame_splitter.hpp list_splitter.hpp options.hpp request_meter.hpp resource_client.hpp
  rest_request.hpp retry.hpp wait.hpp watch.hpp)
set(client_sources
  client.cpp client_edits.cpp client_lists.cpp client_state.cpp config.cpp credential_check.cpp credentials.cpp delayer.cpp discovery.cpp discovery_table.cpp edit_plan.cpp
  errors.cpp exec_plugin.cpp frame_splitter.cpp kubeconfig.cpp list_core.cpp list_splitter.cpp
  request_meter.cpp resource_client.cpp rest_request.cpp retry_core.cpp watch.cpp
  watch_core.cpp write_log.cpp yaml_text.cpp)
