// SPDX-License-Identifier: Apache-2.0
// Runs each target on its stored inputs, with the sanitizers of the build.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

const std::filesystem::path corpus = EVENKEEL_FUZZ_CORPUS;

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class Replay : public ::testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(OfCorpus, Replay, ::testing::ValuesIn(targets),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(Replay, Holds) {
  GetParam().run("");
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus / GetParam().name)) {
    SCOPED_TRACE(file.path().filename().string());
    std::fprintf(stderr, "%s\n", file.path().filename().c_str());
    GetParam().run(read(file.path()));
    ++count;
  }
  EXPECT_GT(count, 0U);
}

TEST(Corpus, HasNoInputsWithoutTarget) {
  std::set<std::string> names;
  for (const Target& target : targets) names.emplace(target.name);
  for (const auto& folder : std::filesystem::directory_iterator(corpus))
    EXPECT_TRUE(names.contains(folder.path().filename().string())) << folder.path();
}

}  // namespace
}  // namespace evenkeel::fuzz
