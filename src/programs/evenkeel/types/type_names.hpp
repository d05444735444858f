// SPDX-License-Identifier: Apache-2.0
// Names of the types of a kind, chosen when all places where a type is used are known.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "programs/evenkeel/types/type_model.hpp"

namespace evenkeel::program {

/// Words of the path from the kind to a type: {"Acme", "Solver"}.
using TypePath = std::vector<std::string>;

/// A declaration without a name. Types of members are written with draft_mark() in its place.
struct TypeDraft {
  Declaration declaration = {};
  std::vector<TypePath> paths = {};  ///< Places where it is used; none: the kind itself.
};

/// Returns the text that stands for the name of a draft.
std::string draft_mark(std::size_t draft);

/// Returns the declarations with their names, in the same order. A type is named for its place; one that is
/// used at several places for the words in which their paths end. `taken` has names that cannot be given, and
/// gets those that are.
std::vector<Declaration> name_types(std::vector<TypeDraft> drafts, const std::string& kind,
                                    std::set<std::string>& taken);

}  // namespace evenkeel::program
