// SPDX-License-Identifier: Apache-2.0
// A real control plane as a program, with the interface of evenkeel-apiserver: for kubectl, and for tests of
// operators in any language that run against both.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include <evenkeel/testing/environment.hpp>

#include "programs/common/program.hpp"

namespace {

namespace ek = evenkeel;

constexpr char name[] = "evenkeel-control-plane";

struct Flags {
  ek::testing::EnvironmentOptions environment = {};
  std::string kubeconfig = {};
  std::uint32_t timeout_seconds = 60;
};

void declare(CLI::App& app, Flags& flags) {
  ek::testing::EnvironmentOptions& options = flags.environment;
  app.add_option("--binaries", options.binaries,
                 "Directory that is searched first for etcd, kube-apiserver and kube-controller-manager")
      ->type_name("DIRECTORY");
  app.add_option("--etcd", options.etcd, "Path of etcd; default: it is searched as the others are")
      ->type_name("FILE");
  app.add_flag("--controller-manager", options.controller_manager,
               "Run kube-controller-manager, too: garbage collection, namespaces, Deployments, ReplicaSets");
  app.add_option("--controllers", options.controllers, "Controllers that it runs, separated by commas")
      ->type_name("NAMES")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--token", options.token, "Bearer token of the administrator; empty: a random one");
  app.add_option("--write-kubeconfig", flags.kubeconfig, "Write a kubeconfig for this server")
      ->type_name("FILE");
  app.add_option("--crd", options.manifest_files,
                 "Create the objects in this manifest, or in those of this directory, first; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--timeout", flags.timeout_seconds, "Timeout of the start, in seconds")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  for (auto& [flag, target] : {std::pair("--etcd-flag", &options.etcd_flags),
                               std::pair("--api-server-flag", &options.api_server_flags),
                               std::pair("--controller-manager-flag", &options.controller_manager_flags)})
    app.add_option(flag, *target, "Add this to its command line, e.g. --api-server-flag=--v=4; repeatable")
        ->type_name("FLAG")
        ->allow_extra_args(false);
}

void serve(Flags& flags) {
  const sigset_t signals = ek::program::block_signals();
  flags.environment.timeout = std::chrono::seconds{flags.timeout_seconds};
  ek::testing::Environment environment(flags.environment);
  if (!flags.kubeconfig.empty()) ek::program::write_private_file(flags.kubeconfig, environment.kubeconfig());
  ek::program::serve_until_told(name, environment.url(), signals);
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("A real control plane, etcd and kube-apiserver, for tests: removed when it ends.", name);
  app.set_version_flag("--version", "evenkeel-control-plane " EVENKEEL_VERSION);
  declare(app, flags);
  return ek::program::run(app, argc, argv, [&flags] { serve(flags); });
}
