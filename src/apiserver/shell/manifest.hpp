// SPDX-License-Identifier: Apache-2.0
// Manifests: parses the objects of a text, and creates them on any server. Shared with floors above.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// An object of a manifest.
struct ManifestObject {
  std::string api_version = {};
  std::string kind = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string text = {};  ///< The whole object, as compact JSON.

  ManifestObject() = default;
  explicit ManifestObject(const Json& object);
};

/// Returns "Kind/name", for errors.
std::string object_text(const ManifestObject& object);

/// Returns the objects of a manifest in order: YAML documents or JSON, with Lists expanded. Parses one object
/// at a time where the form permits: JSON, and YAML as kubectl writes it. Throws DecodeError.
std::vector<ManifestObject> read_manifest(std::string_view manifest);
/// Returns the same objects as documents.
std::vector<Json> manifest_objects(std::string_view manifest);

/// Sends a request as administrator.
using Asks = std::function<http::Response(const http::Request&)>;

/// Creates objects at the paths that discovery lists for their kinds.
/// Lifetime: for one manifest; a path is looked up once.
class ObjectCreator {
 public:
  explicit ObjectCreator(Asks ask) : ask_(std::move(ask)) {}

  /// An existing object is not changed. Throws Error with kind, name and the server's message.
  void create(const ManifestObject& object);

 private:
  struct Place {
    std::string root;  ///< "/api/v1"
    std::string plural;
    bool namespaced;
  };
  const Place& place_of(const ManifestObject& object);

  Asks ask_;
  std::map<std::pair<std::string, std::string>, Place> places_;  ///< By apiVersion and kind.
};

/// Returns a request with JSON in both directions.
http::Request json_request(http::Method method, std::string target, std::string body = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
