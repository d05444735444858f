# SPDX-License-Identifier: Apache-2.0
set(serve_headers server.hpp tls_files.hpp)
set(serve_sources byte_stream.cpp connection_table.cpp file_watch.cpp listener.cpp routes.cpp server.cpp session.cpp site.cpp stable_text.cpp target.cpp
  tls_context.cpp wire.cpp)
