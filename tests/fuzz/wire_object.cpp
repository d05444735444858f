// SPDX-License-Identifier: Apache-2.0
// Objects and watch events as caches store them, compared with the same texts parsed as JSON.
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/cache/wire_object.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
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

}  // namespace

void wire_object(std::string_view input) {
  const bool well_formed = is_json(input);
  for (const WireForm form : {WireForm::whole, WireForm::metadata_only}) {
    WireScanner scanner({.form = form, .api_version = "v1", .kind = "Pod"});
    try {
      const WireObject object = scanner.object(input);
      if (well_formed) visit(object);
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
