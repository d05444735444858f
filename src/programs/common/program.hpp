// SPDX-License-Identifier: Apache-2.0
// Common parts of the programs that serve an API: files, signals, start and end.
#pragma once

#include <functional>
#include <signal.h>
#include <string>

#include <CLI/CLI.hpp>

namespace evenkeel::program {

/// Reads a whole file. Throws Error with the file and the system's reason.
std::string read_file(const std::string& path);

/// Writes a file that may contain a token or a key: readable by the owner only, and visible under its name
/// only when complete. Throws Error with the file and the system's reason.
void write_private_file(const std::string& path, const std::string& text);

/// Blocks the signals that end the program, in all threads that are started later, so that serve_until_told()
/// receives them. Must be called first.
sigset_t block_signals();

/// Prints "NAME is ready at URL" to standard output and waits for a signal.
void serve_until_told(const std::string& name, const std::string& url, const sigset_t& signals);

/// Parses the flags and runs `serve`. Returns the exit code: 0; 1 if something failed; 2 for an invalid flag.
int run(CLI::App& app, int argc, char** argv, const std::function<void()>& serve);

}  // namespace evenkeel::program
