# SPDX-License-Identifier: Apache-2.0
set(manager_headers endpoint.hpp flag_set.hpp lifecycle_core.hpp log.hpp manager.hpp run.hpp)
set(manager_sources endpoint.cpp explain_routes.cpp flag_set.cpp flags.cpp guarded_check.cpp kinds.cpp lifecycle_core.cpp log.cpp manager.cpp manager_metrics.cpp operations.cpp preflight.cpp
  probes.cpp run.cpp settings.cpp
  settings_file.cpp signals.cpp webhook_part.cpp webhook_table.cpp)
