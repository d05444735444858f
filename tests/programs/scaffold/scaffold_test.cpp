// SPDX-License-Identifier: Apache-2.0
// Names and files of a new project. Its code is compiled beside this file, and by scripts/check_guide.py.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>

#include "base/files.hpp"
#include "programs/evenkeel/scaffold/new_project.hpp"

namespace scaffold_test {
using namespace evenkeel::program;
namespace fs = std::filesystem;

std::string problem(ProjectOptions options) {
  if (options.name.empty()) options.name = "website-operator";
  if (options.kind.empty()) options.kind = "Website";
  try {
    make_project(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "evenkeel-new-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(NewProject, RefusesBadNames) {
  const std::string rule =
      " must be lower-case letters, digits and dashes, begin with a letter, not end with a dash, and have at "
      "most 50 "
      "characters";
  EXPECT_EQ(problem({.name = "Website"}), "NAME: \"Website\"" + rule);
  EXPECT_EQ(problem({.name = "../x"}), "NAME: \"../x\"" + rule);
  EXPECT_EQ(problem({.name = "x-"}), "NAME: \"x-\"" + rule);
  EXPECT_EQ(problem({.name = std::string(51, 'a')}), "NAME: \"" + std::string(51, 'a') + "\"" + rule);
  EXPECT_EQ(problem({.name = "test"}), "NAME: \"test\" is the name of a target or folder of the build");
  EXPECT_EQ(problem({.name = "kube-x"}), "NAME: \"kube-x\" begins like a namespace of Kubernetes");
}

TEST(NewProject, RefusesBadKinds) {
  const std::string rule = " must begin with a capital letter, and consist of at most 63 letters and digits";
  EXPECT_EQ(problem({.kind = "website"}), "--kind: \"website\"" + rule);
  EXPECT_EQ(problem({.kind = "Web-Site"}), "--kind: \"Web-Site\"" + rule);
  EXPECT_EQ(problem({.kind = "WebsiteList"}),
            "--kind: \"WebsiteList\" must not end in List, as the kinds of lists do");
  EXPECT_EQ(problem({.kind = "Deployment"}),
            "--kind: \"Deployment\" is what the new operator owns; choose another name");
  EXPECT_EQ(problem({.plural = "Websites"}),
            "--plural: \"Websites\" must be lower-case letters, digits and dashes, and begin with a letter");
}

TEST(NewProject, RefusesBadGroupsAndVersions) {
  for (const std::string group : {"example", "example..com", "Example.com", "example.com."}) {
    EXPECT_EQ(problem({.group = group}),
              "--group: \"" + group + "\" must be a DNS name with a dot, such as example.com");
  }
  EXPECT_EQ(problem({.group = "apps.k8s.io"}),
            "--group: \"apps.k8s.io\" is protected: kinds of Kubernetes itself need an approval");
  for (const std::string version : {"", "1", "v0", "v1gamma1", "v1alpha", "v1beta1x"}) {
    EXPECT_EQ(problem({.version = version}),
              "--api-version: \"" + version + "\" must be like v1, v1beta1 or v1alpha1");
  }
  for (const std::string version : {"v1", "v12", "v1beta2", "v2alpha10"})
    EXPECT_EQ(problem({.version = version}), "none");
}

TEST(NewProject, MakesPlurals) {
  EXPECT_EQ(plural_of("Website"), "websites");
  EXPECT_EQ(plural_of("HttpProxy"), "httpproxies");
  EXPECT_EQ(plural_of("Gateway"), "gateways");
  EXPECT_EQ(plural_of("Redis"), "redises");
  EXPECT_EQ(plural_of("Patch"), "patches");
}

TEST(NewProject, ReplacesEveryMark) {
  for (const bool is_cluster_wide : {false, true}) {
    for (const ProjectFile& file :
         make_project({.name = "class-operator", .kind = "Class", .is_cluster_wide = is_cluster_wide})) {
      for (const std::string mark : {"@NAME", "@KIND", "@FILE", "@GROUP", "@VERSION", "@PLURAL", "@CLUSTER"})
        EXPECT_EQ(file.text.find(mark), std::string::npos) << file.path << ": " << mark;
      EXPECT_TRUE(file.text.ends_with('\n')) << file.path;
      EXPECT_EQ(file.path.find("class_"), file.path.find("class_kind"))
          << file.path << " is not a word of C++";
    }
  }
}

TEST(NewProject, HasTheLinesOfItsScope) {
  const ProjectOptions cluster{.name = "x", .kind = "Y", .is_cluster_wide = true};
  EXPECT_EQ(expand("a\n@CLUSTER@b\n@NAMESPACED@c\n@NAME@ @KIND@", cluster), "a\nb\nx Y");
  EXPECT_EQ(expand("a\n@CLUSTER@b\n@NAMESPACED@c\n", {.name = "x", .kind = "Y"}), "a\nc\n");
}

TEST(NewProject, WritesItsFilesAndOverwritesNothing) {
  const Folder folder;
  const NewFlags flags{.project = {.name = "website-operator", .kind = "Website"},
                       .folder = (folder.path() / "new").string()};
  new_project(flags);
  EXPECT_TRUE(fs::exists(folder.path() / "new/.github/workflows/ci.yaml"));
  EXPECT_NE(evenkeel::detail::read_file((folder.path() / "new/src/website.hpp").string())
                .find(".plural = \"websites\""),
            std::string::npos);
  try {
    new_project(flags);
    FAIL() << "the folder is not empty";
  } catch (const evenkeel::Error& error) {
    EXPECT_EQ(error.what(), flags.folder + ": exists and is not empty; nothing was written");
  }
  std::ofstream(folder.path() / "file") << "x";
  try {
    new_project({.project = flags.project, .folder = (folder.path() / "file").string()});
    FAIL() << "there is a file";
  } catch (const evenkeel::Error& error) {
    EXPECT_EQ(error.what(), (folder.path() / "file").string() + ": is a file; nothing was written");
  }
}

}  // namespace scaffold_test
