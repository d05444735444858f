// SPDX-License-Identifier: Apache-2.0
// In which form a client wants its answer: the object, a Table, or metadata only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Representation {
  enum class Form : std::uint8_t { object, table, partial };
  Form form = Form::object;
  std::string api_version = "meta.k8s.io/v1";  ///< Of Tables and PartialObjectMetadata.
  bool list = false;                           ///< Asked for as PartialObjectMetadataList.
  bool yaml = false;                           ///< Rather than JSON.
};

/// Who reads the Accept header first. On a real server a router does for built-in kinds; it knows no
/// "application/*", and words its refusal in its own way.
enum class Front : bool { router, handler };

/// Reads the Accept header; of the entries that can be served the one with the highest q wins, then the
/// first. Throws StatusError (406) if none can.
Representation negotiate(const http::Headers& headers, Front front);

struct DiscoveryForm {
  bool aggregated = false;
  bool yaml = false;
};
/// The same for documents of discovery; `aggregated` says whether the path has that form.
DiscoveryForm negotiate_discovery(const http::Headers& headers, bool aggregated);

/// Whether refusals are wanted in YAML; never throws.
bool prefers_yaml(const http::Headers& headers);

/// "application/json" of "Application/JSON; charset=utf-8".
std::string media_type(std::string_view content_type);

/// The first of `accepted` that an Accept header names, empty if none: for documents that come in forms of
/// their own.
std::string negotiate_any(const http::Headers& headers, std::initializer_list<std::string_view> accepted);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
