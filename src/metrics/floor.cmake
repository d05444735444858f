# SPDX-License-Identifier: Apache-2.0
set(metrics_headers process.hpp text.hpp)
set(metrics_sources process.cpp text.cpp)
