// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/types.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "base/ascii.hpp"
#include "base/files.hpp"
#include "programs/evenkeel/types/cxx_names.hpp"
#include "programs/evenkeel/types/header_writer.hpp"

namespace evenkeel::program {
namespace {

/// Returns the reason why a namespace of the header cannot have this name; empty if it can.
std::string namespace_problem(const std::string& name) {
  using namespace evenkeel::detail::ascii;
  const auto is_part = [](char c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_'; };
  if (name.empty() || is_digit(name[0]) || !std::all_of(name.begin(), name.end(), is_part))
    return "is not a name of a namespace";
  if (snake_name(name) == name + "_") return "is a word or a macro of C++";
  if (name.find("__") != std::string::npos || (name[0] == '_' && name.size() > 1 && is_upper(name[1])))
    return "is reserved for compilers";
  if (name == "std" || name == "ek") return "is a namespace that the header uses";
  return "";
}

void check_namespace(std::string_view name) {
  if (name.empty()) return;
  for (std::size_t start = 0, end = 0; end != std::string_view::npos; start = end + 2) {
    end = name.find("::", start);
    const std::string part(name.substr(start, end - start));
    if (const std::string problem = namespace_problem(part); !problem.empty())
      throw std::invalid_argument("--namespace: \"" + std::string(name) + "\": \"" + part + "\" " + problem);
  }
}

/// Reserves the names of the kinds, which no other type may have.
std::set<std::string> names_of_kinds(const std::vector<CrdSource>& sources) {
  std::set<std::string> names;
  for (const CrdSource& source : sources) {
    if (!names.insert(pascal_name(source.kind)).second)
      throw std::invalid_argument(source.where + ": a second kind " + source.kind +
                                  "; make one header for each, with --namespace");
  }
  return names;
}

}  // namespace

std::string types_header(const std::vector<TypesInput>& inputs, const TypesFlags& flags) {
  check_namespace(flags.name_space);
  std::vector<CrdSource> sources;
  for (const TypesInput& input : inputs) {
    for (CrdSource& source :
         read_crds(input.text, input.name, {.version = flags.version, .kind = flags.kind}))
      sources.push_back(std::move(source));
  }
  std::set<std::string> names = names_of_kinds(sources);
  std::vector<TypeModel> models;
  models.reserve(sources.size());
  for (const CrdSource& source : sources)
    models.push_back(make_types(source, {.describe = flags.installs_crd}, names));
  return write_header(sources, models, {.name_space = flags.name_space, .installs_crd = flags.installs_crd});
}

void types(const TypesFlags& flags) {
  std::vector<TypesInput> inputs;
  for (const std::string& file : flags.files) {
    if (file == "-") {
      inputs.push_back({"standard input", {std::istreambuf_iterator<char>(std::cin), {}}});
    } else {
      inputs.push_back({file, evenkeel::detail::read_file(file)});
    }
  }
  const std::string header = types_header(inputs, flags);
  std::fwrite(header.data(), 1, header.size(), stdout);
}

}  // namespace evenkeel::program
