// SPDX-License-Identifier: Apache-2.0
// C++ declarations made from a schema: enumerations, structs and the struct of the kind.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "programs/evenkeel/types/crd_source.hpp"

namespace evenkeel::program {

struct Member {
  std::string wire = {};
  std::string name = {};
  std::string type = {};
  std::vector<std::string> attributes = {};  ///< "ek::required".
  std::string description = {};
};

struct Rule {
  std::string rule = {};
  std::string message = {};
};

struct Enumerator {
  std::string name = {};
  std::string wire = {};
};

/// An enumeration if it has words, else a struct.
struct Declaration {
  std::string name = {};
  std::string description = {};
  std::vector<Enumerator> words = {};
  std::vector<Member> members = {};
  std::vector<Rule> rules = {};
};

/// Types of one kind, each behind those that it uses; the last one is the kind itself.
struct TypeModel {
  std::vector<Declaration> declarations = {};
  std::set<std::string> headers = {};  ///< Headers of Evenkeel that the types need.
  std::vector<std::string> lost =
      {};                         ///< Parts of the definition that the types do not have, with their paths.
  bool suppresses_scale = false;  ///< crd_for() would add a scale subresource that the definition lacks.
};

struct TypeOptions {
  bool describe = false;  ///< Descriptions become attributes, too.
};

/// Returns the types of a definition. `taken` has the names of other types in the same header, and gets those
/// of this kind. Throws DecodeError, which names file, document and field, for a schema that is not
/// structural.
TypeModel make_types(const CrdSource& source, const TypeOptions& options, std::set<std::string>& taken);

}  // namespace evenkeel::program
