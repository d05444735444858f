// SPDX-License-Identifier: Apache-2.0
// The command-line tool: it starts new operators (docs/scaffolding.md), makes types for them (docs/types.md)
// and diagnoses running ones (docs/explain.md).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "programs/evenkeel/explain.hpp"
#include "programs/evenkeel/scaffold/new_project.hpp"
#include "programs/evenkeel/types/types.hpp"

namespace {

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

void declare_explain(CLI::App& app, evenkeel::program::ExplainFlags& flags) {
  CLI::App* explain = app.add_subcommand("explain", "Why is an object not being reconciled?");
  explain->add_option("CONTROLLER", flags.controller, "The controller; without one: which there are");
  explain->add_option("OBJECT", flags.object,
                      "NAMESPACE/NAME, or NAME; without one: what runs, fails and waits");
  explain->add_option("--url", flags.url, "Where the operator serves its metrics")->capture_default_str();
  explain->add_option("--token-file", flags.token_file, "A file with the token of the operator's metrics")
      ->type_name("FILE");
  explain
      ->add_option("--ca-file", flags.ca_file, "A file with CA certificates for the operator's certificate")
      ->type_name("FILE");
  explain->add_option("--server-name", flags.server_name, "The name that the certificate must carry");
  explain->add_flag("--credentials-in-clear", flags.credentials_in_clear,
                    "Send the token also over plain http to another machine");
  explain->add_flag("--json", flags.json, "Answer in JSON");
}

CLI::App* declare_types(CLI::App& app, evenkeel::program::TypesFlags& flags) {
  CLI::App* types = app.add_subcommand(
      "types", "Print C++ types for CustomResourceDefinitions: evenkeel types crd.yaml > website.hpp");
  types->add_option("FILE", flags.files, "YAML with one or more definitions; - is the standard input")
      ->required();
  types->add_option("--kind", flags.kind, "Only the definition of this kind; without it: all of them");
  types->add_option("--version", flags.version, "The version to take; without it: the one that is stored");
  types->add_option("--namespace", flags.name_space,
                    "The C++ namespace of the types; without it: the global one");
  types->add_flag("--installs-crd", flags.installs_crd,
                  "The program owns the kinds: its --print-crds prints them, with their descriptions");
  return types;
}

CLI::App* declare_new(CLI::App& app, evenkeel::program::NewFlags& flags) {
  CLI::App* start = app.add_subcommand("new", "Start an operator: a project that builds and has tests");
  auto& project = flags.project;
  start->add_option("NAME", project.name, "Name of the operator, such as website-operator")->required();
  start->add_option("--kind", project.kind, "The kind that it reconciles, such as Website")->required();
  start->add_option("--group", project.group, "API group of the kind")->capture_default_str();
  start->add_option("--api-version", project.version, "API version of the kind")->capture_default_str();
  start->add_option("--plural", project.plural, "Plural of the kind; without it: of a regular noun");
  CLI::Option* cluster =
      start->add_flag("--cluster", project.is_cluster_wide, "Objects of the kind have no namespace");
  start->add_flag("--namespaced")
      ->description("Objects of the kind are in namespaces; the default")
      ->excludes(cluster);
  start
      ->add_option("--folder", flags.folder, "Where to write it; without it: a folder of the operator's name")
      ->type_name("FOLDER");
  return start;
}

int run(const char* command, const std::function<int()>& action) {
  try {
    return action();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "evenkeel %s: %s\n", command, error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evenkeel %s: %s\n", command, error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Starts operators that are built with Evenkeel, makes types for them, and diagnoses them",
               "evenkeel");
  app.set_version_flag("--version", EVENKEEL_VERSION);
  app.require_subcommand(1);
  evenkeel::program::NewFlags new_flags;
  evenkeel::program::TypesFlags types_flags;
  evenkeel::program::ExplainFlags explain_flags;
  const CLI::App* start = declare_new(app, new_flags);
  const CLI::App* types = declare_types(app, types_flags);
  declare_explain(app, explain_flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  if (start->parsed())
    return run("new", [&] { return evenkeel::program::new_project(new_flags), EXIT_SUCCESS; });
  if (types->parsed())
    return run("types", [&] { return evenkeel::program::types(types_flags), EXIT_SUCCESS; });
  return run("explain", [&] { return evenkeel::program::explain(explain_flags); });
}
