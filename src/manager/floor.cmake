# SPDX-License-Identifier: Apache-2.0
set(manager_headers lifecycle_core.hpp log.hpp)
set(manager_sources flags.cpp lifecycle_core.cpp log.cpp yaml.cpp)
