# SPDX-License-Identifier: Apache-2.0
set(controller_headers builder.hpp context.hpp controller.hpp handler.hpp latency.hpp predicate.hpp reconciler.hpp
  result.hpp result_core.hpp)
set(controller_sources backoff_core.cpp context.cpp controller.cpp flight_recorder.cpp handler.cpp predicate.cpp report.cpp result_core.cpp)
