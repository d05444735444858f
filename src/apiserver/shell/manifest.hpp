// SPDX-License-Identifier: Apache-2.0
// Manifests: parses the objects of a text, and creates them on any server. Shared with floors above.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the objects of a manifest in order: YAML documents or JSON, with Lists expanded. Throws
/// DecodeError.
std::vector<Json> manifest_objects(std::string_view manifest);

/// Returns "Kind/name", for errors.
std::string object_text(const Json& object);

/// Sends a request as administrator.
using Asks = std::function<http::Response(const http::Request&)>;

/// Creates an object at the path that discovery lists for its kind. An existing object is not changed. Throws
/// Error with kind, name and the server's message.
void create_object(const Asks& ask, const Json& object);

/// Returns a request with JSON in both directions.
http::Request json_request(http::Method method, std::string target, std::string body = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
