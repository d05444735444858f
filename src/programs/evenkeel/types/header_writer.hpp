// SPDX-License-Identifier: Apache-2.0
// The text of a header with the types of some kinds.
#pragma once

#include <string>
#include <vector>

#include "programs/evenkeel/types/type_model.hpp"

namespace evenkeel::program {

struct HeaderOptions {
  std::string name_space = {};  ///< "a::b"; empty: the global namespace.
  bool installs_crd = false;    ///< The program owns the kinds; they carry their descriptions.
};

/// Returns the header for `sources`; `models` has the types of each. The text depends on nothing else.
std::string write_header(const std::vector<CrdSource>& sources, const std::vector<TypeModel>& models,
                         const HeaderOptions& options);

}  // namespace evenkeel::program
