// SPDX-License-Identifier: Apache-2.0
#include "cache/object_transform.hpp"

#include <array>
#include <exception>
#include <utility>

#include <evenkeel/api/codec.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// The members of the metadata by which an object and its state are known.
using Identity = std::array<Json, 4>;

Identity identity_of(const Json& object) {
  const Json& metadata = object["metadata"];
  return {metadata["name"], metadata["namespace"], metadata["uid"], metadata["resourceVersion"]};
}

}  // namespace

std::string ObjectTransform::operator()(std::string_view text) const {
  std::string name = "an object";
  try {
    Json object = Json::parse(text, resource_.kind);
    if (!object.is_object()) return std::string(text);  // for the reader to report
    if (object["apiVersion"].is_null()) object["apiVersion"] = resource_.api_version();
    if (object["kind"].is_null()) object["kind"] = resource_.kind;
    const Identity before = identity_of(object);
    name = before[1].string_or("");
    name.append(name.empty() ? "" : "/").append(before[0].string_or(""));
    change_(object);
    if (identity_of(std::as_const(object)) == before) return object.dump();
    report(name, "it changed name, namespace, uid or resourceVersion");
  } catch (const std::exception& error) {
    report(name, error.what());
  }
  return std::string(text);
}

void ObjectTransform::report(std::string_view object, std::string_view error) const {
  const bool first = !reported_->exchange(true);
  log_.write(first ? LogLevel::error : LogLevel::debug,
             "the transform of a kind failed; the object is kept as it is",
             {{"kind", resource_.kind}, {"object", object}, {"error", error}});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
