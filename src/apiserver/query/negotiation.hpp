// SPDX-License-Identifier: Apache-2.0
// Negotiates the form of a response: the object, a Table, or metadata only.
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
  std::string api_version = "meta.k8s.io/v1";  ///< Version of Tables and PartialObjectMetadata.
  bool list = false;                           ///< PartialObjectMetadataList was requested.
  bool yaml = false;                           ///< YAML instead of JSON.
};

/// The component that reads the Accept header first. On a real server this is a router for built-in kinds; it
/// does not support "application/*", and has its own error text.
enum class Front : bool { router, handler };

/// Reads the Accept header; of the supported entries, the one with the highest q wins, then the first. Throws
/// StatusError (406) if there is none.
Representation negotiate(const http::Headers& headers, Front front);

struct DiscoveryForm {
  bool aggregated = false;
  bool yaml = false;
};
/// Like negotiate(), for documents of discovery; `aggregated`: the path has that form.
DiscoveryForm negotiate_discovery(const http::Headers& headers, bool aggregated);

/// Returns true if errors are to be sent as YAML; never throws.
bool prefers_yaml(const http::Headers& headers);

/// Returns "application/json" for "Application/JSON; charset=utf-8".
std::string media_type(std::string_view content_type);

/// Returns the first of `accepted` that an Accept header contains, empty if there is none: for documents with
/// special forms.
std::string negotiate_any(const http::Headers& headers, std::initializer_list<std::string_view> accepted);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
