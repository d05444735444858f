// SPDX-License-Identifier: Apache-2.0
// The OpenAPI documents of the server: what kubectl checks manifests against, explains fields from and looks
// up merge keys in. Version 2 (one document) and version 3 (an index and a document per group version).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// GET /openapi/v2 as JSON. `custom` are the served versions of all CRDs.
Json openapi_v2(BuiltinData& data, std::span<const CustomKind> custom);
/// The same in the protobuf form that kubectl asks for: media type
/// application/com.github.proto-openapi.spec.v2@v1.0+protobuf. Takes what openapi_v2() made.
std::string openapi_v2_protobuf(const Json& document);

/// GET /openapi/v3: {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=..."}}}.
Json openapi_v3_index(BuiltinData& data, std::span<const CustomKind> custom);
/// GET /openapi/v3/apis/GROUP/VERSION (or api/v1); null if the server has no such group version.
/// `custom` may hold other groups too.
Json openapi_v3(BuiltinData& data, std::string_view group, std::string_view version,
                std::span<const CustomKind> custom);
/// The hash of a document, as the index has it: SHA-512 of its text, upper case hex. Also the ETag.
std::string openapi_hash(std::string_view text);
/// application/com.github.proto-openapi.spec.v3.v1.0+protobuf of a version 3 document.
std::string openapi_v3_protobuf(const Json& document);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
