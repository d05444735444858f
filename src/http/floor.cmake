# SPDX-License-Identifier: Apache-2.0
set(http_headers client_certificate.hpp curl_transport.hpp message.hpp tls.hpp transport.hpp)
set(http_sources blocking_calls.cpp curl_exchange.cpp curl_loop.cpp curl_transport.cpp message.cpp
  plain_http.cpp readiness.cpp tls_files.cpp transport.cpp wire_check.cpp)
