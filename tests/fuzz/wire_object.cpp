// SPDX-License-Identifier: Apache-2.0
// Objects and watch events as caches store them, compared with the same texts parsed as JSON.
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/cache/wire_object.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {

/// A part of a Pod, to project on.
struct PlacementSpec {
  std::string node_name;
};
EVENKEEL_FIELDS(PlacementSpec, node_name)

struct Placement {
  static constexpr ResourceInfo resource = Pod::resource;
  ObjectMeta metadata = {};
  PlacementSpec spec = {};
};
EVENKEEL_FIELDS(Placement, metadata, spec)

namespace {

void visit(const WireObject& object) {
  std::size_t bytes = object.name().size() + object.namespace_().size() + object.uid().size() +
                      object.resource_version().size() + object.what().size();
  for (const auto& [name, value] : object.labels()) bytes += name.size() + value.size();
  for (const auto& [name, value] : object.annotations()) bytes += name.size() + value.size();
  for (const WireOwner& owner : object.owners()) bytes += owner.name.size() + owner.group().size();
  check(bytes < 64 * (object.bytes() + 64), "parts are parts of the object");
  if (object.form() != WireForm::whole) return;
  const Json document = Json::parse(object.raw());
  check(document["metadata"]["managedFields"].is_null(), "managedFields are left out");
  check(document.at({"metadata", "name"}).string_or("") == object.name(), "the name is the document's");
  try {
    static_cast<void>(object.decode<Pod>());
    static_cast<void>(object.decode<DynamicObject>());
  } catch (const Error&) {
    // Not every object is a Pod.
  }
}

/// Returns true if the other parser accepts the text.
bool is_json(std::string_view text) {
  try {
    Json::parse(text);
    return true;
  } catch (const DecodeError&) {
    return false;
  }
}

/// Returns the document of a whole object without what a Placement does not have.
Json pruned(const Json& whole) {
  Json result = Json::object();
  for (const char* kept : {"apiVersion", "kind", "metadata", "spec"}) {
    if (const Json* member = whole.find(kept)) result[kept] = *member;
  }
  const Json* spec = whole.find("spec");
  if (spec == nullptr || !spec->is_object()) return result;
  result["spec"] = Json::object();
  if (const Json* node = spec->find("nodeName")) result["spec"]["nodeName"] = *node;
  return result;
}

void check_projection(std::string_view input, const WireObject& whole) {
  const WireObject projected = WireScanner({.form = WireForm::projected,
                                            .projection = Projection::of<Placement>(),
                                            .api_version = "v1",
                                            .kind = "Pod"})
                                   .object(input);
  check(Json::parse(projected.raw()) == pruned(Json::parse(whole.raw())),
        "a projection is a part of the whole");
  check(projected.uid() == whole.uid() && projected.labels() == whole.labels(), "the metadata are the same");
}

}  // namespace

void wire_object(std::string_view input) {
  const bool well_formed = is_json(input);
  for (const WireForm form : {WireForm::whole, WireForm::metadata_only}) {
    WireScanner scanner({.form = form, .api_version = "v1", .kind = "Pod"});
    try {
      const WireObject object = scanner.object(input);
      if (well_formed) visit(object);
      if (well_formed && form == WireForm::whole) check_projection(input, object);
    } catch (const Error&) {
      // Invalid input.
    }
    try {
      const WireEvent event = scanner.event(input);
      if (event.object && well_formed) visit(event.object);
    } catch (const Error&) {
      // Invalid input.
    }
  }
}

}  // namespace evenkeel::fuzz
