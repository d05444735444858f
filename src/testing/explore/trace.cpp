// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/trace.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Returns the prefix of the generated name that a creation asks for; empty if it has a name.
std::string generated_prefix(const Write& write) {
  const Json& metadata = write.sent["metadata"];
  if (write.verb != "create" || !metadata["name"].string_or("").empty()) return {};
  return metadata["generateName"].string_or("");
}

// Returns the name with the random part of a generated one replaced, for an object as stored.
std::string stable_name(const Json& object, const std::string& name) {
  const std::string prefix = object.at({"metadata", "generateName"}).string_or("");
  return !prefix.empty() && name.starts_with(prefix) ? prefix + "*" : name;
}

std::string collection_of(const Json& object, const std::string& resource) {
  const std::string version = object["apiVersion"].string_or("");
  if (version.empty()) return {};
  const std::string plural = resource.substr(0, resource.find('.'));
  return (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version + "/" + plural;
}

bool is_versioned(const Json& sent) {
  return !sent.at({"metadata", "resourceVersion"}).is_null() || !sent.at({"metadata", "uid"}).is_null() ||
         !sent["preconditions"].is_null();
}

}  // namespace

bool TracedWrite::deletes() const {
  if (before.is_null()) return false;
  const auto deleting = [](const Json& state) {
    return !state.at({"metadata", "deletionTimestamp"}).is_null();
  };
  return !deleting(before) && (after.is_null() || deleting(after));
}

const TracedWrite* Trace::find(const Moment& moment) const {
  const auto found = std::find_if(writes.begin(), writes.end(),
                                  [&moment](const TracedWrite& write) { return write.moment == moment; });
  return found == writes.end() ? nullptr : &*found;
}

std::string text_of(const Write& write) {
  ObjectKey key = write.key;
  const std::string prefix = generated_prefix(write);
  if (!prefix.empty()) {
    key.name = prefix + "*";
  } else if (key.name.empty()) {
    key.name = write.sent.at({"metadata", "name"}).string_or("");
  }
  return write.verb + " " + write.resource + " " + key.str();
}

TracedWrite traced(const Write& write) {
  const Json& known = write.after.is_null() ? write.before : write.after;
  TracedWrite made{.resource = without_subresource(write.resource),
                   .before = write.before,
                   .after = write.after,
                   .ok = write.ok(),
                   .versioned = is_versioned(write.sent),
                   .at = write.at};
  made.collection = collection_of(known, made.resource);
  made.object =
      made.resource + " " + ObjectKey{write.key.namespace_, stable_name(known, write.key.name)}.str();
  made.key = {write.key.namespace_, known.at({"metadata", "name"}).string_or(write.key.name)};
  made.effective = write.verb == "deletecollection" ? write.ok() : !write.changes().empty();
  return made;
}

bool is_incidental(const std::string& resource) {
  return resource == "events" || resource == "events.events.k8s.io" ||
         resource == "leases.coordination.k8s.io";
}

std::string without_subresource(const std::string& resource) {
  return resource.substr(0, resource.find('/'));
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
