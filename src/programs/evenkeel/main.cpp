// SPDX-License-Identifier: Apache-2.0
// The command-line tool: it diagnoses running operators (docs/explain.md) and makes types (docs/types.md).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "programs/evenkeel/explain.hpp"
#include "programs/evenkeel/types/types.hpp"

namespace {

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

CLI::App* declare_explain(CLI::App& app, evenkeel::program::ExplainFlags& flags) {
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
  return explain;
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Diagnoses operators that are built with Evenkeel, and makes types for them", "evenkeel");
  app.set_version_flag("--version", EVENKEEL_VERSION);
  app.require_subcommand(1);
  evenkeel::program::ExplainFlags explain_flags;
  evenkeel::program::TypesFlags types_flags;
  const CLI::App* explain = declare_explain(app, explain_flags);
  const CLI::App* types = declare_types(app, types_flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  const char* command = explain->parsed() ? "explain" : "types";
  try {
    if (explain->parsed()) return evenkeel::program::explain(explain_flags);
    if (types->parsed()) evenkeel::program::types(types_flags);
    return EXIT_SUCCESS;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "evenkeel %s: %s\n", command, error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evenkeel %s: %s\n", command, error.what());
    return EXIT_FAILURE;
  }
}
