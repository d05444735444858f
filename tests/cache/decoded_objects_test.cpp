// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/cache/detail/decoded_objects.hpp>

#include "objects.hpp"

namespace evenkeel {
namespace {

using detail::DecodedObjects;
using tests::object;

// An object of about a kilobyte.
WireObject padded(const std::string& name, const std::string& version = "1") {
  return WireScanner().object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                              R"(","namespace":"default","resourceVersion":")" + version +
                              R"("},"data":{"v":")" + std::string(900, 'x') + "\"}}");
}

TEST(DecodedObjectsTest, TheSecondReadReturnsTheSameObject) {
  DecodedObjects decoded(1 << 20);
  const WireObject wire = object({.name = "a", .version = "1"});
  const auto first = decoded.decode<ConfigMap>(wire);
  EXPECT_EQ(first->metadata.name, "a");
  EXPECT_TRUE(decoded.decode<ConfigMap>(wire).same(first));
  EXPECT_EQ(decoded.decode<ConfigMap>(wire).raw(), wire.raw());
  EXPECT_EQ(decoded.bytes(), wire.raw().size());
}

TEST(DecodedObjectsTest, TypesAndStatesAreKeptApart) {
  DecodedObjects decoded(1 << 20);
  const WireObject wire = object({.name = "a", .version = "1"});
  const auto typed = decoded.decode<ConfigMap>(wire);
  EXPECT_EQ(decoded.decode<DynamicObject>(wire)->name(), "a");
  EXPECT_EQ(decoded.decode<PartialObject>(wire)->metadata.name, "a");
  const auto later = decoded.decode<ConfigMap>(object({.name = "a", .version = "2"}));
  EXPECT_EQ(later->metadata.resource_version, "2");
  EXPECT_EQ(typed->metadata.resource_version, "1");
}

// The decoded form of metadata does not hold the JSON, whose place the next object may take.
TEST(DecodedObjectsTest, AnObjectInThePlaceOfAnotherIsAnother) {
  DecodedObjects decoded(1 << 20);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(100 + i);
    EXPECT_EQ(decoded.decode<PartialObject>(object({.name = name, .version = "1"}))->metadata.name, name);
  }
}

TEST(DecodedObjectsTest, IsBoundedAndForgetsWhatIsNotRead) {
  DecodedObjects decoded(20'000);
  const WireObject read = padded("read");
  const WireObject unread = padded("unread");
  const auto first = decoded.decode<ConfigMap>(read);
  const auto other = decoded.decode<ConfigMap>(unread);
  for (int i = 0; i < 100; ++i) {
    decoded.decode<ConfigMap>(padded("other-" + std::to_string(i)));
    EXPECT_TRUE(decoded.decode<ConfigMap>(read).same(first)) << i;
    EXPECT_LE(decoded.bytes(), 20'000U);
  }
  EXPECT_FALSE(decoded.decode<ConfigMap>(unread).same(other));
}

TEST(DecodedObjectsTest, LargeAndEmptyObjectsAndTheLimitZeroAreNotRemembered) {
  DecodedObjects small(1'000);
  const WireObject wire = padded("a");
  EXPECT_EQ(small.decode<ConfigMap>(wire)->metadata.name, "a");
  EXPECT_EQ(small.bytes(), 0U);
  EXPECT_FALSE(small.decode<ConfigMap>(WireObject()));
  DecodedObjects off(0);
  EXPECT_FALSE(off.decode<ConfigMap>(wire).same(off.decode<ConfigMap>(wire)));
}

TEST(DecodedObjectsTest, WhatDoesNotDecodeThrowsEachTime) {
  DecodedObjects decoded(1 << 20);
  const WireObject wire = WireScanner().object(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"1"},"data":[1]})");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(decoded.decode<ConfigMap>(wire), DecodeError);
  EXPECT_EQ(decoded.bytes(), 0U);
}

TEST(DecodedObjectsConcurrency, ReadersShareWhatOneOfThemDecoded) {
  DecodedObjects decoded(30'000);
  std::vector<WireObject> objects;
  for (int i = 0; i < 40; ++i) objects.push_back(padded(std::to_string(i)));
  std::vector<std::jthread> readers;
  for (std::size_t reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      for (std::size_t i = 0; i < 2'000; ++i) {
        const std::size_t at = (i * (reader + 1)) % objects.size();
        EXPECT_EQ(decoded.decode<ConfigMap>(objects[at])->metadata.name, std::to_string(at));
      }
    });
  }
  readers.clear();
  EXPECT_LE(decoded.bytes(), 30'000U);
}

}  // namespace
}  // namespace evenkeel
