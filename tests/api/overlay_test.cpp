// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/patch.hpp>

#include "random_json.hpp"

namespace ek = evenkeel;
using ek::Json;

namespace overlay_types {

struct Point {
  int x = 0;
  std::optional<int> y = {};
};
struct Part {
  std::optional<int> a = {};
  std::optional<std::string> b = {};
};
struct Item {
  std::string name = {};
  int value = 0;
  Part part = {};
  std::vector<Point> points = {};
};
struct Port {
  int port = 0;
  std::string protocol = {};
  std::optional<std::string> note = {};
};
struct Document {
  std::string title = {};
  int count = 0;
  Part part = {};
  std::optional<Part> maybe = {};
  std::vector<Item> items = {};
  std::vector<Port> ports = {};
  std::map<std::string, Item> by_name = {};
  std::vector<std::string> tags = {};
  Json anything = {};
};
EVENKEEL_FIELDS(Point, x, y)
EVENKEEL_FIELDS(Part, a, b)
EVENKEEL_FIELDS(Item, name, value, part, points)
EVENKEEL_FIELDS(Port, port, protocol, note)
EVENKEEL_FIELDS(Document, title, count, part, maybe, items, (ports, ek::list_map("port", "protocol")),
                by_name, tags, anything)

}  // namespace overlay_types

namespace {

using overlay_types::Document;
using overlay_types::Item;
using overlay_types::Part;
using overlay_types::Point;
using overlay_types::Port;
using Edit = std::function<void(Document&)>;

Json edited(std::string_view raw_text, const Edit& edit) {
  const Json raw = Json::parse(raw_text);
  const auto before = ek::from_tree<Document>(raw);
  Document after = before;
  edit(after);
  return ek::overlay(raw, before, after);
}

TEST(Overlay, WithoutAChangeIsTheDocumentAsItStands) {
  const char* raw =
      R"({"title":null,"count":0,"zz":[1,{"a":null}],"items":[{"name":"a","zz":1},null],"ports":[]})";
  EXPECT_EQ(edited(raw, [](Document&) {}), Json::parse(raw));
}

TEST(Overlay, ChangesOneFieldAndKeepsItsUnknownNeighbours) {
  EXPECT_EQ(edited(R"({"count":1,"zz":1,"part":{"a":1,"zz":2}})", [](Document& it) { it.part.a = 5; }),
            Json::parse(R"({"count":1,"zz":1,"part":{"a":5,"zz":2}})"));
}

TEST(Overlay, UnsettingTheLastFieldOfAPlainStructKeepsWhatOthersWrote) {
  const auto unset = [](Document& it) { it.part.a.reset(); };
  EXPECT_EQ(edited(R"({"part":{"a":1,"zz":2}})", unset), Json::parse(R"({"part":{"zz":2}})"));
  EXPECT_EQ(edited(R"({"part":{"a":1}})", unset), Json::parse(R"({})"));
}

TEST(Overlay, ResettingAnOptionalStructRemovesItWhole) {
  EXPECT_EQ(edited(R"({"maybe":{"a":1,"zz":2},"zz":3})", [](Document& it) { it.maybe.reset(); }),
            Json::parse(R"({"zz":3})"));
}

TEST(Overlay, ItemsAreMatchedByNameWhereverTheyMove) {
  const char* raw =
      R"({"items":[{"name":"a","value":1,"zz":1},{"name":"b","value":2,"zz":2},{"name":"c","value":3,"zz":3}]})";
  EXPECT_EQ(
      edited(raw,
             [](Document& it) {
               std::swap(it.items[0], it.items[2]);
               it.items[0].value = 30;
               it.items.erase(it.items.begin() + 1);
               it.items.insert(it.items.begin(), Item{.name = "new", .value = 9, .part = {}, .points = {}});
             })["items"],
      Json::parse(
          R"([{"name":"new","value":9},{"name":"c","value":30,"zz":3},{"name":"a","value":1,"zz":1}])"));
}

TEST(Overlay, ItemsAreMatchedByDeclaredKeys) {
  const char* raw = R"({"ports":[{"port":53,"protocol":"TCP","zz":1},{"port":53,"protocol":"UDP","zz":2}]})";
  EXPECT_EQ(
      edited(raw,
             [](Document& it) {
               std::swap(it.ports[0], it.ports[1]);
               it.ports[0].note = "n";
             })["ports"],
      Json::parse(R"([{"port":53,"protocol":"UDP","note":"n","zz":2},{"port":53,"protocol":"TCP","zz":1}])"));
}

TEST(Overlay, AnItemWithAnotherKeyIsAnotherItem) {
  EXPECT_EQ(edited(R"({"items":[{"name":"a","value":1,"zz":1}]})",
                   [](Document& it) { it.items[0].name = "b"; })["items"],
            Json::parse(R"([{"name":"b","value":1}])"));
}

TEST(Overlay, ItemsWithoutAKeyAreMatchedByPlaceAfterEqualOnes) {
  const char* raw = R"({"items":[{"name":"a","points":[{"x":1,"zz":1},{"x":2,"zz":2},{"x":3,"zz":3}]}]})";
  EXPECT_EQ(
      edited(raw, [](Document& it) { it.items[0].points[1].x = 20; })["items"][std::size_t{0}]["points"],
      Json::parse(R"([{"x":1,"zz":1},{"x":20,"zz":2},{"x":3,"zz":3}])"));
  EXPECT_EQ(edited(raw,
                   [](Document& it) {
                     it.items[0].points.erase(it.items[0].points.begin());
                   })["items"][std::size_t{0}]["points"],
            Json::parse(R"([{"x":2,"zz":2},{"x":3,"zz":3}])"));
}

TEST(Overlay, WithoutATypeMatchesByName) {
  EXPECT_EQ(ek::overlay(Json::parse(R"([{"name":"a","v":1,"zz":1},{"name":"b","zz":2}])"),
                        Json::parse(R"([{"name":"a","v":1},{"name":"b"}])"),
                        Json::parse(R"([{"name":"b","v":7},{"name":"a","v":1}])")),
            Json::parse(R"([{"name":"b","v":7,"zz":2},{"name":"a","v":1,"zz":1}])"));
}

// ---- Property: unknown fields survive any typed edit ----

/// Adds unknown members with unique values to every object of the document.
class Stranger {
 public:
  explicit Stranger(ek::tests::Random& random) : random_(random) {}
  /// In a map every name belongs to the type.
  void visit(Json& value, bool is_map = false) {
    if (value.is_array()) {
      for (Json& item : value.as_array()) visit(item);
    }
    if (!value.is_object()) return;
    for (auto& [name, member] : value.as_object()) {
      if (name != "anything") visit(member, name == "byName");
    }
    if (is_map || random_.chance(3)) return;
    const std::string mark = "mark-" + std::to_string(next_++);
    value["zz" + std::to_string(random_.below(3))] =
        random_.chance(2) ? Json(mark) : Json::object({{"deep", Json::array({Json(mark), random_.json(2)})}});
  }

 private:
  ek::tests::Random& random_;
  int next_ = 0;
};

std::set<std::string> marks(const Json& value) {
  std::set<std::string> out;
  if (value.is_string() && value.as_string().rfind("mark-", 0) == 0) out.insert(value.as_string());
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) out.merge(marks(value[i]));
  if (value.is_object()) {
    for (const auto& [name, member] : value.as_object()) out.merge(marks(member));
  }
  return out;
}

class RandomDocument {
 public:
  explicit RandomDocument(ek::tests::Random& random) : random_(random) {}

  int number() { return static_cast<int>(random_.below(5)); }
  Part part() {
    Part out;
    if (random_.chance(2)) out.a = number();
    if (random_.chance(2)) out.b = random_.text();
    return out;
  }
  Item item(std::string name) {
    Item out{.name = std::move(name), .value = number(), .part = part(), .points = {}};
    for (std::size_t left = random_.below(3); left > 0; --left)
      out.points.push_back(Point{number(), random_.chance(2) ? std::optional<int>(number()) : std::nullopt});
    return out;
  }
  Document document() {
    Document out{.title = random_.text(),
                 .count = number(),
                 .part = part(),
                 .maybe = {},
                 .items = {},
                 .ports = {},
                 .by_name = {},
                 .tags = {},
                 .anything = random_.json()};
    if (random_.chance(2)) out.maybe = part();
    for (int i = 0; i < number(); ++i) out.items.push_back(item("item" + std::to_string(i)));
    for (int i = 0; i < number(); ++i) out.ports.push_back(Port{i, random_.chance(2) ? "TCP" : "UDP", {}});
    for (int i = 0; i < number(); ++i) out.by_name["key" + std::to_string(i)] = item("n");
    for (int i = 0; i < number(); ++i) out.tags.push_back(random_.text());
    return out;
  }

  /// Makes one edit. Marks below a removed value are added to `lost`; `raw` is the document as read.
  void edit(Document& it, const Json& raw, std::set<std::string>& lost) {
    switch (random_.below(10)) {
      case 0:
        it.title = random_.text();
        return;
      case 1:
        it.part = part();
        return;
      case 2:
        it.tags.insert(it.tags.begin(), random_.text());
        return;
      case 3:
        it.anything = random_.json();
        return;
      case 4:
        if (it.items.empty()) return;
        it.items[random_.below(it.items.size())].value = 100 + number();
        return;
      case 5:
        if (it.items.empty()) return;
        std::rotate(it.items.begin(), it.items.begin() + 1, it.items.end());
        return;
      case 6:
        it.items.insert(it.items.begin(), item("fresh" + std::to_string(random_.bits())));
        return;
      case 7:
        return remove_item(it, raw, lost);
      case 8:
        for (Port& port : it.ports) port.note = random_.text();
        return;
      default:
        break;
    }
    if (it.by_name.empty()) return;
    const std::string key = it.by_name.begin()->first;
    if (random_.chance(2)) {
      it.by_name[key].part = part();
    } else {
      it.by_name.erase(key);
      lost.merge(marks(raw["byName"][key]));
    }
  }

 private:
  void remove_item(Document& it, const Json& raw, std::set<std::string>& lost) {
    if (it.items.empty()) return;
    const std::size_t at = random_.below(it.items.size());
    const std::string name = it.items[at].name;
    it.items.erase(it.items.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t i = 0; i < raw["items"].size(); ++i) {
      if (raw["items"][i]["name"] == Json(name)) lost.merge(marks(raw["items"][i]));
    }
  }

  ek::tests::Random& random_;
};

TEST(Overlay, UnknownFieldsSurviveAnyTypedEdit) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  ek::tests::Random random(seed);
  RandomDocument documents(random);
  for (int round = 0; round < 3000; ++round) {
    Json raw = ek::to_tree(documents.document());
    Stranger(random).visit(raw);
    const auto before = ek::from_tree<Document>(raw);
    Document after = before;
    std::set<std::string> lost;
    for (std::size_t edits = 1 + random.below(4); edits > 0; --edits) documents.edit(after, raw, lost);

    const Json result = ek::overlay(raw, before, after);
    ASSERT_EQ(ek::to_tree(ek::from_tree<Document>(result)).dump(), ek::to_tree(after).dump()) << raw.dump();
    std::set<std::string> kept = marks(result);
    for (const std::string& mark : marks(raw)) {
      ASSERT_TRUE(lost.contains(mark) || kept.contains(mark))
          << mark << " of " << raw.dump() << "\nin " << result.dump();
    }
    using ek::tests::without_nulls;
    ASSERT_EQ(without_nulls(ek::apply_merge_patch(raw, ek::merge_patch(raw, result))), without_nulls(result));
  }
}

}  // namespace
