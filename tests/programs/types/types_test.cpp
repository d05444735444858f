// SPDX-License-Identifier: Apache-2.0
// Headers that `evenkeel types` makes of small definitions, and its errors.
#include "programs/evenkeel/types/types.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/time.hpp>

namespace types_test {
using evenkeel::DecodeError;
using evenkeel::program::types_header;
using evenkeel::program::TypesFlags;

/// Returns a definition of the kind Box with this schema of its spec, in flow style.
std::string box(const std::string& spec, const std::string& version = "subresources: {status: {}}") {
  return "apiVersion: apiextensions.k8s.io/v1\n"
         "kind: CustomResourceDefinition\n"
         "metadata: {name: boxes.example.com}\n"
         "spec:\n"
         "  group: example.com\n"
         "  names: {kind: Box, plural: boxes}\n"
         "  scope: Namespaced\n"
         "  versions:\n"
         "  - name: v1\n"
         "    storage: true\n"
         "    " +
         version +
         "\n"
         "    schema: {openAPIV3Schema: {type: object, properties: {spec: " +
         spec + "}}}\n";
}

std::string header(const std::string& text, const TypesFlags& flags = {}) {
  return types_header({{"box.yaml", text}}, flags);
}

/// Returns the header from the spec's first type on.
std::string types_of(const std::string& properties) {
  const std::string text = header(box("{type: object, properties: " + properties + "}"));
  const std::string start = "namespace ek = evenkeel;\n\n";
  return text.substr(text.find(start) + start.size());
}

/// Returns what a header says to be missing, a line for each.
std::string lost_in(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; (at = text.find("/// - ", at)) != std::string::npos; at += 6) {
    out += text.substr(at + 6, text.find('\n', at) - at - 5);
  }
  return out;
}

std::string lost(const std::string& properties) {
  return lost_in(types_of(properties));
}

std::string error(const std::string& text, const TypesFlags& flags = {}) {
  try {
    header(text, flags);
  } catch (const DecodeError& failure) {
    return failure.what();
  } catch (const std::invalid_argument& failure) {
    return failure.what();
  }
  return "no error";
}

std::string error_of(const std::string& properties) {
  const std::string start = "box.yaml: document 1: spec.versions[0].schema.openAPIV3Schema.properties.spec.";
  const std::string text = error(box("{type: object, properties: " + properties + "}"));
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

TEST(TypesHeader, TakesConditionsOfATypeInCxxForTheType) {
  const std::string made = types_of("{a: " + evenkeel::schema_of<evenkeel::Duration>().dump() +
                                    ", b: " + evenkeel::schema_of<evenkeel::Time>().dump() +
                                    ", c: " + evenkeel::schema_of<evenkeel::Quantity>().dump() +
                                    ", d: " + evenkeel::schema_of<evenkeel::IntOrString>().dump() +
                                    ", e: {type: string, format: date-time, pattern: Z}}");
  EXPECT_NE(made.find("  std::optional<ek::Duration> a = {};\n  std::optional<ek::Time> b = {};\n"
                      "  std::optional<ek::Quantity> c = {};\n  std::optional<ek::IntOrString> d = {};\n"
                      "  std::optional<ek::Time> e = {};\n"),
            std::string::npos)
      << made;
  EXPECT_NE(made.find("EVENKEEL_FIELDS(BoxSpec, a, b, c, d, (e, ek::pattern(\"Z\")))"), std::string::npos)
      << made;
}

TEST(TypesHeader, HasAKindAndItsStructs) {
  const std::string spec =
      "{type: object, description: A box., required: [lid], properties: "
      "{lid: {type: string, enum: [open, Shut], description: Its lid.}, size: {type: integer, format: int32, "
      "minimum: 1}}}";
  EXPECT_EQ(header(box(spec, "subresources: {status: {}}"), {.name_space = "boxes::v1"}),
            R"(// Made by `evenkeel types` from the CustomResourceDefinition of
//   boxes.example.com/v1
// clang-format off
#pragma once

#include <cstdint>
#include <optional>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>

namespace ek = evenkeel;

namespace boxes::v1 {

/// Its lid.
enum class BoxLid { open, shut };
EVENKEEL_ENUM(BoxLid, (open, "open"), shut)

/// A box.
struct BoxSpec {
  /// Its lid.
  BoxLid lid = {};
  std::optional<std::int32_t> size = {};

  bool operator==(const BoxSpec&) const = default;
};
EVENKEEL_FIELDS(BoxSpec, (lid, ek::required), (size, ek::minimum(1)))

///
/// Parts of the definition that these types do not have; the server still has them:
/// - subresource status, without a schema
struct Box {
  static constexpr ek::ResourceInfo resource{.group = "example.com",
                                             .version = "v1",
                                             .kind = "Box",
                                             .plural = "boxes"};
  ek::ObjectMeta metadata = {};
  /// A box.
  std::optional<BoxSpec> spec = {};

  bool operator==(const Box&) const = default;
};
EVENKEEL_FIELDS(Box, metadata, spec)

}  // namespace boxes::v1
)");
}

TEST(TypesHeader, IsTheSameEachTime) {
  const std::string text = box("{type: object, properties: {b: {type: string}, a: {type: object}}}");
  EXPECT_EQ(header(text), header(text));
}

TEST(TypesHeader, HasOneStructForEqualSchemas) {
  const std::string ref =
      "{type: object, required: [name], properties: {name: {type: string}, key: {type: string}}}";
  const std::string text =
      types_of("{apiTokenRef: " + ref + ", backup: {type: object, properties: {keyRef: " + ref + "}}}");
  EXPECT_NE(text.find("struct BoxRef {"), std::string::npos) << text;
  EXPECT_NE(text.find("std::optional<BoxRef> api_token_ref = {};"), std::string::npos) << text;
  EXPECT_NE(text.find("std::optional<BoxRef> key_ref = {};"), std::string::npos) << text;
}

TEST(TypesHeader, TellsStructsOfOneNameApart) {
  // The path "a-b" and the path "a", "b" have one name.
  const std::string text = types_of(
      "{a-b: {type: object, properties: {x: {type: string}}},"
      " a: {type: object, properties: {b: {type: object, properties: {y: {type: string}}}}}}");
  EXPECT_NE(text.find("struct BoxAB {"), std::string::npos) << text;
  EXPECT_NE(text.find("struct BoxAB2 {"), std::string::npos) << text;
}

TEST(TypesHeader, KeepsConstantsAndFieldsOfOneNameApart) {
  const std::string text = types_of(
      "{rules: {type: array, items: {type: object, x-kubernetes-validations: [{rule: 'true'}],"
      " properties: {rules: {type: string}}}}}");
  EXPECT_NE(text.find("static constexpr ek::CelRule rules[] = {"), std::string::npos) << text;
  EXPECT_NE(text.find("std::optional<std::string> rules_ = {};"), std::string::npos) << text;
}

// Regression: the second A became the enumerator `a2`, and EVENKEEL_ENUM refused the word that stood twice.
TEST(TypesHeader, HasAWordThatStandsTwiceOnce) {
  const std::string text = types_of("{grade: {type: string, enum: [A, B, A]}}");
  EXPECT_NE(text.find("enum class BoxGrade { a, b };"), std::string::npos) << text;
}

TEST(TypesHeader, LeavesRequiredListsOptionalUnlessTheyHaveItems) {
  // An empty plain list is left out of what is written, which the server would refuse.
  const std::string text =
      header(box("{type: object, required: [a, b, c], properties: {a: {type: array, items: {type: string}},"
                 " b: {type: array, minItems: 1, items: {type: string}}, c: {type: object, properties: {d: "
                 "{type: string}}}}}"));
  EXPECT_NE(text.find("std::optional<std::vector<std::string>> a = {};"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  std::vector<std::string> b = {};"), std::string::npos) << text;
  EXPECT_NE(text.find("std::optional<BoxC> c = {};"), std::string::npos) << text;
}

/// Returns the members of a Box whose properties are `properties`.
std::string kind_of(const std::string& properties, const std::string& required) {
  std::string text = box("{}");
  const std::string root = "{type: object, properties: {spec: {}}}";
  text.replace(text.find(root), root.size(),
               "{type: object, required: " + required + ", properties: " + properties + "}");
  const std::string made = header(text);
  const std::size_t start = made.find("  ek::ObjectMeta metadata");
  return made.substr(start, made.find("\n\n", start) - start);
}

// Regression: an object without a status was written with an empty phase, which the definition refuses.
TEST(TypesHeader, LeavesASpecOrAStatusOptionalThatAnEmptyOneWouldBreak) {
  const std::string full =
      "{type: object, required: [phase], properties: {phase: {type: string, minLength: 1}}}";
  const std::string loose = "{type: object, properties: {phase: {type: string}}}";
  const auto members = [](const std::string& spec, const std::string& status) {
    return "  ek::ObjectMeta metadata = {};\n  " + spec + " spec = {};\n  " + status + " status = {};";
  };
  const auto both = [](const std::string& schema) {
    return "{spec: " + schema + ", status: " + schema + "}";
  };
  const std::string spec = "std::optional<BoxSpec>", status = "std::optional<BoxStatus>";
  EXPECT_EQ(kind_of(both(full), "[]"), members(spec, status));
  EXPECT_EQ(kind_of(both(full), "[spec, status]"), members("BoxSpec", "BoxStatus"));
  EXPECT_EQ(kind_of(both(loose), "[]"), members("BoxSpec", "BoxStatus"));
  EXPECT_EQ(kind_of(both(loose), "[spec]"), members(spec, "BoxStatus"));
  // Members that are written although they are not set, at any depth.
  const std::string deep = "{type: object, required: [a], properties: {a: " + full + "}}";
  EXPECT_EQ(kind_of(both(deep), "[spec]"), members("BoxSpec", status));
  const std::string list =
      "{type: object, required: [a], properties: {a: {type: array, items: {type: string}}}}";
  EXPECT_EQ(kind_of(both(list), "[]"), members("BoxSpec", "BoxStatus"));
  // The server sets a default.
  EXPECT_EQ(
      kind_of("{spec: {type: object, default: {phase: a}, required: [phase], properties: {phase: {type: "
              "string}}}, status: " +
                  loose + "}",
              "[spec]"),
      members(spec, "BoxStatus"));
}

TEST(TypesHeader, TakesDefinitionsInLists) {
  const std::string one = box("{type: object, properties: {a: {type: string}}}");
  std::string item = "- ";
  for (const char letter : one) item += letter == '\n' ? "\n  " : std::string(1, letter);
  const std::string other = "- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n";
  const std::string list = "apiVersion: v1\nkind: List\nitems:\n";
  EXPECT_EQ(header(list + other + item), header(one));
  EXPECT_EQ(header(list + "- {apiVersion: v1, kind: List, items: []}\n" + item), header(one));
  const std::string typed = item.substr(0, 2) + item.substr(item.find("metadata"));
  EXPECT_EQ(
      header("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n" + typed),
      header(one));
  EXPECT_EQ(header(list + item, {.kind = "Box"}), header(one));
}

TEST(TypesErrors, NameItemsOfLists) {
  const std::string list = "{apiVersion: v1, kind: List, items: ";
  EXPECT_EQ(error(list + "[]}"), "box.yaml: no CustomResourceDefinition in 1 document");
  EXPECT_EQ(error(list + "{}}"), "box.yaml: document 1: items: expected array, found object");
  EXPECT_EQ(error(list + "[3]}"), "box.yaml: document 1: items[0]: expected object, found integer");
  EXPECT_EQ(error(list + "[{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1}]}"),
            "box.yaml: document 1: items[0]: spec: expected object, found nothing");
}

TEST(TypesHeader, TakesOneOfSeveralVersions) {
  std::string text = box("{type: object}");
  text += "  - {name: v2, schema: {openAPIV3Schema: {type: object, properties: {data: {type: string}}}}}\n";
  EXPECT_NE(header(text).find(".version = \"v1\""), std::string::npos);
  const std::string second = header(text, {.version = "v2"});
  EXPECT_NE(second.find(".version = \"v2\""), std::string::npos);
  EXPECT_NE(second.find("std::optional<std::string> data = {};"), std::string::npos);
  EXPECT_EQ(error(text, {.version = "v3"}),
            "box.yaml: document 1: spec.versions: has no version v3; there are v1, v2");
}

TEST(TypesHeader, SaysThatAStatusHasNoSubresource) {
  std::string text = box("{type: object}", "served: true");
  text.replace(text.find("{spec: "), 7, "{status: ");
  EXPECT_NE(header(text).find("/// - the status has no subresource here: write it with the object, not with "
                              "patch_status()\n"),
            std::string::npos);
}

TEST(TypesHeader, SaysWhatIsLost) {
  EXPECT_EQ(lost("{a: {type: integer, enum: [1, 2], multipleOf: 2}}"),
            ".spec.a: multipleOf\n.spec.a: enum of numbers\nsubresource status, without a schema\n");
  EXPECT_EQ(lost("{a: {type: array, items: {type: string, pattern: b, maxLength: 3}}}"),
            ".spec.a.items: max_length\n.spec.a.items: pattern\nsubresource status, without a schema\n");
  EXPECT_EQ(lost("{a: {type: object, oneOf: [{required: [b]}], properties: {b: {type: string}}}}"),
            ".spec.a: oneOf\nsubresource status, without a schema\n");
  EXPECT_EQ(lost("{'a:b': {type: string}}"),
            ".spec.a:b: left out: a field's name cannot be empty or have a colon\nsubresource status, "
            "without a schema\n");
  EXPECT_EQ(
      lost("{a: {type: string, x-kubernetes-validations: [{rule: 'true', reason: FieldValueInvalid}]}}"),
      ".spec.a.x-kubernetes-validations[0]: reason\nsubresource status, without a schema\n");
  EXPECT_EQ(lost("{a: {type: string, x-kubernetes-validations: "
                 "[{rule: 'a'}, {rule: 'b'}, {rule: 'c'}, {rule: 'd'}, {rule: 'e'}]}}"),
            ".spec.a: rules but the first 4\nsubresource status, without a schema\n");
  EXPECT_EQ(
      lost("{a: {type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-map-type: atomic}}"),
      ".spec.a: type object\n.spec.a: x-kubernetes-map-type atomic\nsubresource status, without a schema\n");
}

// Regression: only those of numbers were noted.
TEST(TypesHeader, SaysThatOtherEnumerationsThanOfStringsAreLost) {
  const std::string rest = "subresource status, without a schema\n";
  for (const char* schema :
       {"{type: boolean, enum: [true]}", "{x-kubernetes-int-or-string: true, enum: [1, a]}",
        "{type: array, items: {type: string}, enum: [[a]]}",
        "{type: object, additionalProperties: {type: string}, enum: [{a: b}]}",
        "{type: object, properties: {b: {type: string}}, enum: [{b: c}]}",
        "{x-kubernetes-preserve-unknown-fields: true, enum: [1]}"}) {
    EXPECT_EQ(lost(std::string("{a: ") + schema + "}"), ".spec.a: enum\n" + rest) << schema;
  }
  EXPECT_EQ(lost("{a: {type: array, items: {type: boolean, enum: [true]}}}"), ".spec.a.items: enum\n" + rest);
  EXPECT_EQ(lost("{a: {type: string, enum: [b]}}"), rest);
}

// Regression: ek::Json allows a number where the definition demands an object, and the header did not say it.
TEST(TypesHeader, SaysThatFreeFormObjectsLoseTheirType) {
  const std::string rest = "subresource status, without a schema\n";
  EXPECT_EQ(lost("{a: {type: object, x-kubernetes-preserve-unknown-fields: true, minProperties: 1}}"),
            ".spec.a: type object\n.spec.a: minProperties\n" + rest);
  EXPECT_EQ(lost("{a: {type: array, items: {type: object, additionalProperties: true, maxProperties: 2}}}"),
            ".spec.a.items: type object\n.spec.a.items: maxProperties\n" + rest);
  EXPECT_EQ(lost("{a: {x-kubernetes-preserve-unknown-fields: true}}"), rest);
  // The attribute of whole objects has the type.
  EXPECT_EQ(lost("{a: {type: object, x-kubernetes-embedded-resource: true,"
                 " x-kubernetes-preserve-unknown-fields: true}}"),
            rest);
  EXPECT_EQ(lost("{a: {type: object, x-kubernetes-embedded-resource: true, maxProperties: 2,"
                 " properties: {kind: {type: string}}}}"),
            ".spec.a: properties\n.spec.a: maxProperties\n" + rest);
}

// Regression: these were lost without a word, so that --print-crds would have removed a version that stores
// objects.
TEST(TypesHeader, SaysWhatIsLostBesideTheSchema) {
  std::string text = box("{type: object, properties: {a: {type: string}}}",
                         "served: false\n    deprecated: true\n    deprecationWarning: old\n"
                         "    selectableFields: [{jsonPath: .spec.a}]");
  const auto change = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  change("{kind: Box, plural: boxes}", "{kind: Box, plural: boxes, singular: abox, listKind: Boxes}");
  change("  scope:", "  conversion: {strategy: Webhook}\n  scope:");
  text += "  - {name: v2, schema: {openAPIV3Schema: {type: object}}}\n";
  EXPECT_EQ(lost_in(header(text)),
            "version v2\nconversion Webhook\nsingular abox\nlistKind Boxes\nserved: false\ndeprecated\n"
            "deprecationWarning\nselectableFields\n");
}

TEST(TypesHeader, SaysNothingOfRegularNames) {
  std::string text = box("{type: object, properties: {a: {type: string}}}", "served: true");
  const std::string names = "{kind: Box, plural: boxes}";
  text.replace(
      text.find(names), names.size(),
      "{kind: Box, plural: boxes, singular: box, listKind: BoxList}\n  conversion: {strategy: None}");
  EXPECT_EQ(lost_in(header(text)), "");
}

TEST(TypesHeader, SaysThatMetadataIsNotRequired) {
  std::string text = box("{type: object, properties: {a: {type: string}}}");
  const std::string root = "openAPIV3Schema: {type: object, ";
  text.replace(text.find(root), root.size(), root + "required: [metadata], ");
  EXPECT_NE(header(text).find("/// - required metadata\n"), std::string::npos);
}

std::string many_fields(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += (i == 0 ? "{" : ", ") + ("f" + std::to_string(i)) + ": {type: string}";
  return out + "}";
}

TEST(TypesHeader, TakesStructsOf200Fields) {
  EXPECT_EQ(lost(many_fields(200)), "subresource status, without a schema\n");
  EXPECT_NE(types_of(many_fields(201)).find("  ek::Json spec = {};"), std::string::npos);
  EXPECT_EQ(lost(many_fields(201)),
            ".spec: 201 fields, of which a struct takes 200\nsubresource status, without a schema\n");
}

TEST(TypesErrors, NameFileDocumentAndField) {
  EXPECT_EQ(error(""), "box.yaml: no CustomResourceDefinition in 0 documents");
  EXPECT_EQ(error("{kind: Pod, apiVersion: v1}"), "box.yaml: no CustomResourceDefinition in 1 document");
  EXPECT_EQ(error(box("{type: object}"), {.kind = "Bag"}),
            "box.yaml: no CustomResourceDefinition of the kind Bag in 1 document");
  EXPECT_EQ(error("--- {a: b}\n---\n[1]\n"), "box.yaml: document 1: kind: expected string, found nothing");
  EXPECT_EQ(error("[1]"), "box.yaml: document 1: expected object, found array");
  EXPECT_EQ(error("a: b\nkind: X\n---\na: [\n"),
            "box.yaml: document 2: line 5: end of sequence flow not found");
  EXPECT_EQ(error("{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1beta1}"),
            "box.yaml: document 1: apiVersion: expected apiextensions.k8s.io/v1, found string "
            "\"apiextensions.k8s.io/v1beta1\"");
  EXPECT_EQ(error("{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1}"),
            "box.yaml: document 1: spec: expected object, found nothing");
}

TEST(TypesErrors, NameFieldsOfADefinition) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = box("{type: object}");
    return error(text.replace(text.find(from), from.size(), to)).substr(22);
  };
  EXPECT_EQ(with("storage: true", "storage: false"),
            "spec.versions: no version has storage: true; --version chooses one of v1");
  EXPECT_EQ(with("storage: true", "storage: 1"), "spec.versions[0].storage: expected boolean, found integer");
  EXPECT_EQ(with("kind: Box,", ""), "spec.names.kind: expected string, found nothing");
  EXPECT_EQ(with("kind: Box,", "kind: 'Box\\\\',"),
            "spec.names.kind: expected letters, digits, '.' and '-', found \"Box\\\\\\\\\"");
  EXPECT_EQ(with("plural: boxes", "plural: 3"), "spec.names.plural: expected string, found integer");
  EXPECT_EQ(with("scope: Namespaced", "scope: World"),
            "spec.scope: expected Cluster or Namespaced, found string \"World\"");
  EXPECT_EQ(with("subresources: {status: {}}", "additionalPrinterColumns: [{name: A, type: b}]"),
            "spec.versions[0].additionalPrinterColumns[0].jsonPath: expected string, found nothing");
  EXPECT_EQ(with("openAPIV3Schema", "other"),
            "spec.versions[0].schema.openAPIV3Schema: expected object, found nothing");
}

TEST(TypesErrors, NameFieldsOfASchema) {
  EXPECT_EQ(
      error_of("{a: {$ref: '#/definitions/a'}}"),
      "properties.a.$ref: a schema that refers to another one, or to itself, is not structural; API servers "
      "refuse it");
  EXPECT_EQ(error_of("{a: {type: strin}}"),
            "properties.a.type: expected array, boolean, integer, number, object or string, found string "
            "\"strin\"");
  EXPECT_EQ(error_of("{a: {type: 3}}"), "properties.a.type: expected string, found integer");
  EXPECT_EQ(error_of("{a: text}"), "properties.a: expected object, found string");
  EXPECT_EQ(error_of("{a: {description: nothing else}}"),
            "properties.a: has no type, which only x-kubernetes-int-or-string and "
            "x-kubernetes-preserve-unknown-fields allow");
  EXPECT_EQ(error_of("{a: {type: array}}"), "properties.a: an array needs items");
  EXPECT_EQ(error_of("{a: {type: object, properties: [b]}}"),
            "properties.a.properties: expected object, found array");
  EXPECT_EQ(error_of("{a: {type: string, enum: [b, 1]}}"),
            "properties.a.enum[1]: expected string, found integer");
  EXPECT_EQ(error_of("{a: {type: string, x-kubernetes-validations: [{message: b}]}}"),
            "properties.a.x-kubernetes-validations[0].rule: expected string, found null");
}

TEST(TypesErrors, RefuseNamesThatCannotBe) {
  const std::string text = box("{type: object}");
  for (const char* name : {"acme::certManager", "CERT", "p_FoundationDB", "_x", "a_", "_", "a1::_1", "Class"})
    EXPECT_NE(header(text, {.name_space = name}).find("\nnamespace " + std::string(name) + " {\n"),
              std::string::npos)
        << name;
  const auto refusal = [&](const std::string& name) { return error(text, {.name_space = name}); };
  EXPECT_EQ(refusal("a-b"), "--namespace: \"a-b\": \"a-b\" is not a name of a namespace");
  EXPECT_EQ(refusal("a::1b"), "--namespace: \"a::1b\": \"1b\" is not a name of a namespace");
  for (const char* name : {"k8s::", "::k8s", "a::::b", "::"})
    EXPECT_EQ(refusal(name), "--namespace: \"" + std::string(name) + "\": \"\" is not a name of a namespace");
  EXPECT_EQ(refusal("a::class"), "--namespace: \"a::class\": \"class\" is a word or a macro of C++");
  EXPECT_EQ(refusal("a__b"), "--namespace: \"a__b\": \"a__b\" is reserved for compilers");
  EXPECT_EQ(refusal("_A"), "--namespace: \"_A\": \"_A\" is reserved for compilers");
  EXPECT_EQ(refusal("ek"), "--namespace: \"ek\": \"ek\" is a namespace that the header uses");
  EXPECT_EQ(refusal("a::std"), "--namespace: \"a::std\": \"std\" is a namespace that the header uses");
  EXPECT_EQ(error(text + "---\n" + text),
            "box.yaml: document 2: a second kind Box; make one header for each, with --namespace");
}

}  // namespace types_test
