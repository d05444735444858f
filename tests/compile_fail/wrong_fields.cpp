// SPDX-License-Identifier: Apache-2.0
// Descriptions that would do nothing, or something else than they say, do not compile.
// expect of Forgotten: member of the struct or of a base class is missing from EVENKEEL_FIELDS: list it
// expect of ForgottenInBase: member of the struct or of a base class is missing
// expect of ForgottenBase: member of the struct or of a base class is missing
// expect of NoMetadata: `metadata` is missing from EVENKEEL_FIELDS of a type that has a `resource`
// expect of Metadataless: a type with a `resource` has a member `evenkeel::ObjectMeta metadata`
// expect of Twice: two fields have the same name on the wire
// expect of TwiceInBases: a field needs a name on the wire: write .member, evenkeel::wire
// expect of SingularRule: rules of a type are `static constexpr evenkeel::CelRule rules
// expect of OneRule: rules of a type are
// expect of Pattern: pattern, min_length, max_length and one_of are for strings
// expect of PatternOfList: pattern, min_length, max_length and one_of are for strings
// expect of OneOf: pattern, min_length, max_length and one_of are for strings
// expect of OneOfEnum: one_of is not for enumerations, whose words are given by EVENKEEL_ENUM
// expect of Format: format is for strings and numbers
// expect of Minimum: minimum and maximum are for integers and numbers
// expect of MinimumOfTime: minimum and maximum are for integers and numbers
// expect of MinItems: min_items and max_items are for lists and maps
// expect of ListSet: list_atomic, list_set, list_map and match_by are for lists
// expect of ListMap: list_map and match_by are for lists of described structs
// expect of SetOfRecords: list_set is for lists of strings, numbers and the like
// expect of MapAtomic: map_atomic is for maps and structs
// expect of Preserve: preserve_unknown and embedded_object are for structs, maps and Json
// expect of OmitEmpty: omit_empty is for plain scalars and strings
// expect of DefaultOfRequired: default_to contradicts required and no_default
// expect: two enumerators have one word on the wire
// expect: describe it with EVENKEEL_FIELDS
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/time.hpp>

namespace ek = evenkeel;

enum class Color { red, green };
EVENKEEL_ENUM(Color, red, green)
struct Part {
  int size = 0;
};
EVENKEEL_FIELDS(Part, size)
struct Empty {};
struct Base {
  int base = 0;
};
struct Other {
  std::string other = {};
};

// All that is right, the opt-out included.
struct Right : Empty, Base, Other {
  static constexpr ek::CelRule rules[] = {{.rule = "self.size > 0"}};
  int size = 1;
  double ratio = 0;
  std::string text = {};
  Color color = Color::red;
  std::optional<ek::Time> since = {};
  std::vector<std::string> names = {};
  std::optional<std::vector<Part>> parts = {};
  std::map<std::string, Part> by_name = {};
  ek::Json any = {};
};
EVENKEEL_FIELDS(Right, base, other, (size, ek::minimum(0), ek::format("int32")), (ratio, ek::maximum(1)),
                (text, ek::pattern("^a"), ek::one_of("a", "ab"), ek::omit_empty), (color, ek::nullable),
                (since, ek::format("date-time")), (names, ek::list_set, ek::max_items(3)),
                (parts, ek::list_map("size")), (by_name, ek::map_atomic, ek::min_items(1)),
                (any, ek::preserve_unknown, ek::embedded_object, ek::minimum(1)))
struct Partly {
  int sent = 0;
  int kept = 0;
};
EVENKEEL_FIELDS_PARTIAL(Partly, sent)
// Classes with constructors cannot be counted.
struct Counter {
  Counter() {}
  int shown = 0;
  int hidden = 0;
};
EVENKEEL_FIELDS(Counter, shown)

#ifdef REJECTED
struct Forgotten {
  int a = 0;
  std::optional<std::string> b = {};
};
EVENKEEL_FIELDS(Forgotten, a)
struct ForgottenInBase : Base {
  int a = 0;
};
EVENKEEL_FIELDS(ForgottenInBase, a)
struct Middle : Base {
  int middle = 0;
};
struct ForgottenBase : Empty, Middle, Other {
  int a = 0;
};
EVENKEEL_FIELDS(ForgottenBase, a, other, base)
struct NoMetadata {
  static constexpr ek::ResourceInfo resource{.group = "a.dev", .kind = "A", .plural = "as"};
  ek::ObjectMeta metadata = {};
  Part spec = {};
};
EVENKEEL_FIELDS(NoMetadata, spec)
struct Metadataless {
  static constexpr ek::ResourceInfo resource{.group = "a.dev", .kind = "A", .plural = "as"};
  Part spec = {};
};
EVENKEEL_FIELDS(Metadataless, spec)
struct Twice : Base {
  int a = 0;
};
EVENKEEL_FIELDS(Twice, base, (a, ek::wire("base")))
struct TwiceInBases : Base {
  int base = 0;
};
EVENKEEL_FIELDS(TwiceInBases, base, Base::base)
struct SingularRule {
  static constexpr ek::CelRule rule[] = {{.rule = "self.a > 0"}};
  int a = 0;
};
EVENKEEL_FIELDS(SingularRule, a)
struct OneRule {
  static constexpr ek::CelRule rules = {.rule = "self.a > 0"};
  int a = 0;
};
EVENKEEL_FIELDS(OneRule, a)
struct Pattern {
  std::optional<int> a = {};
};
EVENKEEL_FIELDS(Pattern, (a, ek::pattern("^1")))
struct PatternOfList {
  std::vector<std::string> a = {};
};
EVENKEEL_FIELDS(PatternOfList, (a, ek::pattern("^1")))
struct OneOf {
  bool a = false;
};
EVENKEEL_FIELDS(OneOf, (a, ek::one_of("a")))
struct OneOfEnum {
  Color a = Color::red;
};
EVENKEEL_FIELDS(OneOfEnum, (a, ek::one_of("Red")))
struct Format {
  bool a = false;
};
EVENKEEL_FIELDS(Format, (a, ek::format("byte")))
struct Minimum {
  std::string a = {};
};
EVENKEEL_FIELDS(Minimum, (a, ek::minimum(1)))
struct MinimumOfTime {
  std::optional<ek::Time> a = {};
};
EVENKEEL_FIELDS(MinimumOfTime, (a, ek::minimum(1)))
struct MinItems {
  double a = 0;
};
EVENKEEL_FIELDS(MinItems, (a, ek::min_items(1)))
struct ListSet {
  std::map<std::string, int> a = {};
};
EVENKEEL_FIELDS(ListSet, (a, ek::list_set))
struct ListMap {
  std::vector<int> a = {};
};
EVENKEEL_FIELDS(ListMap, (a, ek::list_map("name")))
struct SetOfRecords {
  std::vector<Part> a = {};
};
EVENKEEL_FIELDS(SetOfRecords, (a, ek::list_set))
struct MapAtomic {
  std::vector<Part> a = {};
};
EVENKEEL_FIELDS(MapAtomic, (a, ek::map_atomic))
struct Preserve {
  int a = 0;
};
EVENKEEL_FIELDS(Preserve, (a, ek::preserve_unknown))
struct OmitEmpty {
  std::optional<int> a = {};
};
EVENKEEL_FIELDS(OmitEmpty, (a, ek::omit_empty))
struct DefaultOfRequired {
  int a = 0;
};
EVENKEEL_FIELDS(DefaultOfRequired, (a, ek::required, ek::default_to("1")))
enum class Word { one, two };
EVENKEEL_ENUM(Word, one, (two, "One"))
// The description of a base class is not that of the struct.
struct Derived : Other, Part {};
const std::string derived = ek::to_json(Derived());
#endif

int main() {
  return ek::to_json(Right()).empty() ? 1 : 0;
}
