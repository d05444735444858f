// SPDX-License-Identifier: Apache-2.0
// `evenkeel types`: C++ types from a CustomResourceDefinition.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::program {

struct TypesFlags {
  std::vector<std::string> files = {};  ///< "-" is the standard input.
  std::string kind = {};                ///< Empty: all kinds.
  std::string version = {};             ///< Empty: the version that is stored.
  std::string name_space = {};          ///< Empty: the global namespace.
  bool installs_crd = false;
};

/// A file that was read.
struct TypesInput {
  std::string name = {};  ///< For errors.
  std::string text = {};
};

/// Returns the header. Throws DecodeError, which names file, document and field, and std::invalid_argument
/// for a namespace that is none and for two kinds of one name.
std::string types_header(const std::vector<TypesInput>& inputs, const TypesFlags& flags);

/// Prints the header to standard output; throws as types_header().
void types(const TypesFlags& flags);

}  // namespace evenkeel::program
