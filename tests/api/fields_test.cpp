// SPDX-License-Identifier: Apache-2.0
// Descriptions of structs with base classes: every member is read and written at its address.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/patch.hpp>

namespace ek = evenkeel;
using ek::Json;

namespace mixins {

struct Empty {};
struct Named {
  std::string name = "n";
  std::optional<int> rank = {};
  bool operator==(const Named&) const = default;
};
struct Sized {
  int size = 3;
  std::vector<std::string> tags = {};
  bool operator==(const Sized&) const = default;
};
// The second base is at an offset, and so is its own second base.
struct Placed : Empty, Sized, Named {
  std::string zone = "z";
  bool operator==(const Placed& other) const {
    return name == other.name && rank == other.rank && size == other.size && tags == other.tags &&
           zone == other.zone;
  }
};
struct Owned {
  std::map<std::string, std::string> owners = {};
  bool operator==(const Owned&) const = default;
};
struct Spec : Owned, Placed {
  Placed inner = {};
  std::vector<Placed> parts = {};
  std::optional<Placed> spare = {};
  bool operator==(const Spec& other) const {
    return owners == other.owners && Placed::operator==(other) && inner == other.inner &&
           parts == other.parts && spare == other.spare;
  }
};
struct Labelled {
  std::map<std::string, std::string> extra = {};
};
// The metadata itself is inherited from a second base.
struct WithMetadata {
  ek::ObjectMeta metadata = {};
};
struct Thing : Labelled, WithMetadata {
  static constexpr ek::ResourceInfo resource{
      .group = "example.dev", .version = "v1", .kind = "Thing", .plural = "things"};
  Spec spec = {};
};

EVENKEEL_FIELDS(Placed, name, rank, size, tags, zone)
EVENKEEL_FIELDS(Spec, owners, name, rank, size, tags, zone, inner, parts, spare)
EVENKEEL_FIELDS(Thing, metadata, extra, spec)

// Derived from a described struct, and described itself: the derived description is used.
struct Base {
  int a = 1;
};
struct Derived : Named, Base {
  int b = 2;
};
EVENKEEL_FIELDS(Base, a)
EVENKEEL_FIELDS_PARTIAL(Derived, b, a)

struct Undescribed : Named, Base {};

struct Partly {
  int sent = 1;
  int kept = 2;
};
EVENKEEL_FIELDS_PARTIAL(Partly, sent)

}  // namespace mixins

// A struct that merely derives from a described one does not count: its own members would be omitted, and
// those of the base accessed at the wrong address.
static_assert(ek::Described<mixins::Derived> && !ek::Described<mixins::Undescribed>);

namespace {

using mixins::Placed;
using mixins::Spec;
using mixins::Thing;

Spec filled() {
  Spec spec;
  spec.owners = {{"a", "b"}};
  spec.name = "outer";
  spec.rank = 7;
  spec.size = 9;
  spec.tags = {"x", "y"};
  spec.zone = "here";
  spec.inner.name = "inner";
  spec.inner.size = 1;
  spec.parts.resize(2);
  spec.parts[1].zone = "there";
  spec.parts[1].tags = {"t"};
  spec.spare.emplace();
  spec.spare->rank = 0;
  return spec;
}

constexpr const char* filled_text =
    R"({"owners":{"a":"b"},"name":"outer","rank":7,"size":9,"tags":["x","y"],"zone":"here",)"
    R"("inner":{"name":"inner","size":1,"zone":"z"},)"
    R"("parts":[{"name":"n","size":3,"zone":"z"},{"name":"n","size":3,"tags":["t"],"zone":"there"}],)"
    R"("spare":{"name":"n","rank":0,"size":3,"zone":"z"}})";

TEST(Fields, MembersOfEveryBaseClassAreWrittenFromWhereTheyAre) {
  EXPECT_EQ(ek::to_json(Placed()), R"({"name":"n","size":3,"zone":"z"})");
  EXPECT_EQ(ek::to_json(filled()), filled_text);
  EXPECT_EQ(ek::to_tree(filled()), Json::parse(filled_text));
}

TEST(Fields, MembersOfEveryBaseClassAreReadToWhereTheyAre) {
  EXPECT_EQ(ek::from_json<Spec>(filled_text), filled());
  EXPECT_EQ(ek::from_tree<Spec>(Json::parse(filled_text)), filled());
}

TEST(Fields, ObjectsWithMetadataInASecondBaseRoundTrip) {
  Thing thing;
  thing.metadata.name = "one";
  thing.extra = {{"k", "v"}};
  thing.spec = filled();
  const std::string text = ek::to_json(thing);
  EXPECT_EQ(text, R"({"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"one"},)"
                  R"("extra":{"k":"v"},"spec":)" +
                      std::string(filled_text) + "}");
  const Thing again = ek::from_json<Thing>(text);
  EXPECT_EQ(again.metadata.name, "one");
  EXPECT_EQ(again.extra, thing.extra);
  EXPECT_EQ(again.spec, thing.spec);
}

TEST(Fields, DefaultsOfBaseClassesAreInTheSchema) {
  const Json properties = ek::schema_of<Spec>()["properties"];
  EXPECT_EQ(properties["name"]["default"], Json("n"));
  EXPECT_EQ(properties["size"]["default"], Json(3));
  EXPECT_EQ(properties["zone"]["default"], Json("z"));
  EXPECT_EQ(properties["inner"]["properties"]["name"]["default"], Json("n"));
  EXPECT_EQ(properties["tags"], Json::parse(R"({"type":"array","items":{"type":"string"}})"));
}

TEST(Fields, AnEditOfASecondBaseIsCarriedOntoWhatWasRead) {
  Thing before;
  before.metadata.name = "one";
  Thing after = before;
  after.spec.name = "changed";
  after.spec.inner.size = 4;
  const Json raw = Json::parse(
      R"({"metadata":{"name":"one"},"spec":{"name":"n","unknown":1,"inner":{"size":3,"unknown":2}}})");
  EXPECT_EQ(
      ek::overlay(raw, before, after),
      Json::parse(
          R"({"metadata":{"name":"one"},"spec":{"name":"changed","unknown":1,"inner":{"size":4,"unknown":2}}})"));
  EXPECT_EQ(ek::merge_patch(ek::to_tree(before), ek::to_tree(after)),
            Json::parse(R"({"spec":{"name":"changed","inner":{"size":4}}})"));
}

TEST(Fields, TheDescriptionOfADerivedStructCountsAndNotThatOfItsBase) {
  EXPECT_EQ(ek::to_json(mixins::Derived()), R"({"b":2,"a":1})");
}

TEST(Fields, MembersThatAPartialDescriptionLeavesOutStayOffTheWire) {
  EXPECT_EQ(ek::to_json(mixins::Partly{.sent = 5, .kept = 6}), R"({"sent":5})");
  EXPECT_EQ(ek::from_json<mixins::Partly>(R"({"sent":5,"kept":6})").kept, 2);
}

}  // namespace
