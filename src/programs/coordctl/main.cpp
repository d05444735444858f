// SPDX-License-Identifier: Apache-2.0
// The command-line tool to inspect and repair the shared state of operator instances. docs/coordination.md
// describes it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>

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
         "etcd://HOST:PORT[,HOST:PORT], etcds://USER:PASSWORD@HOST:PORT or kube://[CONTEXT/]NAMESPACE/NAME")
      ->envname("COORDCTL_STORE")
      ->required();
  app.add_option("--root", flags.root, "Of all keys, as the operators have it")
      ->envname("COORDCTL_ROOT")
      ->required();
  app.add_option("--kubeconfig", flags.kubeconfig, "For kube://")->type_name("FILE");
  app.add_option("--ca-file", flags.ca_file,
                 "For etcds://: the authorities of its certificate; without: the system's")
      ->type_name("FILE");
  app.add_flag("--credentials-in-clear", flags.credentials_in_clear,
               "For etcd://USER:PASSWORD@HOST: send them over plain http to another machine");
  app.add_option("--as", flags.writer, "Who you are: it is written beside what you change")
      ->capture_default_str();
}

void declare_looking(CLI::App& app, CoordFlags& flags, Command& chosen) {
  CLI::App* show = add(app, "show", "Scopes, sets, instances, lock, claims and deny list",
                       evenkeel::program::show, chosen);
  show->add_flag("--json", flags.json, "As JSON");
  CLI::App* watch = add(app, "watch", "The same, whenever it changes", evenkeel::program::watch, chosen);
  watch->add_option("--interval", flags.interval, "Look at least so often")->capture_default_str();
  watch->add_option("--quiet-window", flags.quiet_window, "Of the operators: what is left of it is shown")
      ->capture_default_str();
  watch
      ->add_option("--silent-after", flags.silent_after,
                   "Likewise: an instance that writes nothing for so long is silent")
      ->capture_default_str();
  watch->add_option("--times", flags.times, "End after so many tables; 0: never")->capture_default_str();
}

void declare_changing(CLI::App& app, CoordFlags& flags, Command& chosen) {
  CLI::App* deny = add(app, "deny", "Let a scope neither lock nor act", evenkeel::program::deny, chosen);
  deny->add_option("SCOPE", flags.scope)->required();
  deny->add_option("--reason", flags.reason, "For the others to read");
  CLI::App* allow = add(app, "allow", "Take a scope off the deny list", evenkeel::program::allow, chosen);
  allow->add_option("SCOPE", flags.scope)->required();
  add(app, "unlock", "Free the lock, whoever holds it", evenkeel::program::unlock, chosen);
  CLI::App* drain = add(app, "drain", "Remove all entries of a scope, also of a living one",
                        evenkeel::program::drain, chosen);
  drain->add_option("SCOPE", flags.scope)->required();
}

void declare_repairs(CLI::App& app, CoordFlags& flags, Command& chosen) {
  CLI::App* migrate =
      add(app, "migrate", "Move all that a scope has to another one", evenkeel::program::migrate, chosen);
  migrate->add_option("FROM", flags.scope)->required();
  migrate->add_option("TO", flags.to)->required();
  migrate->add_flag("--any-owner", flags.any_owner,
                    "Although an instance, or nobody, owns it: you know that it is gone");
  CLI::App* janitor = add(app, "janitor", "List the scopes that nobody owns any more, or remove one",
                          evenkeel::program::janitor, chosen);
  janitor->add_option("--sweep", flags.scope, "Remove what is left of this scope")->type_name("SCOPE");
  janitor->add_option("--silence", flags.silence, "An instance that is silent for so long is gone")
      ->capture_default_str();
  janitor->add_flag("--wait", flags.wait, "Look for that long whether it is silent");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows and mends what operator instances share", "coordctl");
  app.set_version_flag("--version", EVENKEEL_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  const auto flags = std::make_unique<CoordFlags>();
  flags->writer = "coordctl";
  Command chosen = nullptr;
  declare_common(app, *flags);
  declare_looking(app, *flags, chosen);
  declare_changing(app, *flags, chosen);
  declare_repairs(app, *flags, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  try {
    return chosen(*flags);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "coordctl: %s\n", error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordctl: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
