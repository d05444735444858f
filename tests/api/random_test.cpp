// SPDX-License-Identifier: Apache-2.0
// Random documents, compared with nlohmann's library.
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/nlohmann.hpp>

#include "random_json.hpp"

namespace ek = evenkeel;
using ek::Json;

namespace random_types {

enum class Color { red, dark_blue };
EVENKEEL_ENUM(Color, red, dark_blue)

struct Leaf {
  std::string text = {};
  std::optional<double> number = {};
  bool operator==(const Leaf&) const = default;
};
struct Branch {
  bool flag = false;
  std::int64_t wide = 0;
  int narrow = 0;
  Color color = Color::red;
  Leaf leaf = {};
  std::optional<Leaf> maybe = {};
  std::vector<Leaf> leaves = {};
  std::map<std::string, std::vector<int>> lists = {};
  std::vector<Branch> children = {};
  Json free_form = {};
  bool operator==(const Branch&) const = default;
};
EVENKEEL_FIELDS(Leaf, text, number)
EVENKEEL_FIELDS(Branch, flag, wide, narrow, color, leaf, maybe, leaves, lists, children, free_form)

}  // namespace random_types

namespace {

using ek::tests::Random;
using random_types::Branch;
using random_types::Color;
using random_types::Leaf;

double finite(Random& random) {
  return static_cast<double>(static_cast<std::int64_t>(random.bits())) / 1e7;
}

Leaf random_leaf(Random& random) {
  Leaf out{.text = random.text(), .number = {}};
  if (random.chance(2)) out.number = finite(random);
  return out;
}

Branch random_branch(Random& random, int depth) {
  Branch out;
  out.flag = random.chance(2);
  out.wide = static_cast<std::int64_t>(random.bits());
  out.narrow = static_cast<std::int32_t>(random.bits() & 0xffffffffU);
  out.color = random.chance(2) ? Color::red : Color::dark_blue;
  out.leaf = random_leaf(random);
  if (random.chance(2)) out.maybe = random_leaf(random);
  for (std::size_t left = random.below(3); left > 0; --left) out.leaves.push_back(random_leaf(random));
  for (std::size_t left = random.below(3); left > 0; --left)
    out.lists[random.text()] = std::vector<int>(random.below(3), static_cast<int>(random.below(1000)));
  for (std::size_t left = depth > 0 ? random.below(3) : 0; left > 0; --left)
    out.children.push_back(random_branch(random, depth - 1));
  if (random.chance(2)) out.free_form = random.json();
  return out;
}

// Second implementation, written by hand.

nlohmann::json by_hand(const Leaf& leaf) {
  nlohmann::json out{{"text", leaf.text}};
  if (leaf.number) out["number"] = *leaf.number;
  return out;
}

nlohmann::json by_hand(const Branch& branch) {
  nlohmann::json out{{"flag", branch.flag},
                     {"wide", branch.wide},
                     {"narrow", branch.narrow},
                     {"color", branch.color == Color::red ? "Red" : "DarkBlue"},
                     {"leaf", by_hand(branch.leaf)}};
  if (branch.maybe) out["maybe"] = by_hand(*branch.maybe);
  for (const Leaf& leaf : branch.leaves) out["leaves"].push_back(by_hand(leaf));
  for (const auto& [name, list] : branch.lists) out["lists"][name] = list;
  for (const Branch& child : branch.children) out["children"].push_back(by_hand(child));
  if (!branch.free_form.is_null()) out["freeForm"] = ek::to_nlohmann(branch.free_form);
  return out;
}

TEST(RandomDocuments, AreWrittenAsTheSecondImplementationDoes) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int i = 0; i < 500; ++i) {
    const Branch branch = random_branch(random, 2);
    ASSERT_EQ(nlohmann::json::parse(ek::to_json(branch)), by_hand(branch));
    ASSERT_EQ(ek::to_nlohmann(ek::to_tree(branch)), by_hand(branch));
  }
}

TEST(RandomDocuments, AreReadFromAnyWayToWriteThem) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int i = 0; i < 500; ++i) {
    const Branch branch = random_branch(random, 2);
    const int indent = static_cast<int>(random.below(4)) - 1;
    const bool ascii = random.chance(2);  // escapes all non-ASCII characters, surrogate pairs included
    const std::string text = by_hand(branch).dump(indent, random.chance(2) ? ' ' : '\t', ascii);
    ASSERT_TRUE(ek::from_json<Branch>(text) == branch) << text;
    ASSERT_TRUE(ek::from_tree<Branch>(ek::from_nlohmann(by_hand(branch))) == branch) << text;
  }
}

TEST(RandomDocuments, OfNoTypeAreReadAlikeByBothParsers) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const Json document = random.json(5);
    const std::string text =
        ek::to_nlohmann(document).dump(static_cast<int>(random.below(3)) - 1, ' ', random.chance(2));
    ASSERT_EQ(Json::parse(text).dump(), document.dump()) << text;
    ASSERT_EQ(ek::from_json<std::vector<Json>>("[" + text + "]").at(0).dump(), document.dump()) << text;
    ASSERT_EQ(Json::parse(document.dump(2)).dump(), document.dump());
  }
}

/// Any damaged document is either accepted or rejected with a DecodeError; under the sanitizers this also
/// shows that no read is out of bounds.
TEST(RandomDocuments, ThatAreDamagedNeverDoMoreThanThrow) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = ek::to_json(random_branch(random, 1));
    for (std::size_t left = 1 + random.below(3); left > 0 && !text.empty(); --left) {
      const std::size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text.erase(at, 1 + random.below(4));
          break;
        case 2:
          text[at] = static_cast<char>(random.bits() & 255U);
          break;
        default:
          text.insert(at, 1, "{}[]\",:\\0n-"[random.below(11)]);
          break;
      }
    }
    try {
      static_cast<void>(ek::from_json<Branch>(text, "damaged"));
    } catch (const ek::DecodeError& error) {
      ++refused;
      ASSERT_EQ(std::string(error.what()).rfind("damaged: ", 0), 0U) << error.what();
    }
  }
  EXPECT_GT(refused, 1500);
}

TEST(Nlohmann, ConvertsBothWays) {
  const auto theirs =
      nlohmann::json::parse(R"({"a":[1,-2,2.5,true,null,"x"],"b":{},"c":9223372036854775808})");
  const Json ours = ek::from_nlohmann(theirs);
  EXPECT_EQ(ours["a"].dump(), R"([1,-2,2.5,true,null,"x"])");
  EXPECT_EQ(ours["c"].as_number(), 9223372036854775808.0);
  EXPECT_EQ(ek::to_nlohmann(ours)["a"], theirs["a"]);
  EXPECT_THROW(static_cast<void>(ek::from_nlohmann(nlohmann::json::binary({1, 2}))), ek::DecodeError);
}

}  // namespace
