# SPDX-License-Identifier: Apache-2.0
set(http_headers client_certificate.hpp curl_transport.hpp event_loop.hpp job_runner.hpp message.hpp tls.hpp
  transport.hpp web_socket.hpp)
set(http_sources blocking_calls.cpp connection_prerequisites.cpp curl_connection.cpp curl_exchange.cpp curl_loop.cpp curl_transport.cpp
  curl_web_socket.cpp event_loop.cpp job_runner.cpp message.cpp openssl_hooks.cpp pair_check.cpp plain_http.cpp proxy.cpp
  socket_poller.cpp started_web_socket.cpp tls_files.cpp transport.cpp wire_check.cpp)
