// SPDX-License-Identifier: Apache-2.0
// Manifests: the objects in a text, and their creation on a server, whichever it is.
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

/// The objects of a manifest in order: YAML documents or JSON, Lists taken apart. Throws DecodeError.
std::vector<Json> manifest_objects(std::string_view manifest);

/// "Kind/name", for errors.
std::string object_text(const Json& object);

/// Answers a request in the name of an administrator.
using Asks = std::function<http::Response(const http::Request&)>;

/// Creates an object where discovery says that its kind is kept. What is there already stays as it is. Throws
/// Error with kind, name and the server's message.
void create_object(const Asks& ask, const Json& object);

/// A request with JSON in both directions.
http::Request json_request(http::Method method, std::string target, std::string body = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
