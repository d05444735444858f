// SPDX-License-Identifier: Apache-2.0
#include "cache/collection_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <zstd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/temporary_directory.hpp"
#include "objects.hpp"

namespace evenkeel {
namespace {

namespace fs = std::filesystem;
using detail::CollectionCopy;
using detail::CollectionFile;
using detail::CollectionFileError;
using detail::CollectionIdentity;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::object;

constexpr std::size_t plenty = 1u << 30;

class CollectionFiles : public ::testing::Test {
 protected:
  static CollectionIdentity identity() {
    return {.server = "https://one:6443",
            .resource = {"", "v1", "ConfigMap", "configmaps"},
            .namespace_ = "default"};
  }
  static StoreSnapshot objects(int count) {
    ObjectStore store;
    std::vector<WireObject> all;
    for (int i = 0; i < count; ++i)
      all.push_back(object({.name = "map-" + std::to_string(i), .version = std::to_string(100 + i)}));
    store.replace(std::move(all));
    return store.snapshot();
  }
  std::string bytes() const {
    std::ifstream in(file.path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::string& bytes) const {
    std::ofstream(file.path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string refusal(std::size_t max_bytes = plenty) const {
    try {
      static_cast<void>(file.read({.max_bytes = max_bytes}));
    } catch (const CollectionFileError& error) {
      return error.what();
    }
    return "";
  }

  tests::TemporaryDirectory temporary;
  const fs::path& directory = temporary.path;
  CollectionFile file{directory, identity()};
};

TEST_F(CollectionFiles, ACopyIsReadAsItWasWritten) {
  const StoreSnapshot all = objects(1000);
  const auto size = file.write("4711", all, plenty);
  ASSERT_TRUE(size);
  EXPECT_EQ(*size, fs::file_size(file.path()));
  const auto copy = file.read({.max_bytes = plenty});
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->version, "4711");
  ASSERT_EQ(copy->objects.size(), 1000U);
  auto at = all.begin();
  for (const WireObject& read : copy->objects) {
    EXPECT_EQ(read.raw(), at->raw());
    EXPECT_EQ(read.uid(), at->uid());
    ++at;
  }
  EXPECT_EQ(fs::status(file.path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CollectionFiles, NoneIsNotAnError) {
  EXPECT_FALSE(file.read({.max_bytes = plenty}));
}

TEST_F(CollectionFiles, ANewCopyReplacesTheOldOne) {
  file.write("1", objects(3), plenty);
  file.write("2", objects(1), plenty);
  EXPECT_EQ(file.read({.max_bytes = plenty})->version, "2");
  EXPECT_EQ(file.read({.max_bytes = plenty})->objects.size(), 1U);
}

TEST_F(CollectionFiles, ACutFileIsNoticedAtEveryByte) {
  file.write("1", objects(5), plenty);
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    replace(whole.substr(0, size));
    EXPECT_THAT(refusal(), AllOf(HasSubstr(file.path().string()), HasSubstr("it is damaged"))) << size;
  }
  replace(whole + "x");
  EXPECT_THAT(refusal(), HasSubstr("it does not end where it should"));
}

// But for bits that mean nothing, of which zstd's headers have some.
TEST_F(CollectionFiles, AChangedByteIsNoticedUnlessItChangesNothing) {
  const StoreSnapshot all = objects(5);
  file.write("1", all, plenty);
  const std::string whole = bytes();
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    replace(changed);
    if (!refusal().empty()) {
      ++noticed;
      continue;
    }
    const auto copy = file.read({.max_bytes = plenty});
    ASSERT_EQ(copy->objects.size(), 5U) << at;
    auto expected = all.begin();
    for (const WireObject& read : copy->objects) EXPECT_EQ(read.raw(), (expected++)->raw()) << at;
  }
  EXPECT_GT(noticed, whole.size() - 10);
}

TEST_F(CollectionFiles, AnotherCollectionsFileIsRefused) {
  for (const auto& change : std::vector<std::function<void(CollectionIdentity&)>>{
           [](auto& other) { other.server = "https://two:6443"; },
           [](auto& other) { other.resource.version = "v2"; }, [](auto& other) { other.namespace_ = ""; },
           [](auto& other) { other.label_selector = "app=web"; },
           [](auto& other) { other.field_selector = "metadata.name=a"; }}) {
    CollectionIdentity other = identity();
    change(other);
    const CollectionFile foreign(directory, other);
    EXPECT_NE(foreign.path(), file.path());
    foreign.write("1", objects(1), plenty);
    fs::rename(foreign.path(), file.path());
    EXPECT_THAT(refusal(), HasSubstr("it is a copy of another collection"));
  }
}

TEST_F(CollectionFiles, AnotherFormatIsRefused) {
  const std::string_view text("\x06\0\0\0format", 10);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 1));
  replace(frame);
  EXPECT_THAT(refusal(), HasSubstr("it has another format"));
}

TEST_F(CollectionFiles, ACopyThatIsTooLargeIsNotWritten) {
  file.write("1", objects(1), plenty);
  EXPECT_FALSE(file.write("2", objects(20'000), 10'000));
  EXPECT_FALSE(file.read({.max_bytes = plenty})) << "nor is an older one left";
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(CollectionFiles, ACopyWithTooManyBytesIsNotRead) {
  file.write("1", objects(100), plenty);
  EXPECT_THAT(refusal(5000), HasSubstr("its objects have more than 5000 bytes"));
}

// Others may be able to write the directory, such as that of a volume.
TEST_F(CollectionFiles, OnlyAnOwnFileIsRead) {
  file.write("1", objects(1), plenty);
  const std::string path = file.path().string();
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(refusal(), path + ": everybody can write it");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::rename(path, directory / "elsewhere");
  fs::create_symlink(directory / "elsewhere", path);
  EXPECT_EQ(refusal(), path + ": it is a symbolic link");
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), path + ": it is not a regular file") << "nobody is waited for";
  file.write("2", objects(1), plenty);
  EXPECT_EQ(file.read({.max_bytes = plenty})->version, "2") << "the next copy takes its place";
}

TEST_F(CollectionFiles, AFailedWriteNamesTheFile) {
  fs::remove_all(directory);
  try {
    file.write("1", objects(1), plenty);
    FAIL() << "there is no directory";
  } catch (const CollectionFileError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(file.path().string()), HasSubstr("No such file")));
  }
}

}  // namespace
}  // namespace evenkeel
