// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/types.hpp"

#include <cstdio>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "base/files.hpp"
#include "programs/evenkeel/types/cxx_names.hpp"
#include "programs/evenkeel/types/header_writer.hpp"

namespace evenkeel::program {
namespace {

void check_namespace(std::string_view name) {
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t end = rest.find("::");
    const std::string part(rest.substr(0, end));
    const bool is_name = snake_name(part) == part || pascal_name(part) == part;
    if (!is_name)
      throw std::invalid_argument("--namespace: \"" + std::string(name) + "\" is not a name of a namespace");
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
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
