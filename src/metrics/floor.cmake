# SPDX-License-Identifier: Apache-2.0
set(metrics_headers process.hpp registry.hpp text.hpp)
set(metrics_sources process.cpp registry.cpp text.cpp)
