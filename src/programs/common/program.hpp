// SPDX-License-Identifier: Apache-2.0
// What the programs that serve an API have in common: files, signals, and how they begin and end.
#pragma once

#include <functional>
#include <signal.h>
#include <string>

#include <CLI/CLI.hpp>

namespace evenkeel::program {

/// Throws Error with the file and the system's reason.
std::string read_file(const std::string& path);

/// Writes a file that may carry a token or a key: for the owner's eyes only, and never half written under its
/// own name. Throws Error with the file and the system's reason.
void write_private_file(const std::string& path, const std::string& text);

/// Blocks the signals that end the program, in all threads that are started from now on, so that
/// serve_until_told() gets them. Call it first.
sigset_t block_signals();

/// Prints "NAME is ready at URL" on standard output and waits for a signal.
void serve_until_told(const std::string& name, const std::string& url, const sigset_t& signals);

/// Parses the flags and runs `serve`. Returns the exit code: 0; 1 if something failed; 2 if a flag is wrong.
int run(CLI::App& app, int argc, char** argv, const std::function<void()>& serve);

}  // namespace evenkeel::program
