# SPDX-License-Identifier: Apache-2.0
# The harness and helpers for tests of users.
set(testing_headers admit.hpp harness.hpp differences.hpp environment.hpp etcd_server.hpp explore.hpp faulty_store.hpp log_recorder.hpp object.hpp
  operations.hpp plan.hpp property_change.hpp run.hpp running_manager.hpp simulation.hpp wait.hpp)
set(testing_sources admit.cpp begun_write.cpp differences.cpp environment.cpp faulty_store.cpp log_recorder.cpp
  object.cpp running_manager.cpp scripted_command.cpp wait.cpp)

# A process, its server and its clock in one thread.
list(APPEND testing_sources harness/harness.cpp harness/harness_impl.cpp harness/harness_report.cpp harness/harness_time.cpp harness/harness_transport.cpp
  harness/harness_webhooks.cpp)

# The stand-in for etcd: a core, and its shell.
list(APPEND testing_sources etcd/etcd_core.cpp etcd/etcd_data.cpp etcd/etcd_message.cpp etcd/etcd_server.cpp)

# The real control plane: processes.
list(APPEND testing_sources control_plane/child_process.cpp control_plane/component_files.cpp control_plane/control_plane.cpp)

# Exploration of an operator: cores, and what drives them in a harness.
list(APPEND testing_sources explore/end_state.cpp explore/enumerator.cpp explore/explore.cpp explore/intervention_transports.cpp explore/interventions.cpp
  explore/noticed_changes.cpp explore/plan.cpp explore/plan_core.cpp explore/run_comparison.cpp explore/run_error.cpp explore/runner.cpp explore/timeline.cpp explore/trace.cpp explore/watch_filter.cpp)

# Changes of an object, one property at a time: cores, and what drives them in harnesses.
list(APPEND testing_sources operations/campaign.cpp operations/candidates.cpp operations/change_assessment.cpp operations/error_report.cpp operations/known_values.cpp
  operations/operation_runner.cpp operations/operations.cpp operations/properties.cpp operations/property_change.cpp operations/property_path.cpp
  operations/text_candidates.cpp)

# Simulation of a whole cluster: cores, and what drives them from one heap of events.
list(APPEND testing_sources simulation/network_core.cpp simulation/simulate.cpp simulation/simulated_clock.cpp simulation/simulated_cluster.cpp
  simulation/simulated_exchange.cpp simulation/simulated_host.cpp simulation/simulated_network.cpp simulation/simulated_replica.cpp
  simulation/simulated_server.cpp simulation/simulation_audit.cpp simulation/simulation_run.cpp simulation/simulation_trace.cpp
  simulation/storm_core.cpp simulation/swarm.cpp)
