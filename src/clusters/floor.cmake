# SPDX-License-Identifier: Apache-2.0
set(clusters_headers cluster.hpp cluster_provider.hpp cluster_set.hpp kubeconfig_directory.hpp kubeconfig_secrets.hpp)
set(clusters_sources blocking_pool.cpp cluster.cpp cluster_events.cpp cluster_loop.cpp cluster_member.cpp cluster_set.cpp fair_work_queue.cpp
  kubeconfig_directory.cpp kubeconfig_secrets.cpp membership_core.cpp reach_core.cpp reach_transport.cpp)
