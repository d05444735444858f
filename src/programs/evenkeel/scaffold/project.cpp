// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/scaffold/project.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "programs/evenkeel/scaffold/templates.hpp"
#include "programs/evenkeel/types/cxx_names.hpp"

namespace evenkeel::program {

using detail::ascii::is_digit;
using detail::ascii::is_lower;
using detail::ascii::is_upper;
using detail::ascii::lower;
namespace {

constexpr std::size_t max_name = 50;  // leaves room for suffixes in the 63 characters of a DNS label
constexpr std::size_t max_kind = 63;

[[noreturn]] void refuse(std::string_view flag, const std::string& value, const std::string& problem) {
  throw std::invalid_argument(std::string(flag) + ": \"" + value + "\" " + problem);
}

/// Returns true for lower-case letters, digits and inner dashes that begin with a letter.
bool is_label(std::string_view text) {
  if (text.empty() || !is_lower(text.front()) || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

void check_name(const std::string& name) {
  if (!is_label(name) || name.size() > max_name)
    refuse("NAME", name,
           "must be lower-case letters, digits and dashes, begin with a letter, not end with a dash, and "
           "have at most " +
               std::to_string(max_name) + " characters");
  for (const std::string_view taken :
       {"all", "clean", "edit-cache", "evenkeel", "help", "install", "package", "test"}) {
    if (name == taken) refuse("NAME", name, "is the name of a target or folder of the build");
  }
  if (name.starts_with("kube-")) refuse("NAME", name, "begins like a namespace of Kubernetes");
}

void check_kind(const std::string& kind) {
  const auto is_part = [](char c) { return is_lower(c) || is_upper(c) || is_digit(c); };
  const bool begins = !kind.empty() && is_upper(kind[0]);
  if (!begins || kind.size() > max_kind || !std::all_of(kind.begin(), kind.end(), is_part))
    refuse("--kind", kind,
           "must begin with a capital letter, and consist of at most " + std::to_string(max_kind) +
               " letters and digits");
  if (kind.ends_with("List")) refuse("--kind", kind, "must not end in List, as the kinds of lists do");
  if (kind == "Deployment") refuse("--kind", kind, "is what the new operator owns; choose another name");
}

void check_group(const std::string& group) {
  std::string_view rest = group;
  bool good = group.find('.') != std::string::npos && group.size() <= 253;
  while (good) {
    const std::size_t dot = rest.find('.');
    good = is_label(rest.substr(0, dot)) && rest.substr(0, dot).size() <= 63;
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (!good) refuse("--group", group, "must be a DNS name with a dot, such as example.com");
  if (group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io") || group == "k8s.io" ||
      group == "kubernetes.io")
    refuse("--group", group, "is protected: kinds of Kubernetes itself need an approval");
}

/// Source: apimachinery version.CompareKubeAwareVersionStrings.
void check_version(const std::string& version) {
  std::string_view rest = version;
  const auto take_number = [&] {
    std::size_t size = 0;
    while (size < rest.size() && is_digit(rest[size])) ++size;
    const bool good = size > 0 && size < 5 && rest[0] != '0';
    rest.remove_prefix(size);
    return good;
  };
  bool good = rest.starts_with('v');
  rest.remove_prefix(good ? 1 : 0);
  good = good && take_number();
  for (const std::string_view stage : {"alpha", "beta"}) {
    if (good && rest.starts_with(stage)) {
      rest.remove_prefix(stage.size());
      good = take_number();
      break;
    }
  }
  if (!good || !rest.empty()) refuse("--api-version", version, "must be like v1, v1beta1 or v1alpha1");
}

void replace(std::string& text, std::string_view variable, std::string_view value) {
  for (std::size_t at = 0; (at = text.find(variable, at)) != std::string::npos; at += value.size())
    text.replace(at, variable.size(), value);
}

/// Removes the mark from a line. Returns false if the line is not for this scope.
bool take_scope(std::string& line, bool is_cluster_wide) {
  constexpr std::pair<std::string_view, bool> marks[] = {{"@CLUSTER@", true}, {"@NAMESPACED@", false}};
  for (const auto& [mark, cluster] : marks) {
    if (!line.starts_with(mark)) continue;
    line.erase(0, mark.size());
    return cluster == is_cluster_wide;
  }
  return true;
}

std::string file_of(const std::string& kind) {
  const std::string name = snake_name(kind);
  return name.ends_with('_') ? name + "kind" : name;
}

}  // namespace

std::string plural_of(std::string_view kind) {
  const std::string plural = lower(kind);
  const auto ends_in = [&](std::initializer_list<std::string_view> ends) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return plural.ends_with(end); });
  };
  if (plural.ends_with('y') && !ends_in({"ay", "ey", "oy", "uy"}))
    return plural.substr(0, plural.size() - 1) + "ies";
  return plural + (ends_in({"s", "x", "ch", "sh", "z"}) ? "es" : "s");
}

std::string expand(std::string_view text, const ProjectOptions& options) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string line(text.substr(0, size));
    text.remove_prefix(size);
    if (take_scope(line, options.is_cluster_wide)) out += line;
  }
  replace(out, "@NAME@", options.name);
  replace(out, "@KIND@", options.kind);
  replace(out, "@FILE@", file_of(options.kind));
  replace(out, "@GROUP@", options.group);
  replace(out, "@VERSION@", options.version);
  replace(out, "@PLURAL@", options.plural);
  return out;
}

std::vector<ProjectFile> make_project(ProjectOptions options) {
  check_name(options.name);
  check_kind(options.kind);
  check_group(options.group);
  check_version(options.version);
  if (options.plural.empty()) options.plural = plural_of(options.kind);
  if (!is_label(options.plural) || options.plural.size() > max_kind)
    refuse("--plural", options.plural,
           "must be lower-case letters, digits and dashes, and begin with a letter");
  const std::string file = file_of(options.kind);
  const std::pair<std::string, std::string_view> files[] = {
      {".clang-format", templates::clang_format},
      {".github/workflows/ci.yaml", templates::ci_yaml},
      {".gitignore", templates::gitignore},
      {"CMakeLists.txt", templates::cmake_lists},
      {"Dockerfile", templates::dockerfile},
      {"README.md", templates::readme},
      {"deploy/sample.yaml", templates::sample_yaml},
      {"src/" + file + ".hpp", templates::kind_hpp},
      {"src/" + file + "_controller.cpp", templates::controller_cpp},
      {"src/" + file + "_controller.hpp", templates::controller_hpp},
      {"src/main.cpp", templates::main_cpp},
      {"tests/" + file + "_faults_test.cpp", templates::faults_test_cpp},
      {"tests/" + file + "_server_test.cpp", templates::server_test_cpp},
      {"tests/" + file + "_test.cpp", templates::test_cpp}};
  std::vector<ProjectFile> out;
  for (const auto& [path, text] : files) out.push_back({path, expand(text, options)});
  return out;
}

}  // namespace evenkeel::program
