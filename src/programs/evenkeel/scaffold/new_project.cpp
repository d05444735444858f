// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/scaffold/new_project.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <evenkeel/base/error.hpp>

namespace evenkeel::program {
namespace {

namespace fs = std::filesystem;

void require_new(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  if (!fs::is_directory(folder, error)) throw Error(folder.string() + ": is a file; nothing was written");
  const bool is_empty = fs::is_empty(folder, error);
  if (error) throw Error(folder.string() + ": cannot read: " + error.message());
  if (!is_empty) throw Error(folder.string() + ": exists and is not empty; nothing was written");
}

void write(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw Error(path.parent_path().string() + ": cannot make the folder: " + error.message());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(path.string() + ": cannot write: " + std::strerror(errno));
}

}  // namespace

void new_project(const NewFlags& flags) {
  const std::vector<ProjectFile> files = make_project(flags.project);
  const fs::path folder = flags.folder.empty() ? flags.project.name : flags.folder;
  require_new(folder);
  for (const ProjectFile& file : files) write(folder / file.path, file.text);
  std::printf(
      "%s: %zu files. Next:\n  cd %s\n  cmake -S . -B build && cmake --build build\n  ctest --test-dir "
      "build\n",
      folder.c_str(), files.size(), folder.c_str());
}

}  // namespace evenkeel::program
