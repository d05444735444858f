// SPDX-License-Identifier: Apache-2.0
// The server's OpenAPI documents, which kubectl uses to validate manifests, explain fields and look up merge
// keys. Version 2 is one document; version 3 is an index and a document per group version.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns GET /openapi/v2 as JSON. `custom` contains the served versions of all CRDs.
Json openapi_v2(BuiltinData& data, std::span<const CustomKind> custom);
/// Returns the protobuf form that kubectl requests: media type
/// application/com.github.proto-openapi.spec.v2@v1.0+protobuf. `document` is the result of openapi_v2().
std::string openapi_v2_protobuf(const Json& document);

/// Returns GET /openapi/v3: {"paths": {"apis/apps/v1": {"serverRelativeURL":
/// "/openapi/v3/apis/apps/v1?hash=..."}}}.
Json openapi_v3_index(BuiltinData& data, std::span<const CustomKind> custom);
/// Returns GET /openapi/v3/apis/GROUP/VERSION (or api/v1); null if the server has no such group version.
/// `custom` may contain other groups too.
Json openapi_v3(BuiltinData& data, std::string_view group, std::string_view version,
                std::span<const CustomKind> custom);
/// Returns the hash of a document for the index: SHA-512 of its text, upper case hex. Also the ETag.
std::string openapi_hash(std::string_view text);
/// Returns application/com.github.proto-openapi.spec.v3.v1.0+protobuf of a version 3 document.
std::string openapi_v3_protobuf(const Json& document);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
