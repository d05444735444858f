// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/protobuf_document.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// data/protobuf_fields.txt, embedded by cmake/embed.cmake.
extern const std::string_view protobuf_fields_text;

namespace {

constexpr std::string_view magic("k8s\0", 4);
constexpr int max_depth = 64;
constexpr std::string_view meta_package = "io.k8s.apimachinery.pkg.apis.meta.v1.";

[[noreturn]] void refuse(const char* problem) {
  throw DecodeError("protobuf", problem);
}

/// Removes and returns the text before the first `separator`.
std::string_view take(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

struct ProtobufField {
  std::string_view name = {};
  std::uint64_t number = 0;
  std::string_view type = {};
  bool list = false;
  bool map = false;
  bool zero_left_out = false;
};

/// A raw value of the message.
struct Wire {
  std::uint64_t number = 0;
  unsigned type = 0;  ///< 0 varint, 1 eight bytes, 2 bytes with a length, 5 four bytes
  std::uint64_t value = 0;
  std::string_view bytes = {};
};

std::uint64_t varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (in.empty()) refuse("a number is cut off");
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  refuse("a number has more than 64 bits");
}

std::string_view bytes(std::string_view& in, std::uint64_t size) {
  if (size > in.size()) refuse("a value is cut off");
  const std::string_view out = in.substr(0, size);
  in.remove_prefix(size);
  return out;
}

Wire next(std::string_view& in) {
  const std::uint64_t tag = varint(in);
  Wire wire{.number = tag >> 3, .type = static_cast<unsigned>(tag & 7)};
  switch (wire.type) {
    case 0:
      wire.value = varint(in);
      break;
    case 1:
      wire.bytes = bytes(in, 8);
      break;
    case 2:
      wire.bytes = bytes(in, varint(in));
      break;
    case 5:
      wire.bytes = bytes(in, 4);
      break;
    default:
      refuse("unknown wire type");
  }
  return wire;
}

bool is_zero(const Json& value) {
  return value == Json(0) || value == Json("") || value == Json(false);
}

}  // namespace

/// Decodes one body.
class ProtobufReader {
 public:
  explicit ProtobufReader(const ProtobufDecoder& decoder) : decoder_(decoder) {}

  Json message(std::string_view type, std::string_view in, int depth) const {
    if (depth > max_depth) refuse("nested too deeply");
    const std::string_view local = type.substr(type.rfind('.') + 1);
    if (type.starts_with(meta_package) && (local == "Time" || local == "MicroTime")) return time(local, in);
    if (local == "Quantity") return text_of(in, 1);
    if (local == "IntOrString") return int_or_string(in);
    if (local == "RawExtension" || local == "FieldsV1") return raw(in);
    if (local == "ExtraValue") return members(type, in, depth)["items"];
    return members(type, in, depth);
  }

 private:
  Json members(std::string_view type, std::string_view in, int depth) const {
    const auto line = decoder_.messages_.find(type);
    if (line == decoder_.messages_.end()) refuse("a message of an unknown type");
    const std::string_view package = type.substr(0, type.rfind('.') + 1);
    Json object = Json::object();
    while (!in.empty()) {
      const Wire wire = next(in);
      if (const auto field = find(line->second, wire.number)) put(object, *field, package, wire, depth);
    }
    return object;
  }

  static std::optional<ProtobufField> find(std::string_view line, std::uint64_t number) {
    while (!line.empty()) {
      std::string_view entry = take(line, ';');
      ProtobufField field{.name = take(entry, ' ')};
      const std::string_view digits = take(entry, ' ');
      std::from_chars(digits.data(), digits.data() + digits.size(), field.number);
      if (field.number != number) continue;
      field.list = entry.starts_with('*');
      field.map = entry.starts_with('%');
      field.zero_left_out = entry.starts_with('?');
      field.type = entry.substr(field.list || field.map || field.zero_left_out ? 1 : 0);
      return field;
    }
    return std::nullopt;
  }

  void put(Json& object, const ProtobufField& field, std::string_view package, const Wire& wire,
           int depth) const {
    if (field.map) return put_entry(object[field.name], field.type, package, wire.bytes, depth);
    if (field.list && field.type == "i" && wire.type == 2) {  // packed
      std::string_view numbers = wire.bytes;
      while (!numbers.empty()) append(object[field.name], Json(static_cast<std::int64_t>(varint(numbers))));
      return;
    }
    Json value = one(field.type, package, wire, depth);
    if (field.list) return append(object[field.name], std::move(value));
    if (field.zero_left_out && is_zero(value)) return;
    if (field.name != "-") {
      object[field.name] = std::move(value);
      return;
    }
    for (auto& [name, member] : value.as_object()) object[name] = std::move(member);
  }

  static void append(Json& list, Json value) {
    if (!list.is_array()) list = Json::array();
    list.push_back(std::move(value));
  }

  void put_entry(Json& map, std::string_view type, std::string_view package, std::string_view in,
                 int depth) const {
    std::string key;
    Json value = type == "s" || type == "y" ? Json("") : Json();
    while (!in.empty()) {
      const Wire wire = next(in);
      if (wire.number == 1) key = wire.bytes;
      if (wire.number == 2) value = one(type, package, wire, depth);
    }
    if (!map.is_object()) map = Json::object();
    map[key] = std::move(value);
  }

  Json one(std::string_view type, std::string_view package, const Wire& wire, int depth) const {
    if (type == "s") return Json(wire.bytes);
    if (type == "i") return Json(static_cast<std::int64_t>(wire.value));
    if (type == "b") return Json(wire.value != 0);
    if (type == "y") return Json(Bytes(wire.bytes).base64());
    if (type == "d") {
      double number = 0;
      if (wire.bytes.size() == sizeof number) std::memcpy(&number, wire.bytes.data(), sizeof number);
      return Json(number);
    }
    const std::string name = type.find('.') == std::string_view::npos
                                 ? std::string(package) + std::string(type)
                                 : std::string(type);
    return message(name, wire.bytes, depth + 1);
  }

  static Json time(std::string_view kind, std::string_view in) {
    std::int64_t seconds = 0;
    std::int64_t nanos = 0;
    if (in.empty()) return Json();
    while (!in.empty()) {
      const Wire wire = next(in);
      (wire.number == 1 ? seconds : nanos) = static_cast<std::int64_t>(wire.value);
    }
    std::string text = timestamp(WallTime(std::chrono::seconds(seconds)));
    if (kind == "MicroTime") {
      std::string micros = std::to_string(nanos / 1000);
      text.insert(text.size() - 1,
                  "." + std::string(6 - std::min<std::size_t>(6, micros.size()), '0') + micros);
    }
    return Json(std::move(text));
  }

  static Json text_of(std::string_view in, std::uint64_t number) {
    Json out("");
    while (!in.empty())
      if (const Wire wire = next(in); wire.number == number) out = Json(wire.bytes);
    return out;
  }

  static Json int_or_string(std::string_view in) {
    std::uint64_t type = 0;
    std::int64_t number = 0;
    std::string text;
    while (!in.empty()) {
      const Wire wire = next(in);
      if (wire.number == 1) type = wire.value;
      if (wire.number == 2) number = static_cast<std::int64_t>(wire.value);
      if (wire.number == 3) text = wire.bytes;
    }
    return type == 0 ? Json(number) : Json(std::move(text));
  }

  static Json raw(std::string_view in) {
    const Json text = text_of(in, 1);
    return text.as_string().empty() ? Json() : Json::parse(text.as_string(), "protobuf");
  }

  const ProtobufDecoder& decoder_;
};

ProtobufDecoder::ProtobufDecoder() {
  std::string_view text = protobuf_fields_text;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view name = take(line, '\t');
    if (!name.empty()) messages_.emplace(name, line);
  }
}

Json ProtobufDecoder::decode(std::string_view envelope, std::string_view type) const {
  if (!envelope.starts_with(magic))
    refuse("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  envelope.remove_prefix(magic.size());
  std::string api_version;
  std::string kind;
  std::string_view body;
  while (!envelope.empty()) {
    const Wire wire = next(envelope);
    if (wire.number == 2) body = wire.bytes;
    if (wire.number != 1) continue;
    std::string_view names = wire.bytes;
    while (!names.empty()) {
      const Wire name = next(names);
      if (name.number == 1) api_version = name.bytes;
      if (name.number == 2) kind = name.bytes;
    }
  }
  const std::string wanted = type.empty() ? std::string(meta_package) + kind : std::string(type);
  Json out = ProtobufReader(*this).message(wanted, body, 0);
  if (!out.is_object()) refuse("is not an object");
  out["apiVersion"] = api_version;
  out["kind"] = kind;
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
