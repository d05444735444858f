# SPDX-License-Identifier: Apache-2.0
set(tracing_headers otlp_exporter.hpp)
set(tracing_sources export_core.cpp otlp_exporter.cpp otlp_json.cpp)
