// SPDX-License-Identifier: Apache-2.0
// Reads from the answer of a write how it changed objects.
#pragma once

#include <string_view>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/cache/write_effect.hpp>

#include "client/request/write_observer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The effect on one object.
struct AnswerFact {
  WriteEffect effect = {};
  std::string_view text = {};  ///< The JSON of the object for Kind::written, part of the answer.
};

struct WriteAnswer {
  std::vector<AnswerFact> facts = {};
  /// Everything that the request selects may be ending: a deletion of a collection whose answer does not have
  /// the objects.
  bool of_collection = false;
};

/// Returns the resource, the namespace, the name and the subresource of a request, also of one that has only
/// a path. Those of paths which are no resource are empty; then so is `resource.plural`.
RestRequest addressed(const RestRequest& request);

/// Returns the effects of a write of `addressed(request)`. Texts are valid as long as the answer.
WriteAnswer read_answer(const ObservedWrite& write);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
