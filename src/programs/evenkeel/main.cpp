// SPDX-License-Identifier: Apache-2.0
// The command-line tool: it starts new operators (docs/scaffolding.md), makes types for them (docs/types.md)
// and diagnoses running ones (docs/explain.md).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "base/shown_text.hpp"
#include "programs/evenkeel/explain.hpp"
#include "programs/evenkeel/scaffold/new_project.hpp"
#include "programs/evenkeel/types/types.hpp"

namespace {

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

void declare_explain(CLI::App& app, evenkeel::program::ExplainFlags& flags) {
  CLI::App* explain = app.add_subcommand("explain", "Explain why an object is not being reconciled");
  explain->add_option("CONTROLLER", flags.controller, "Name of a controller; default: list the controllers");
  explain->add_option("OBJECT", flags.object,
                      "NAMESPACE/NAME, or NAME; default: list the keys that run, fail and wait");
  explain->add_option("--url", flags.url, "URL of the operator's metrics endpoint")->capture_default_str();
  explain->add_option("--token-file", flags.token_file, "File with the bearer token for that endpoint")
      ->type_name("FILE");
  explain
      ->add_option("--ca-file", flags.ca_file,
                   "File with the CA certificates that the endpoint's certificate is verified with")
      ->type_name("FILE");
  explain->add_option("--server-name", flags.server_name, "Host name that the certificate must have");
  explain->add_flag("--credentials-in-clear", flags.credentials_in_clear,
                    "Send the token over plain HTTP, too, to another machine");
  explain->add_flag("--json", flags.json, "Print JSON");
}

CLI::App* declare_types(CLI::App& app, evenkeel::program::TypesFlags& flags) {
  CLI::App* types = app.add_subcommand(
      "types", "Print C++ types for CustomResourceDefinitions: evenkeel types crd.yaml > website.hpp");
  types->add_option("FILE", flags.files, "YAML file with one or more definitions; -: standard input")
      ->required();
  types->add_option("--kind", flags.kind, "Kind whose definition is read; default: all");
  types->add_option("--version", flags.version, "Version whose schema is read; default: the storage version");
  types->add_option("--namespace", flags.name_space,
                    "C++ namespace of the types; default: the global namespace");
  types->add_flag("--installs-crd", flags.installs_crd,
                  "The program owns the kinds: its --print-crds prints them, with their descriptions");
  return types;
}

CLI::App* declare_new(CLI::App& app, evenkeel::program::NewFlags& flags) {
  CLI::App* start = app.add_subcommand("new", "Create an operator: a project that builds and has tests");
  auto& project = flags.project;
  start->add_option("NAME", project.name, "Name of the operator, such as website-operator")->required();
  start->add_option("--kind", project.kind, "The kind that it reconciles, such as Website")->required();
  start->add_option("--group", project.group, "API group of the kind")->capture_default_str();
  start->add_option("--api-version", project.version, "API version of the kind")->capture_default_str();
  start->add_option("--plural", project.plural, "Plural of the kind; default: that of a regular noun");
  CLI::Option* cluster =
      start->add_flag("--cluster", project.is_cluster_wide, "Objects of the kind have no namespace");
  start->add_flag("--namespaced")
      ->description("Objects of the kind are in namespaces (default)")
      ->excludes(cluster);
  start->add_option("--folder", flags.folder, "Folder to create; default: the operator's name")
      ->type_name("FOLDER");
  return start;
}

// Returns what is wrong with the first argument if it should be a command, and is none.
std::string command_problem(const CLI::App& app, const std::string& word) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands(std::function<bool(const CLI::App*)>())) {
    if (command->get_name() == word) return {};
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return word.starts_with('-') ? "" : "\"" + word + "\" is not a command; there are: " + names;
}

// Shows an error, which may quote what a server or a file has.
void show_error(const char* command, const std::exception& error) {
  std::fprintf(stderr, "evenkeel %s: %s\n", command, evenkeel::detail::shown_text(error.what()).c_str());
}

int run(const char* command, const std::function<int()>& action) {
  try {
    return action();
  } catch (const std::invalid_argument& error) {
    show_error(command, error);
    return wrong_flag;
  } catch (const std::exception& error) {
    show_error(command, error);
    return EXIT_FAILURE;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Starts operators that are built with Evenkeel, makes types for them, and diagnoses them",
               "evenkeel");
  app.set_version_flag("--version", "evenkeel " EVENKEEL_VERSION);
  app.require_subcommand(1);
  evenkeel::program::NewFlags new_flags;
  evenkeel::program::TypesFlags types_flags;
  evenkeel::program::ExplainFlags explain_flags;
  const CLI::App* start = declare_new(app, new_flags);
  const CLI::App* types = declare_types(app, types_flags);
  declare_explain(app, explain_flags);
  if (const std::string problem = argc > 1 ? command_problem(app, argv[1]) : ""; !problem.empty()) {
    std::fprintf(stderr, "evenkeel: %s\n", problem.c_str());
    return wrong_flag;
  }
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
