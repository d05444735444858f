// SPDX-License-Identifier: Apache-2.0
// Flags of a program in addition to those that ek::run() parses: flags that CLI11 does not know are passed
// on.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/error.hpp>

/// A duration flag such as "--move 500ms".
inline CLI::Option* add_duration(CLI::App& app, const std::string& name, evenkeel::Duration& value,
                                 const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) {
            const auto parsed = evenkeel::parse_duration(text);
            if (!parsed || *parsed < evenkeel::Duration::zero())
              throw CLI::ValidationError(name, "expected a duration such as 500ms, found \"" + text + "\"");
            value = *parsed;
          },
          description)
      ->type_name("TIME");
}

/// "dc1,dc2" to its parts.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Written aside and renamed: who waits for the file finds it whole. Throws Error.
inline void write_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  if (!file || std::rename(draft.c_str(), path.c_str()) != 0) throw evenkeel::Error("cannot write " + path);
}

/// Reads the flags and calls `serve` with those that are left, program's name first. Returns the exit code.
inline int run_program(CLI::App& app, int argc, char** argv,
                       const std::function<int(const std::vector<const char*>& rest)>& serve) {
  app.allow_extras();
  app.set_help_flag();  // ek::run() prints the help of all flags; see docs/flags.md
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const std::vector<std::string> extras = app.remaining();
    std::vector<const char*> rest{argv[0]};
    for (const std::string& extra : extras) rest.push_back(extra.c_str());
    return serve(rest);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
}
