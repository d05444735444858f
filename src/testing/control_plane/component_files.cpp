// SPDX-License-Identifier: Apache-2.0
#include "testing/control_plane/component_files.hpp"

#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// A directory to search, and its name in messages.
struct Place {
  std::string directory;
  std::string name;
};

std::string variable(const FileSearch& search, const char* name) {
  return search.environment(name).value_or("");
}

// Same rules as scripts/control-plane.
std::string cache_directory(const FileSearch& search) {
  if (const std::string own = variable(search, "EVENKEEL_CACHE"); !own.empty()) return own;
  if (const std::string xdg = variable(search, "XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/evenkeel";
  const std::string home = variable(search, "HOME");
  return home.empty() ? "" : home + "/.cache/evenkeel";
}

std::vector<Place> places(const EnvironmentOptions& options, const FileSearch& search) {
  std::vector<Place> result;
  if (!options.binaries.empty()) result.push_back({options.binaries, options.binaries});
  const std::string assets = variable(search, "KUBEBUILDER_ASSETS");
  result.push_back(
      {assets, assets.empty() ? "$KUBEBUILDER_ASSETS (not set)" : assets + " ($KUBEBUILDER_ASSETS)"});
  if (const std::string cache = cache_directory(search); !cache.empty()) {
    const std::string built = cache + "/control-plane/current";
    result.push_back({built, built + " (make control-plane)"});
  }
  std::string path = variable(search, "PATH");
  path += ':';
  for (std::size_t start = 0, end = 0; (end = path.find(':', start)) != std::string::npos; start = end + 1) {
    if (end > start) result.push_back({path.substr(start, end - start), ""});
  }
  result.push_back({"", "the PATH"});
  return result;
}

std::string find(std::string_view program, const std::vector<Place>& places, const FileSearch& search) {
  for (const Place& place : places) {
    if (place.directory.empty()) continue;
    std::string file = place.directory + "/" + std::string(program);
    if (search.executable(file)) return file;
  }
  return {};
}

std::string names(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) {
    if (!place.name.empty()) text += (text.empty() ? "" : ", ") + place.name;
  }
  return text;
}

}  // namespace

FileSearch FileSearch::of_this_machine() {
  return {.environment = [](const std::string& name) -> std::optional<std::string> {
            const char* const value = std::getenv(name.c_str());
            if (value == nullptr) return std::nullopt;
            return value;
          },
          .executable =
              [](const std::string& file) {
                struct stat found = {};
                return ::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
                       ::access(file.c_str(), X_OK) == 0;
              }};
}

ComponentFiles find_components(const EnvironmentOptions& options, const FileSearch& search) {
  const std::vector<Place> where = places(options, search);
  ComponentFiles files;
  std::string missing;
  const auto look = [&](Component component, std::string& file) {
    file = find(component_name(component), where, search);
    if (file.empty()) missing += (missing.empty() ? "" : ", ") + std::string(component_name(component));
  };
  if (options.etcd.empty()) {
    look(Component::etcd, files.etcd);
  } else {
    files.etcd = options.etcd;
    if (!search.executable(files.etcd)) missing = files.etcd;
  }
  look(Component::api_server, files.api_server);
  if (options.controller_manager) look(Component::controller_manager, files.controller_manager);
  if (!missing.empty()) files.problem = "no " + missing + "; looked in " + names(where);
  return files;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
