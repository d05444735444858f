# SPDX-License-Identifier: Apache-2.0
set(manager_headers lifecycle_core.hpp log.hpp manager.hpp run.hpp)
set(manager_sources flags.cpp lifecycle_core.cpp log.cpp manager.cpp preflight.cpp run.cpp settings.cpp
  settings_file.cpp signals.cpp yaml.cpp)
