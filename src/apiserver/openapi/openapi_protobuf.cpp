// SPDX-License-Identifier: Apache-2.0
// The protobuf forms of OpenAPI documents. Source: gnostic's OpenAPIv2.proto and OpenAPIv3.proto.
#include <span>
#include <string>
#include <string_view>

#include "apiserver/openapi/openapi.hpp"
#include "apiserver/text/protobuf_writer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

enum class As : std::uint8_t { text, texts, flag, number, integer, any, anys };

/// A member of a JSON object that is a plain field of the message.
struct Field {
  std::string_view name;
  std::uint32_t number;
  As as;
};

/// Encodes any value as YAML; JSON is YAML.
ProtobufWriter any(const Json& value) {
  ProtobufWriter out;
  out.text(2, value.dump() + "\n");
  return out;
}

void write_field(ProtobufWriter& out, const Field& field, const Json& value) {
  switch (field.as) {
    case As::text:
      if (value.is_string()) out.text(field.number, value.as_string());
      break;
    case As::texts:
      for (std::size_t i = 0; i < value.size(); ++i) out.text(field.number, value[i].string_or(""));
      break;
    case As::flag:
      if (value.bool_or(false)) out.flag(field.number, true);
      break;
    case As::number:
      if (value.is_number()) out.number(field.number, value.as_number());
      break;
    case As::integer:
      if (value.is_integer()) out.integer(field.number, value.as_integer());
      break;
    case As::any:
      out.message(field.number, any(value));
      break;
    case As::anys:
      for (std::size_t i = 0; i < value.size(); ++i) out.message(field.number, any(value[i]));
      break;
  }
}

void write_fields(ProtobufWriter& out, std::span<const Field> fields, const Json& object) {
  for (const Field& field : fields) {
    if (const Json* value = object.find(field.name)) write_field(out, field, *value);
  }
}

/// Writes members that start with "x-".
void write_extensions(ProtobufWriter& out, std::uint32_t field, const Json& object) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.as_object()) {
    if (!name.starts_with("x-")) continue;
    ProtobufWriter named;
    named.text(1, name);
    named.message(2, any(value));
    out.message(field, named);
  }
}

/// Writes {"a": ..., "b": ...} as repeated {name, value}.
template <class Write>
void write_named(ProtobufWriter& out, std::uint32_t field, const Json& object, Write write) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.as_object()) {
    ProtobufWriter named;
    named.text(1, name);
    named.message(2, write(value));
    out.message(field, named);
  }
}

/// Returns a message with only one field set.
ProtobufWriter wrap(std::uint32_t field, const ProtobufWriter& inner) {
  ProtobufWriter out;
  out.message(field, inner);
  return out;
}

struct Method {
  std::string_view name;
  std::uint32_t number;
};

namespace v2 {

constexpr Field schema_fields[] = {{"$ref", 1, As::text},
                                   {"format", 2, As::text},
                                   {"title", 3, As::text},
                                   {"description", 4, As::text},
                                   {"default", 5, As::any},
                                   {"multipleOf", 6, As::number},
                                   {"maximum", 7, As::number},
                                   {"exclusiveMaximum", 8, As::flag},
                                   {"minimum", 9, As::number},
                                   {"exclusiveMinimum", 10, As::flag},
                                   {"maxLength", 11, As::integer},
                                   {"minLength", 12, As::integer},
                                   {"pattern", 13, As::text},
                                   {"maxItems", 14, As::integer},
                                   {"minItems", 15, As::integer},
                                   {"uniqueItems", 16, As::flag},
                                   {"maxProperties", 17, As::integer},
                                   {"minProperties", 18, As::integer},
                                   {"required", 19, As::texts},
                                   {"enum", 20, As::anys}};
constexpr Method methods[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};

ProtobufWriter schema(const Json& source) {
  ProtobufWriter out;
  write_fields(out, schema_fields, source);
  if (const Json* additional = source.find("additionalProperties")) {
    ProtobufWriter item;
    if (additional->is_bool())
      item.flag(2, additional->as_bool());
    else
      item.message(1, schema(*additional));
    out.message(21, item);
  }
  if (source["type"].is_string()) {
    ProtobufWriter type;
    type.text(1, source["type"].as_string());
    out.message(22, type);
  }
  if (source["items"].is_object()) out.message(23, wrap(1, schema(source["items"])));
  if (source["properties"].is_object()) {
    ProtobufWriter properties;
    write_named(properties, 1, source["properties"], schema);
    out.message(25, properties);
  }
  write_extensions(out, 31, source);
  return out;
}

ProtobufWriter parameter(const Json& source) {
  const std::string place = source["in"].string_or("");
  ProtobufWriter inner;
  if (place == "body") {
    static constexpr Field fields[] = {{"name", 2, As::text}, {"in", 3, As::text}, {"required", 4, As::flag}};
    write_fields(inner, fields, source);
    inner.message(5, schema(source["schema"]));
    return wrap(1, wrap(1, inner));
  }
  static constexpr Field query[] = {{"required", 1, As::flag},
                                    {"in", 2, As::text},
                                    {"name", 4, As::text},
                                    {"type", 6, As::text},
                                    {"uniqueItems", 20, As::flag}};
  static constexpr Field path[] = {{"required", 1, As::flag},
                                   {"in", 2, As::text},
                                   {"name", 4, As::text},
                                   {"type", 5, As::text},
                                   {"uniqueItems", 19, As::flag}};
  const bool on_path = place == "path";
  write_fields(inner, on_path ? std::span<const Field>(path) : std::span<const Field>(query), source);
  return wrap(1, wrap(2, wrap(on_path ? 4 : 3, inner)));
}

ProtobufWriter response(const Json& source) {
  ProtobufWriter inner;
  inner.text(1, source["description"].string_or(""));
  if (source.contains("schema")) inner.message(2, wrap(1, schema(source["schema"])));
  return wrap(1, inner);
}

ProtobufWriter operation(const Json& source) {
  ProtobufWriter out;
  out.text(5, source["operationId"].string_or(""));
  for (std::size_t i = 0; i < source["parameters"].size(); ++i)
    out.message(8, parameter(source["parameters"][i]));
  ProtobufWriter responses;
  write_named(responses, 1, source["responses"], response);
  out.message(9, responses);
  write_extensions(out, 13, source);
  return out;
}

ProtobufWriter path_item(const Json& source) {
  ProtobufWriter out;
  for (const Method& method : methods) {
    if (const Json* found = source.find(method.name)) out.message(method.number, operation(*found));
  }
  for (std::size_t i = 0; i < source["parameters"].size(); ++i)
    out.message(9, parameter(source["parameters"][i]));
  return out;
}

}  // namespace v2

namespace v3 {

constexpr Field schema_fields[] = {{"nullable", 1, As::flag},
                                   {"title", 9, As::text},
                                   {"multipleOf", 10, As::number},
                                   {"maximum", 11, As::number},
                                   {"exclusiveMaximum", 12, As::flag},
                                   {"minimum", 13, As::number},
                                   {"exclusiveMinimum", 14, As::flag},
                                   {"maxLength", 15, As::integer},
                                   {"minLength", 16, As::integer},
                                   {"pattern", 17, As::text},
                                   {"maxItems", 18, As::integer},
                                   {"minItems", 19, As::integer},
                                   {"uniqueItems", 20, As::flag},
                                   {"maxProperties", 21, As::integer},
                                   {"minProperties", 22, As::integer},
                                   {"required", 23, As::texts},
                                   {"enum", 24, As::anys},
                                   {"type", 25, As::text},
                                   {"description", 34, As::text},
                                   {"format", 35, As::text}};
constexpr Method methods[] = {{"get", 4}, {"put", 5}, {"post", 6}, {"delete", 7}, {"patch", 10}};

ProtobufWriter plain_schema(const Json& source);

/// Encodes a SchemaOrReference.
ProtobufWriter schema(const Json& source) {
  if (!source["$ref"].is_string()) return wrap(1, plain_schema(source));
  ProtobufWriter reference;
  reference.text(1, source["$ref"].as_string());
  return wrap(2, reference);
}

void write_default(ProtobufWriter& out, const Json& value) {
  ProtobufWriter standard;
  if (value.is_number())
    standard.number(1, value.as_number());
  else if (value.is_bool())
    standard.flag(2, value.as_bool());
  else
    standard.text(3, value.is_string() ? value.as_string() : value.dump());
  out.message(33, standard);
}

ProtobufWriter plain_schema(const Json& source) {
  ProtobufWriter out;
  write_fields(out, schema_fields, source);
  static constexpr Method junctors[] = {{"allOf", 26}, {"oneOf", 27}, {"anyOf", 28}};
  for (const Method& junctor : junctors) {
    for (std::size_t i = 0; i < source[junctor.name].size(); ++i)
      out.message(junctor.number, schema(source[junctor.name][i]));
  }
  if (source["not"].is_object()) out.message(29, plain_schema(source["not"]));
  if (source["items"].is_object()) out.message(30, wrap(1, schema(source["items"])));
  if (source["properties"].is_object()) {
    ProtobufWriter properties;
    write_named(properties, 1, source["properties"], schema);
    out.message(31, properties);
  }
  if (const Json* additional = source.find("additionalProperties")) {
    ProtobufWriter item;
    if (additional->is_bool())
      item.flag(2, additional->as_bool());
    else
      item.message(1, schema(*additional));
    out.message(32, item);
  }
  if (const Json* standard = source.find("default")) write_default(out, *standard);
  write_extensions(out, 36, source);
  return out;
}

ProtobufWriter parameter(const Json& source) {
  static constexpr Field fields[] = {{"name", 1, As::text}, {"in", 2, As::text}, {"required", 4, As::flag}};
  ProtobufWriter out;
  write_fields(out, fields, source);
  out.message(10, schema(source["schema"]));
  return wrap(1, out);
}

ProtobufWriter media_types(const Json& source) {
  ProtobufWriter out;
  write_named(out, 1, source, [](const Json& media) { return wrap(1, schema(media["schema"])); });
  return out;
}

ProtobufWriter response(const Json& source) {
  ProtobufWriter out;
  out.text(1, source["description"].string_or(""));
  if (source.contains("content")) out.message(3, media_types(source["content"]));
  return wrap(1, out);
}

ProtobufWriter operation(const Json& source) {
  ProtobufWriter out;
  out.text(5, source["operationId"].string_or(""));
  for (std::size_t i = 0; i < source["parameters"].size(); ++i)
    out.message(6, parameter(source["parameters"][i]));
  if (const Json* body = source.find("requestBody")) {
    ProtobufWriter request;
    request.message(2, media_types((*body)["content"]));
    request.flag(3, true);
    out.message(7, wrap(1, request));
  }
  ProtobufWriter responses;
  write_named(responses, 2, source["responses"], response);
  out.message(8, responses);
  write_extensions(out, 13, source);
  return out;
}

ProtobufWriter path_item(const Json& source) {
  ProtobufWriter out;
  for (const Method& method : methods) {
    if (const Json* found = source.find(method.name)) out.message(method.number, operation(*found));
  }
  for (std::size_t i = 0; i < source["parameters"].size(); ++i)
    out.message(13, parameter(source["parameters"][i]));
  return out;
}

}  // namespace v3

}  // namespace

std::string openapi_v2_protobuf(const Json& document) {
  ProtobufWriter info;
  info.text(1, document["info"]["title"].string_or(""));
  info.text(2, document["info"]["version"].string_or(""));
  ProtobufWriter paths;
  write_named(paths, 2, document["paths"], v2::path_item);
  ProtobufWriter definitions;
  write_named(definitions, 1, document["definitions"], v2::schema);
  ProtobufWriter out;
  out.text(1, document["swagger"].string_or(""));
  out.message(2, info);
  out.message(8, paths);
  out.message(9, definitions);
  return out.bytes();
}

std::string openapi_v3_protobuf(const Json& document) {
  ProtobufWriter info;
  info.text(1, document["info"]["title"].string_or(""));
  info.text(6, document["info"]["version"].string_or(""));
  ProtobufWriter paths;
  write_named(paths, 1, document["paths"], v3::path_item);
  ProtobufWriter schemas;
  write_named(schemas, 1, document["components"]["schemas"], v3::schema);
  ProtobufWriter out;
  out.text(1, document["openapi"].string_or(""));
  out.message(2, info);
  out.message(4, paths);
  out.message(5, wrap(1, schemas));
  return out.bytes();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
