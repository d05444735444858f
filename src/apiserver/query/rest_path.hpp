// SPDX-License-Identifier: Apache-2.0
// The parts of a request's target: path segments, query, and the resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The query of a target, decoded, in order.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);

  /// Returns the first value of `name`, empty if absent.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  /// Returns true for "true", "1" and a bare name, like Go's ParseBool.
  bool flag(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// A path below /api/VERSION or /apis/GROUP/VERSION.
struct ResourcePath {
  std::string group = {};
  std::string version = {};
  bool in_namespace = false;  ///< The path has "namespaces/NAME/" before the resource.
  std::string namespace_ = {};
  std::string resource = {};
  std::string name = {};
  std::string subresource = {};
  bool legacy_watch =
      false;              ///< The path has the prefix "watch/": a watch by path, of all objects or of one.
  bool too_long = false;  ///< More segments than the path of any resource.
};

struct Target {
  std::vector<std::string> segments = {};  ///< Decoded, without empty ones.
  Query query = {};
  bool trailing_slash = false;
};
Target parse_target(std::string_view target);

/// Returns std::nullopt if the segments are not the path of a resource: "/version", "/apis/apps/v1".
std::optional<ResourcePath> resource_path(const std::vector<std::string>& segments);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
