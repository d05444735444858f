// SPDX-License-Identifier: Apache-2.0
// What clients ask first: groups, versions, resources, the OpenAPI documents, the version, health.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/http/message.hpp>

#include "testing/rest_path.hpp"

namespace evenkeel::inline v0::testing {

struct Server;

/// Answers the paths that are no resources. Documents are kept until what is served changes.
class Discovery {
 public:
  /// Nothing if the path is not one of these. Throws StatusError, PageNotFound.
  std::optional<http::Response> answer(Server& server, const http::Request& request, const Target& target);

 private:
  struct Document {
    std::string type;
    std::string body;
    std::string tag = {};  ///< Its ETag.
  };
  const Document& cached(Server& server, const std::string& key,
                         Document (*make)(Server&, const std::string&));
  http::Response openapi(Server& server, const http::Request& request,
                         const std::vector<std::string>& segments);

  std::map<std::string, Document, std::less<>> documents_;
  std::uint64_t generation_ = 0;
};

}  // namespace evenkeel::inline v0::testing
