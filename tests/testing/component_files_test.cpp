// SPDX-License-Identifier: Apache-2.0
// The search for the programs of a control plane.
#include "testing/control_plane/component_files.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace {

using evenkeel::testing::ComponentFiles;
using evenkeel::testing::EnvironmentOptions;
using evenkeel::testing::FileSearch;
using evenkeel::testing::find_components;

/// A machine with these files and variables.
FileSearch machine(std::set<std::string> files, std::map<std::string, std::string> variables) {
  return {.environment = [variables =
                              std::move(variables)](const std::string& name) -> std::optional<std::string> {
            const auto at = variables.find(name);
            return at == variables.end() ? std::nullopt : std::optional(at->second);
          },
          .executable = [files = std::move(files)](const std::string& file) { return files.contains(file); }};
}

const std::set<std::string> everywhere = {"/own/etcd",
                                          "/own/kube-apiserver",
                                          "/assets/etcd",
                                          "/assets/kube-apiserver",
                                          "/cache/control-plane/current/etcd",
                                          "/cache/control-plane/current/kube-apiserver",
                                          "/cache/control-plane/current/kube-controller-manager",
                                          "/bin/etcd",
                                          "/bin/kube-apiserver"};

TEST(ComponentFiles, LooksInTheDocumentedOrder) {
  std::map<std::string, std::string> variables = {
      {"KUBEBUILDER_ASSETS", "/assets"}, {"EVENKEEL_CACHE", "/cache"}, {"PATH", "/sbin:/bin"}};
  const auto server = [&](const EnvironmentOptions& options = {}) {
    return find_components(options, machine(everywhere, variables)).api_server;
  };
  EXPECT_EQ(server({.binaries = "/own"}), "/own/kube-apiserver");
  EXPECT_EQ(server(), "/assets/kube-apiserver");
  variables.erase("KUBEBUILDER_ASSETS");
  EXPECT_EQ(server(), "/cache/control-plane/current/kube-apiserver");
  variables.erase("EVENKEEL_CACHE");
  EXPECT_EQ(server(), "/bin/kube-apiserver");
}

TEST(ComponentFiles, KnowsThreePlacesOfTheCache) {
  for (const auto& [variable, value] : {std::pair("EVENKEEL_CACHE", "/base/evenkeel"),
                                        std::pair("XDG_CACHE_HOME", "/base"), std::pair("HOME", "/home")}) {
    const std::string cache = std::string(value) == "/home" ? "/home/.cache/evenkeel" : "/base/evenkeel";
    const std::string current = cache + "/control-plane/current/";
    const auto found =
        find_components({}, machine({current + "etcd", current + "kube-apiserver"}, {{variable, value}}));
    EXPECT_EQ(found.etcd, current + "etcd") << variable;
    EXPECT_EQ(found.problem, "") << variable;
  }
}

TEST(ComponentFiles, FindsEachProgramByItself) {
  const auto found =
      find_components({.controller_manager = true},
                      machine(everywhere, {{"KUBEBUILDER_ASSETS", "/assets"}, {"EVENKEEL_CACHE", "/cache"}}));
  EXPECT_EQ(found.etcd, "/assets/etcd");
  EXPECT_EQ(found.controller_manager, "/cache/control-plane/current/kube-controller-manager");
}

TEST(ComponentFiles, TakesTheEtcdThatItIsTold) {
  const FileSearch search = machine({"/old/etcd", "/bin/etcd", "/bin/kube-apiserver"}, {{"PATH", "/bin"}});
  EXPECT_EQ(find_components({.etcd = "/old/etcd"}, search).etcd, "/old/etcd");
  EXPECT_EQ(find_components({.etcd = "/gone/etcd"}, search).problem,
            "no /gone/etcd; looked in $KUBEBUILDER_ASSETS (not set), the PATH");
}

TEST(ComponentFiles, NamesWhatIsMissingAndAllPlaces) {
  const FileSearch bare =
      machine({}, {{"HOME", "/home"}, {"PATH", "/bin"}, {"KUBEBUILDER_ASSETS", "/assets"}});
  EXPECT_EQ(
      find_components({.binaries = "/own", .controller_manager = true}, bare).problem,
      "no etcd, kube-apiserver, kube-controller-manager; looked in /own, /assets ($KUBEBUILDER_ASSETS), "
      "/home/.cache/evenkeel/control-plane/current (make control-plane), the PATH");
  EXPECT_EQ(find_components({}, machine({"/bin/etcd"}, {{"PATH", "/bin"}})).problem,
            "no kube-apiserver; looked in $KUBEBUILDER_ASSETS (not set), the PATH");
}

}  // namespace
