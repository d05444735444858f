// SPDX-License-Identifier: Apache-2.0
// A kind that has fields of all types and nearly all attributes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/quantity.hpp>

namespace crd_types {

namespace ek = evenkeel;
using ek::Json;

enum class Mode { fast, very_safe };
EVENKEEL_ENUM(Mode, fast, very_safe)

struct Endpoint {
  int port = 0;
  std::string protocol = "TCP";
  std::optional<std::string> host = {};
};
struct Nested {
  static constexpr ek::CelRule rules[] = {{.rule = "self.low <= self.high", .message = "low is above high"}};
  int low = 1;
  int high = 2;
};
struct Strict {
  std::string name = {};
};
struct Loop {
  std::vector<Loop> children = {};
};
struct Ship {
  std::string kind = "Ship";
};
struct RichSpec {
  int replicas = 0;
  std::int64_t bytes = 5;
  std::uint8_t small = 0;
  std::uint32_t mask = 0;
  double ratio = 0.25;
  bool enabled = true;
  std::string image = {};
  std::string zone = {};
  std::string level = "low";
  Mode mode = Mode::very_safe;
  std::optional<int> limit = {};
  std::optional<std::string> note = {};
  std::vector<std::string> tags = {};
  std::vector<Endpoint> endpoints = {};
  std::vector<Endpoint> by_host = {};
  std::map<std::string, std::string> labels = {};
  ek::IntOrString port = 80;
  std::optional<ek::Quantity> memory = {};
  std::optional<ek::Time> since = {};
  std::optional<ek::Duration> wait = std::chrono::seconds(30);
  std::optional<ek::Bytes> token = {};
  Json free = {};
  Json config = {};
  std::map<std::string, Json> parts = {};
  std::optional<Ship> ship = {};
  Nested nested = {};
  Strict strict = {};
  Loop loop = {};
  ek::ObjectMeta pod_metadata = {};
};
struct RichStatus {
  std::int64_t replicas = 0;
  std::vector<ek::Condition> conditions = {};
};
struct Rich {
  static constexpr ek::ResourceInfo resource{.group = "example.dev",
                                             .version = "v1",
                                             .kind = "Rich",
                                             .plural = "riches",
                                             .scope = ek::Scope::cluster,
                                             .short_name = "ri"};
  static constexpr std::string_view description = "A rich thing.";
  static constexpr std::string_view categories[] = {"all"};
  static constexpr ek::PrinterColumn columns[] = {
      {.name = "Replicas", .type = "integer", .json_path = ".spec.replicas"},
      {.name = "Note", .json_path = ".spec.note", .description = "A note.", .priority = 1}};
  ek::ObjectMeta metadata = {};
  RichSpec spec = {};
  std::optional<RichStatus> status = {};
};
EVENKEEL_FIELDS(Endpoint, (port, ek::required), protocol, host)
EVENKEEL_FIELDS(Nested, low, high)
EVENKEEL_FIELDS(Strict, (name, ek::min_length(1), ek::max_length(5), ek::immutable))
EVENKEEL_FIELDS(Loop, children)
EVENKEEL_FIELDS(Ship, kind)
EVENKEEL_FIELDS(RichSpec, (replicas, ek::minimum(0), ek::maximum(10), ek::doc("How many.")), bytes, small,
                mask, (ratio, ek::minimum(0.5)), enabled, (image, ek::pattern("^[a-z:]+$")),
                (zone, ek::omit_empty), (level, ek::one_of("low", "high")), mode, (limit, ek::nullable),
                (note, ek::no_default), (tags, ek::list_set, ek::max_items(3)),
                (endpoints, ek::list_map("port", "protocol"), ek::min_items(1)),
                (by_host, ek::list_map("host")), (labels, ek::map_atomic, ek::max_items(4)), port, memory,
                since, wait, token, (free, ek::preserve_unknown), (config, ek::embedded_object),
                (parts, ek::embedded_object), (ship, ek::embedded_object), nested, strict, loop, pod_metadata)
EVENKEEL_FIELDS(RichStatus, replicas, (conditions, ek::list_map("type")))
EVENKEEL_FIELDS(Rich, metadata, (spec, ek::rule("self.replicas < 10", "too many")), status)

}  // namespace crd_types
