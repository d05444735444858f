// SPDX-License-Identifier: Apache-2.0
// The command-line tool to inspect and repair the shared state of operator instances. docs/coordination.md
// describes it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>

#include <CLI/CLI.hpp>

#ifdef EVENKEEL_WITH_FOUNDATIONDB
#include <evenkeel/coordination/foundationdb_store.hpp>
#endif

#include "programs/coordctl/commands.hpp"

namespace {

using evenkeel::program::CoordFlags;

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

using Command = int (*)(const CoordFlags&);

CLI::App* add(CLI::App& app, const char* name, const char* help, Command command, Command& chosen) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->callback([command, &chosen] { chosen = command; });
  return sub;
}

void declare_common(CLI::App& app, CoordFlags& flags) {
  app.add_option(
         "--store", flags.store,
         "etcd://HOST:PORT[,HOST:PORT], etcds://USER:PASSWORD@HOST:PORT or kube://[CONTEXT/]NAMESPACE/NAME"
#ifdef EVENKEEL_WITH_FOUNDATIONDB
         " or fdb://CLUSTER_FILE"
#endif
         )
      ->envname("COORDCTL_STORE")
      ->required();
  app.add_option("--root", flags.root, "Key prefix; must match the operators' --root")
      ->envname("COORDCTL_ROOT")
      ->required();
  app.add_option("--kubeconfig", flags.kubeconfig, "Kubeconfig for kube://")->type_name("FILE");
  app.add_option("--ca-file", flags.ca_file, "CA certificates for etcds://; default: those of the system")
      ->type_name("FILE");
  app.add_flag("--credentials-in-clear", flags.credentials_in_clear,
               "Send the credentials of etcd://USER:PASSWORD@HOST over plain http to another machine");
  app.add_option("--as", flags.writer, "Your name, which is recorded with each change")
      ->capture_default_str();
}

void declare_inspection(CLI::App& app, CoordFlags& flags, Command& chosen) {
  CLI::App* show = add(app, "show", "Print scopes, sets, instances, lock, claims and deny list",
                       evenkeel::program::show, chosen);
  show->add_flag("--json", flags.json, "Print JSON");
  CLI::App* watch = add(app, "watch", "Print the same on every change, with the verdicts of the gate",
                        evenkeel::program::watch, chosen);
  watch->add_option("--interval", flags.interval, "Maximum time between two reads")->capture_default_str();
  watch
      ->add_option("--quiet-window", flags.quiet_window, "Quiet window of the operators, whose rest is shown")
      ->capture_default_str();
  watch->add_option("--silent-after", flags.silent_after, "Silence limit of the operators")
      ->capture_default_str();
  watch->add_option("--times", flags.times, "Exit after this many tables; 0: run until stopped")
      ->capture_default_str();
}

void declare_changing(CLI::App& app, CoordFlags& flags, Command& chosen) {
  CLI::App* deny = add(app, "deny", "Put a scope on the deny list: it can neither take the lock nor act",
                       evenkeel::program::deny, chosen);
  deny->add_option("SCOPE", flags.scope)->required();
  deny->add_option("--reason", flags.reason, "Reason, shown to other users");
  CLI::App* allow = add(app, "allow", "Remove a scope from the deny list", evenkeel::program::allow, chosen);
  allow->add_option("SCOPE", flags.scope)->required();
  add(app, "unlock", "Free the lock, whatever its holder", evenkeel::program::unlock, chosen);
  CLI::App* drain = add(app, "drain", "Remove all entries of a scope, even of a live instance",
                        evenkeel::program::drain, chosen);
  drain->add_option("SCOPE", flags.scope)->required();
}

void declare_repairs(CLI::App& app, CoordFlags& flags, Command& chosen) {
  CLI::App* migrate =
      add(app, "migrate", "Move everything of a scope to another one", evenkeel::program::migrate, chosen);
  migrate->add_option("FROM", flags.scope)->required();
  migrate->add_option("TO", flags.to)->required();
  migrate->add_flag("--any-owner", flags.any_owner,
                    "Proceed even if another instance, or none, owns the scope");
  CLI::App* janitor = add(app, "janitor", "List the scopes without a live instance, or remove one",
                          evenkeel::program::janitor, chosen);
  janitor->add_option("--sweep", flags.scope, "Remove the entries of this scope")->type_name("SCOPE");
  janitor->add_option("--silence", flags.silence, "Time of silence after which an instance counts as gone")
      ->capture_default_str();
  janitor->add_flag("--wait", flags.wait, "First observe for that long whether its instance is silent");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Inspects and repairs the shared state of operator instances", "coordctl");
  app.set_version_flag("--version", "coordctl " EVENKEEL_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  const auto flags = std::make_unique<CoordFlags>();
  flags->writer = "coordctl";
  Command chosen = nullptr;
  declare_common(app, *flags);
  declare_inspection(app, *flags, chosen);
  declare_changing(app, *flags, chosen);
  declare_repairs(app, *flags, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  try {
#ifdef EVENKEEL_WITH_FOUNDATIONDB
    std::optional<evenkeel::coordination::FoundationDbNetwork> network;
    if (flags->store.starts_with("fdb://")) flags->schemes.push_back(network.emplace().scheme());
#endif
    return chosen(*flags);
  } catch (const std::invalid_argument& error) {
    evenkeel::program::show_problem(error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    evenkeel::program::show_problem(error.what());
    return EXIT_FAILURE;
  }
}
