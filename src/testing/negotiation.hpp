// SPDX-License-Identifier: Apache-2.0
// In which form a client wants its answer: the object, a Table, or metadata only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/http/message.hpp>

namespace evenkeel::inline v0::testing {

struct Representation {
  enum class Form : std::uint8_t { object, table, partial };
  Form form = Form::object;
  std::string api_version = "meta.k8s.io/v1";  ///< Of Tables and PartialObjectMetadata.
};

/// Reads the Accept header; the first entry that can be served wins. Throws StatusError (406) if none can.
Representation negotiate(const http::Headers& headers);

/// "application/json" of "Application/JSON; charset=utf-8".
std::string media_type(std::string_view content_type);

/// The first of `accepted` that an Accept header names, empty if none: for documents that come in forms of
/// their own.
std::string negotiate_any(const http::Headers& headers, std::initializer_list<std::string_view> accepted);

}  // namespace evenkeel::inline v0::testing
