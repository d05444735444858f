// SPDX-License-Identifier: Apache-2.0
// The command-line tool for diagnosing a running operator. docs/explain.md describes it.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <CLI/CLI.hpp>

#include "programs/evenkeel/explain.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Queries operators that are built with Evenkeel", "evenkeel");
  app.set_version_flag("--version", EVENKEEL_VERSION);
  app.require_subcommand(1);
  evenkeel::program::ExplainFlags flags;
  declare_explain(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  try {
    return evenkeel::program::explain(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evenkeel explain: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
