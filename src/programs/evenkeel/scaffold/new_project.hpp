// SPDX-License-Identifier: Apache-2.0
// `evenkeel new`: writes the project of a new operator.
#pragma once

#include <string>

#include "programs/evenkeel/scaffold/project.hpp"

namespace evenkeel::program {

struct NewFlags {
  ProjectOptions project = {};
  std::string folder = {};  ///< Empty: one of the project's name in the current folder.
};

/// Writes the files and prints the commands that come next. Throws std::invalid_argument as make_project()
/// does, and Error, before anything is written, if the folder exists and is not empty.
void new_project(const NewFlags& flags);

}  // namespace evenkeel::program
