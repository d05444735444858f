// SPDX-License-Identifier: Apache-2.0
// The objects of a server in a form that can be compared between runs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Objects of one resource, as the server lists them.
struct Listed {
  std::string resource = {};
  std::vector<Json> objects = {};
};

/// Objects by resource and key. Generated names are their prefix, '*' and a number in the order of content.
using EndState = std::map<std::string, Json>;

/// Returns the objects without what differs between equal runs: uid, resourceVersion, generation,
/// managedFields and creationTimestamp are removed; timestamps become "<time>"; texts that are the uid of an
/// object become "<uid of RESOURCE KEY>", and uids of owners that do not exist "<uid of nothing>";
/// observedGeneration becomes its distance from the generation. `change` is applied to each object last.
EndState end_state(const std::vector<Listed>& listed, const std::function<void(Json&)>& change);

/// Returns one object in this form, without regard to others.
Json comparable(const Json& object, const std::function<void(Json&)>& change);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
