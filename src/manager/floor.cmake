# SPDX-License-Identifier: Apache-2.0
set(manager_headers endpoint.hpp flag_set.hpp lifecycle_core.hpp log.hpp manager.hpp manifests.hpp run.hpp)
set(manager_sources access_core.cpp access_reviewer.cpp cache_divider.cpp clusters_part.cpp console_history.cpp console_page.cpp console_routes.cpp console_sample.cpp console_shell.cpp deployment_args.cpp derived_rules.cpp endpoint.cpp explain_routes.cpp flag_set.cpp flags.cpp guarded_check.cpp kinds.cpp lifecycle_core.cpp log.cpp manager.cpp manager_metrics.cpp manager_options.cpp manifest_objects.cpp operations.cpp preflight.cpp print_manifests.cpp
  probes.cpp rbac_objects.cpp run.cpp settings.cpp
  settings_file.cpp signals.cpp webhook_part.cpp webhook_table.cpp)
