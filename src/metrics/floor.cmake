# SPDX-License-Identifier: Apache-2.0
set(metrics_headers text.hpp)
set(metrics_sources text.cpp)
