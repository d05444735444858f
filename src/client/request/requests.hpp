// SPDX-License-Identifier: Apache-2.0
// Parts of which the descriptions of calls make their requests.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/call.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Throws std::invalid_argument for a key without a name, or without a namespace for a namespaced kind.
RestRequest object_request(http::Method method, const ResourceId& resource, const ObjectKey& key,
                           std::string subresource = {});
/// Makes a write of the request.
RestRequest write_request(RestRequest request, std::string_view content_type, std::string body);
/// Returns the DeleteOptions document; an empty object if all options are default.
Json delete_options(const DeleteOptions& options);
/// Decodes nothing of an answer.
inline std::monostate nothing(CallAnswer& /*answer*/) {
  return {};
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
