# SPDX-License-Identifier: Apache-2.0
set(api_headers json.hpp resource.hpp)
set(api_sources json.cpp)
