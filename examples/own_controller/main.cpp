// SPDX-License-Identifier: Apache-2.0
// Writes the number of entries of each ConfigMap into its annotation example.com/entries.
//   own-controller    runs until SIGINT or SIGTERM; the cluster is that of kubectl
#include <csignal>
#include <cstdio>
#include <exception>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>

#include "count_entries.hpp"
#include "own_controller.hpp"

int main() try {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread
  const ek::Client client(ek::load_config());
  const OwnController controller(client, count_entries_with(client));
  int received = 0;
  sigwait(&signals, &received);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own-controller: %s\n", error.what());
  return 1;
}
