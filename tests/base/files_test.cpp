// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>

#include "../support/temporary_directory.hpp"

namespace evenkeel::files_tests {
namespace {

namespace fs = std::filesystem;
using detail::FileReplacement;
using detail::FileRule;
using detail::replace_file;

class Files : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (directory.path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string pipe(const std::string& name) const {
    EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    return path(name);
  }
  /// Returns the contents, or what is wrong with the file.
  static std::string read(const std::string& path, FileRule rule) {
    std::string problem;
    return detail::read_file(path, problem, rule).value_or("<" + problem + ">");
  }
  static std::string refusal(const std::string& path, const std::string& text) {
    try {
      replace_file(path, text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  tests::TemporaryDirectory directory;
};

TEST_F(Files, AreReadByEveryRule) {
  const std::string file = write("a", "text");
  for (const FileRule rule : {FileRule::named, FileRule::regular, FileRule::own}) {
    EXPECT_EQ(read(file, rule), "text");
    EXPECT_EQ(read(path("none"), rule), "<No such file or directory>");
    EXPECT_EQ(read(directory.path.string(), rule), "<Is a directory>");
  }
}

TEST_F(Files, APipeIsNotWaitedFor) {
  const std::string file = pipe("pipe");
  EXPECT_EQ(read(file, FileRule::named), "") << "it has no writer";
  EXPECT_EQ(read(file, FileRule::regular), "<it is not a regular file>");
  EXPECT_EQ(read(file, FileRule::own), "<it is not a regular file>");
  EXPECT_EQ(read("/dev/zero", FileRule::regular), "<it is not a regular file>");
}

TEST_F(Files, MountedSecretsAreLinksAndOwnFilesAreNone) {
  write("data", "text");
  fs::create_symlink(path("data"), path("link"));
  EXPECT_EQ(read(path("link"), FileRule::named), "text");
  EXPECT_EQ(read(path("link"), FileRule::regular), "text");
  EXPECT_EQ(read(path("link"), FileRule::own), "<it is a symbolic link>");
  pipe("pipe");
  fs::create_symlink(path("pipe"), path("link-to-pipe"));
  EXPECT_EQ(read(path("link-to-pipe"), FileRule::regular), "<it is not a regular file>");
}

TEST_F(Files, OwnOnesAreNotWritableByEverybody) {
  const std::string file = write("a", "text");
  ASSERT_EQ(::chmod(file.c_str(), 0660), 0);
  EXPECT_EQ(read(file, FileRule::own), "text") << "a volume with an fsGroup sets this mode";
  ASSERT_EQ(::chmod(file.c_str(), 0602), 0);
  EXPECT_EQ(read(file, FileRule::own), "<everybody can write it>");
  EXPECT_EQ(read(file, FileRule::regular), "text");
}

TEST_F(Files, OwnOnesAreNotThoseOfAnotherUser) {
  const std::string file = write("a", "text");
  if (::chown(file.c_str(), 12345, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_EQ(read(file, FileRule::own), "<it belongs to another user>");
}

TEST_F(Files, TheSizeIsKnownBeforeAFileIsRead) {
  const std::string file = write("sparse", "");
  fs::resize_file(file, std::uintmax_t{1} << 40);  // it would not fit into memory
  EXPECT_EQ(read(file, FileRule::named), "<longer than 8388608 bytes>");
  EXPECT_EQ(read(file, FileRule::regular), "<longer than 8388608 bytes>");
  EXPECT_EQ(read("/dev/zero", FileRule::named), "<longer than 8388608 bytes>") << "the size is not known";
  fs::resize_file(file, std::uintmax_t{8} << 20);
  EXPECT_EQ(read(file, FileRule::regular).size(), std::size_t{8} << 20);
}

TEST_F(Files, AReplacementIsPrivateAndComplete) {
  write("a", "before");
  replace_file(path("a"), "after");
  EXPECT_EQ(content("a"), "after");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(path("a.new")));
}

TEST_F(Files, AReplacementFollowsNoLink) {
  write("victim", "precious");
  fs::create_symlink(path("victim"), path("a"));
  fs::create_symlink(path("victim"), path("a.new"));
  replace_file(path("a"), "mine");
  EXPECT_EQ(content("victim"), "precious");
  EXPECT_FALSE(fs::is_symlink(path("a")));
  EXPECT_EQ(content("a"), "mine");
  pipe("b.new");
  replace_file(path("b"), "mine");
  EXPECT_EQ(content("b"), "mine");
}

TEST_F(Files, AReplacementThatIsGivenUpLeavesNothing) {
  write("a", "before");
  { const FileReplacement draft(path("a")); }
  EXPECT_EQ(content("a"), "before");
  EXPECT_FALSE(fs::exists(path("a.new")));
}

TEST_F(Files, AReplacementNamesTheReasonOfAFailure) {
  EXPECT_EQ(refusal(path("no/a"), "text"), "No such file or directory");
  fs::create_directory(path("a.new"));
  EXPECT_EQ(refusal(path("a"), "text"), path("a.new") + ": Is a directory");
  fs::create_directories(path("b/inner"));
  EXPECT_EQ(refusal(path("b"), "text"), "Is a directory");
  EXPECT_FALSE(fs::exists(path("b.new")));
}

}  // namespace
}  // namespace evenkeel::files_tests
