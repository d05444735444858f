// SPDX-License-Identifier: Apache-2.0
// A new operator's project: its names and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::program {

struct ProjectOptions {
  std::string name = {};  ///< Name for folder, program, namespace and service account: "website-operator".
  std::string kind = {};  ///< "Website".
  std::string group = "example.com";
  std::string version = "v1alpha1";
  std::string plural = {};  ///< Empty: made from the kind.
  bool is_cluster_wide = false;
};

struct ProjectFile {
  std::string path = {};  ///< Within the project.
  std::string text = {};
};

/// Returns the plural of a kind in lower case, by the rules of regular nouns: "proxies" of "Proxy".
std::string plural_of(std::string_view kind);

/// Returns a template's text with its variables replaced. `@NAME@` is one; a line that begins with @CLUSTER@
/// or
/// @NAMESPACED@ is there for kinds of this scope only, without the mark.
std::string expand(std::string_view text, const ProjectOptions& options);

/// Returns the files of a project. Throws std::invalid_argument, which names the flag, for a name that
/// Kubernetes, CMake or C++ would refuse.
std::vector<ProjectFile> make_project(ProjectOptions options);

}  // namespace evenkeel::program
