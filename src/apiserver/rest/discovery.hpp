// SPDX-License-Identifier: Apache-2.0
// Groups, versions, resources, the OpenAPI documents, the version and health checks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/http/message.hpp>

#include "apiserver/query/rest_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Storage;

/// Answers paths that are not resources. Documents are cached until the set of served resources changes.
class Discovery {
 public:
  /// `version` is that of /version: "v1.33.1".
  explicit Discovery(std::string version) : version_(std::move(version)) {}

  /// Returns std::nullopt if the path is not one of these. Throws StatusError, PageNotFound.
  std::optional<http::Response> answer(Storage& storage, const http::Request& request, const Target& target);

 private:
  struct Document {
    std::string type;
    std::string body;
    std::string tag = {};  ///< Its ETag.
  };
  const Document& cached(Storage& storage, const std::string& key,
                         Document (*make)(Storage&, const std::string&));
  http::Response openapi(Storage& storage, const http::Request& request,
                         const std::vector<std::string>& segments);

  const std::string version_;
  std::map<std::string, Document, std::less<>> documents_;
  std::uint64_t generation_ = 0;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
